"""Tables of one game by gain: every move, and both players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilloscope.reports.sheet import Sheet, number
from skilloscope.reports.words import edge_mark, engine_line, skipped_line
from skilloscope.studies.game.people import MEASURED

_MAY_BE_EMPTY = ("strength", "c")
_PEOPLE = ("played by", "likeliest at")
PEOPLE_NOTE = (
    "Elo, one axis: by all own moves so far, as `rate` has it; "
    "played by: so many people of the player's level; likeliest at: the Elo that plays it most, "
    f"{MEASURED[0]:.0f} ↓ to {MEASURED[1]:.0f} ↑, flat where all do alike"
)


def game_sheets(report: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of `game`: every move, then both players; without columns in which nothing is known."""
    empty = empty_columns(report)
    game = report["game"]
    title = f"{game['white'] or 'White'} – {game['black'] or 'Black'}, {game['event'] or '?'}, {game['date'] or '?'}"
    known = sum(player["decisions"] for player in report["players"])
    notes = [values_line(report["engine"]), between_line(report), people_line(report)]
    notes.append(skipped_line(known, report["skipped"]))
    return [moves_sheet(report, title, empty), players_sheet(report, notes, empty)]


def empty_columns(report: Mapping[str, Any]) -> list[str]:
    """Return the columns in which nothing is known of this game."""
    return [name for name in _MAY_BE_EMPTY if all(move[name] is None for move in report["moves"])]


def moves_sheet(report: Mapping[str, Any], title: str = "", empty: Sequence[str] = ()) -> Sheet:
    """Return every move: evaluation, gain, and the mover's strength so far."""
    rows = [
        [
            f"{move['number']}{'.' if move['side'] == 'white' else '...'}",
            move["san"],
            _pawns(move["white_value_cp"]),
            _pawns(move["gain_cp"]),
            number(move["expected_score"], 3),
            f"{difference_text(move)}{ends_text(move)}",
            *_ends(move, empty),
            _score_now(move),
            *([axis_text(move), *_people(move)] if people_known(report) else ()),
        ]
        for move in report["moves"]
    ]
    people = ("Elo, one axis", *_PEOPLE) if people_known(report) else ()
    mass = f"{100 * report['mass']:g} %"
    columns = ["move", "", "evaluation", "gain", "p", f"difference ({mass})", *_named_ends(empty)]
    columns += ["white to score", *people]
    return Sheet(title, columns, rows, left=0, words=(1,))


def players_sheet(report: Mapping[str, Any], notes: Sequence[str] = (), empty: Sequence[str] = ()) -> Sheet:
    """Return both players."""
    rows = [
        [
            player["player"],
            f"{player['decisions']:,}",
            number(player["mean_gain"], 3),
            number(player["expected_score_against_engine"], 3),
            difference_text({**player, "elo_difference": player["elo_difference_to_engine"]}) + ends_text(player),
            *_ends(player, empty),
            *([axis_text(player), _level(player)] if people_known(report) else ()),
        ]
        for player in report["players"]
    ]
    mass = f"{100 * report['mass']:g} %"
    people = [f"Elo, one axis ({mass})", "level"] if people_known(report) else []
    columns = ["player", "moves", "mean gain", "p against engine", f"difference ({mass})", *_named_ends(empty), *people]
    return Sheet("", columns, rows, notes)


def difference_text(fields: Mapping[str, Any]) -> str:
    """Return an Elo difference with its sign, ±∞ where the expected score is 0 or 1, – where nothing is known."""
    if fields["infinite"]:
        return "+∞" if fields["infinite"] == "above" else "−∞"
    return "–" if fields["elo_difference"] is None else f"{fields['elo_difference']:+z.0f}"


def ends_text(fields: Mapping[str, Any]) -> str:
    """Return the ends of a difference's interval in brackets; nothing where there is no difference, ∞ for no end."""
    if not fields["infinite"] and fields.get("elo_difference", fields.get("elo_difference_to_engine")) is None:
        return ""
    low, high = fields["low"], fields["high"]
    return f" ({'−∞' if low is None else f'{low:+z.0f}'} to {'+∞' if high is None else f'{high:+z.0f}'})"


def axis_text(fields: Mapping[str, Any]) -> str:
    """Return an Elo on the one axis with its interval."""
    if fields["axis_elo"] is None:
        return "–"
    return f"{fields['axis_elo']:.0f} ({fields['axis_low']:.0f} to {fields['axis_high']:.0f})"


def people_known(report: Mapping[str, Any]) -> bool:
    """Return whether the human model said anything of the game."""
    return "model" in report["human"]


def people_line(report: Mapping[str, Any]) -> str:
    """Return how to read what people play, or what is missing for it."""
    if people_known(report):
        return PEOPLE_NOTE
    return f"without what people play: {report['human']['problem']}" if "problem" in report["human"] else ""


def between_line(report: Mapping[str, Any]) -> str:
    """Return what the two distributions say of the two players, without the engine between them."""
    found = report["white_against_black"]
    if found is None:
        return ""
    p = found["expected_score"]
    difference = f"{difference_text(found)}{ends_text(found)}"
    return f"white against black: expected score {p:.3f} to {1 - p:.3f}, difference {difference}"


def values_line(engine: Mapping[str, Any]) -> str:
    """Return whose values the gains stand on."""
    if engine.get("engine"):
        return f"values: {engine_line(engine)}"
    return f"values: {engine['source']}, mates at ±{engine['mate_cap']:g} pawns"


def _named_ends(empty: Sequence[str]) -> list[str]:
    return [name for name in _MAY_BE_EMPTY if name not in empty]


def _ends(fields: Mapping[str, Any], empty: Sequence[str]) -> list[str]:
    """Return strength and c, each unless nobody has it."""
    return [
        number(fields[name], digits) for name, digits in zip(_MAY_BE_EMPTY, (0, 2), strict=True) if name not in empty
    ]


def _people(move: Mapping[str, Any]) -> list[str]:
    played = "–" if move["probability"] is None else f"{100 * move['probability']:.1f} %"
    if move["likeliest_elo"] is None:
        return [played, "flat"]
    return [played, f"{move['likeliest_elo']:.0f}{edge_mark(move['likeliest_edge'])}"]


def _score_now(move: Mapping[str, Any]) -> str:
    """Return White's expected score against Black so far."""
    found = move["white_against_black"]
    return "–" if found is None else f"{found['expected_score']:.2f}"


def _level(player: Mapping[str, Any]) -> str:
    """Return a player's level, in words where it is no rating."""
    if player["level"] is None:
        return "–"
    return f"{player['level']:.0f}{' by these moves' if player['level_source'] == 'moves' else ''}"


def _pawns(centipawns: int | None) -> str:
    return "–" if centipawns is None else f"{centipawns / 100:.2f}"
