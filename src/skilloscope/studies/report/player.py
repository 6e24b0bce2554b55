"""One player in some games: Elo, Elo by part of the play, the decisions that cost most for the level, the best finds.

In: analysed games and a name. Out: PlayerReport. A decision costs the winning chances that it gave away, times the
share of people of the player's own level who avoid it (see inputs/costs.py); a deep search has confirmed it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import chess
import numpy as np

from skilloscope.chess.moves import MATE_CAP, move_of_code, position_fen
from skilloscope.chess.pgn.games import Games
from skilloscope.core.columns import Array, Ints
from skilloscope.core.errors import InputError
from skilloscope.inputs.costs import LEVELS, MoveCosts, MoveJudgement, move_costs
from skilloscope.inputs.deep import CANDIDATES, board_before, confirmed, position_values
from skilloscope.inputs.load import games_of
from skilloscope.inputs.pipeline import AnalysedGames
from skilloscope.report.board import board_svg
from skilloscope.report.charts import MOST_ROWS, Dot, Figure, Forest, Lines, Series
from skilloscope.report.page import Card, Headline, Section
from skilloscope.report.study import Study
from skilloscope.report.table import Column, Table, engine_line, percent, plural, share
from skilloscope.studies.breakdown import Breakdown, Group, breakdown
from skilloscope.studies.elo_ratings import EloRating, EloRatings
from skilloscope.studies.game import GameTags

PARTS = {
    "phase": ("phase", "by phase"),
    "colour": ("colour", "by colour"),
    "opening": ("opening", "by opening"),
    "spent": ("time-spent", "by time spent on the move"),
    "opposition": ("opponent-rating", "by the opponent's rating"),
    "year": ("year", "by year"),
}
"""How the play is divided: the field of the JSON document, the grouping, and its name in headings."""
CAVEATS = (
    "A few dozen moves carry little information: look at the interval before the number.",
    "The Elo is of the play in these games, not of the person. Nothing here says why a move was played.",
    "Costs are measured by an engine at a limited depth; a deeper search can differ.",
    "How likely people find a move is a model's estimate for people of a rating, not a fact about an individual.",
)
_COSTLY = (
    "Ranked by the winning chances that the move gave away, times the share of people of this level who avoid it. "
    "Positions that were decided before are left out. "
)
COSTLY_TEXTS = {
    "engine": _COSTLY + "A deeper search has confirmed each. Red arrow: played; blue arrow: better.",
    "evaluations": _COSTLY + "The evaluations are those in the games.",
    "people": "No engine analysed these games, so the cost of the moves is unknown. These are the moves after the "
    "opening that people 200 Elo below the player's level play more often than people 200 Elo above. With an engine, "
    "and without --effort instant, this part shows what was lost.",
}
"""What the costly decisions are, by judge."""
FIND_TEXTS = {
    **dict.fromkeys(
        ("engine", "evaluations"),
        "The best move where every other one loses much, ranked by what the next best loses, times the share of people "
        "of this level who miss it. Plain recaptures are left out.",
    ),
    "people": "Moves that people 200 Elo above the player's level play more often than people 200 Elo below.",
}


@dataclass(frozen=True)
class Decision:
    """A move that cost much, or was a find: the position, the move played, the better one, and who finds it."""

    tags: GameTags
    player: str
    side: str
    ply: int
    number: str
    fen: str
    played: str
    played_uci: str
    better: str | None
    """The best move, which is the one played in a find; None where no engine says which it is."""
    better_uci: str | None
    value: float | None
    played_value: float | None
    level: float
    p_played: float
    """The share of people of the level who play the move, by the human model like all such shares."""
    p_better: float | None
    p_played_by_level: Sequence[float]
    judgement: MoveJudgement

    FIELDS: ClassVar = (
        "*where", "*judgement", "player", "side", "ply", "number", "fen", "played", "played_uci", "better",
        "better_uci", "value", "played_value", "level", "p_played", "p_better", "p_played_by_level",
    )  # fmt: skip

    @property
    def where(self) -> dict[str, str | int | None]:
        """The game, as JSON names it."""
        return self.tags.some("game event round date white black result")

    @property
    def found(self) -> bool:
        """Whether the best move was played."""
        return self.played == self.better

    def card(self) -> Card:
        """Return the decision as a card: the board with both moves, and what is known of them."""
        played = chess.Move.from_uci(self.played_uci)
        better = None if self.better_uci is None else chess.Move.from_uci(self.better_uci)
        words = f"{self.side.capitalize()} to move; played {self.played}"
        words += f", better {self.better}" if self.better and not self.found else ""
        picture = board_svg(self.fen, played=None if self.found else played, better=better, alt=words)
        return Card(f"{self.number} {self.played}", picture, self.lines(), self.fen)

    def lines(self) -> list[tuple[str, str]]:
        """Return what is known of the decision, name and value."""
        judged, lines = self.judgement, [("game", game_name(self.tags)), ("by", self.player)]
        if self.better and not self.found:
            lines += [("played", f"{self.played} (red)"), ("better", f"{self.better} (blue)")]
        if judged.line:
            lines.append(("best line", judged.line))
        if judged.chances is not None and judged.chances_after is not None:
            after = "" if self.found else f" → {percent(judged.chances_after)}, {pawns(self.played_value)}"
            lines.append(("winning chances", f"{percent(judged.chances)}, {pawns(self.value)} pawns{after}"))
        lines.append((f"played at {self.level:.0f} by", share(self.p_played)))
        if judged.people_play != self.played:
            lines.append(("most often played", f"{judged.people_play}, {share(judged.people_probability or 0.0)}"))
        if judged.found_by and self.p_better is not None:
            by_level = ", ".join(f"{level}: {share(p)}" for level, p in judged.found_by.items())
            if not self.found:
                lines.append((f"{self.better} is found at {self.level:.0f} by", share(self.p_better)))
            lines.append(("  by level", by_level))
        return lines


@dataclass(frozen=True)
class PeerComparison:
    """Mean loss and share of first moves, of a player and of people of the same level in the same positions.

    The standard errors are of the differences, game by game.
    """

    moves: int
    loss: float
    expected_loss: float
    loss_se: float
    first: float
    expected_first: float
    first_se: float

    @classmethod
    def of(cls, costs: MoveCosts) -> "PeerComparison":
        """Return the comparison in the positions of which an engine listed the moves, by the joint model."""
        costs = costs.select(np.isfinite(costs.expected))
        first = (costs.played == costs.best).astype(float)
        return cls(
            moves=len(costs), loss=float(costs.loss.mean()), expected_loss=float(costs.expected.mean()),
            loss_se=_clustered(costs.loss - costs.expected, costs.game), first=float(first.mean()),
            expected_first=float(costs.first.mean()), first_se=_clustered(first - costs.first, costs.game),
        )  # fmt: skip

    def text(self, elo: float) -> str:
        """Return the comparison in words."""
        difference = f"difference {self.loss - self.expected_loss:+.3f} ± {self.loss_se:.3f}"
        return (
            f"in {self.moves:,} analysed positions: lost {self.loss:.3f} a move where people of {elo:.0f} lose "
            f"{self.expected_loss:.3f} ({difference}); the engine's first move {percent(self.first)}, people of "
            f"{elo:.0f} {percent(self.expected_first)} (± {100 * self.first_se:.0f} points)"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class RatedStudy(Study):
    """What reports on a player and on an event share: ratings, and moves that one judge found costly or good."""

    ratings: EloRatings
    judge: str
    """Who says what the moves cost; see inputs/costs.py."""
    judged: int
    """How many moves this judge saw."""
    costliest: Sequence[Decision]
    """The moves that cost most for the level of who made them."""
    finds: Sequence[Decision]
    """The best moves that people of the level find least easily."""
    head: str = ""

    levels: ClassVar = LEVELS
    caveats = CAVEATS

    @property
    def skipped(self) -> Mapping[str, int]:
        """What was left out of the ratings."""
        return self.ratings.tally.as_dict()

    def page(self, source: str = "", *, title: str = "") -> str:
        """Return the page; its head says what the ratings are based on."""
        basis = self.ratings.basis
        engine = f"{engine_line(basis.engine)} · " if basis.engine else ""
        return super().page(f"{source}\n{engine}effort {basis.effort.name}, method {basis.method}", title=title)

    def decision_sections(self, costly: str, finds: str, level: str = "this level") -> list[Section]:
        """Return the costly moves and the finds on their boards, under these headings."""
        found = []
        for moves, heading, texts in ((self.costliest, costly, COSTLY_TEXTS), (self.finds, finds, FIND_TEXTS)):
            text = texts.get(self.judge, "").replace("this level", level)
            if moves or text.startswith("No engine"):
                found.append(Section(heading, text, cards=[move.card() for move in moves]))
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerReport(RatedStudy):
    """What is known of one player."""

    player: str
    parts: Mapping[str, Breakdown]
    """By PARTS, those that divide the play at all."""
    peers: PeerComparison | None = None
    """None without an engine."""

    FIELDS: ClassVar = (
        "kind", "player", "ratings", "parts", "levels", "judge", "judged", "costliest", "finds", "beside",
    )  # fmt: skip
    kind: ClassVar = "player"

    @property
    def rating(self) -> EloRating:
        """The player's own."""
        return self.ratings[self.player]

    @property
    def beside(self) -> PeerComparison | dict[str, float]:
        """The comparison with peers, under the name that JSON has for it; empty without an engine."""
        return self.peers or {}

    @property
    def title(self) -> str:
        """Who it is."""
        return self.player

    @property
    def headline(self) -> Headline:
        """The Elo in large figures, with its interval and what it is based on."""
        own, mass = self.rating, self.ratings.mass
        low, high = own.elo.interval(mass)
        rated = "" if own.header_elo is None else f"; rated {own.header_elo:.0f} in the games (not used)"
        played = f"{plural(own.games, 'game')}, {plural(own.decisions, 'move')}{rated}"
        words = f"Elo, {100 * mass:g} % interval: {played}. {self.ratings.scale.axis}."
        return Headline(f"{own.elo.mean:.0f}", f"{low:.0f} to {high:.0f}", words)

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the rating, Elo by part, the costly decisions and the finds."""
        tables = [*self.ratings.tables(), *(self._part_table(name) for name in self.parts)]
        tables.append(decisions_table(self.costliest, "The decisions that cost most for this level"))
        tables.append(decisions_table(self.finds, "The best finds: moves that people of this level often miss"))
        if self.peers:
            tables.append(Table("", notes=[self.peers.text(self.rating.elo.mean)]))
        return [table for table in tables if table.rows or table.notes]

    def _part_table(self, name: str) -> Table:
        part = self.parts[name]
        columns = [
            Column[Group](part.by, lambda group: group.group, label=True),
            Column(f"Elo ({100 * self.ratings.mass:g} % interval)", lambda group: group.part.text(0)),
            Column("games", lambda group: f"{group.part.games:,}"),
            Column("moves", lambda group: f"{group.part.decisions:,}"),
        ]
        return Table.of(f"Elo {PARTS[name][1]}: {part.model}", part.players[0].groups, columns)

    def figures(self) -> Sequence[Figure]:
        """Return Elo for all the play and each part of it, and over the years."""
        own, mass = self.rating, self.ratings.mass
        rows = [("all moves", [Dot(own.elo.mean, *own.elo.interval(mass))])]
        shown = [(place, name) for place, name in enumerate(self.parts, start=1) if name != "year"]
        for place, name in shown:
            for group in self.parts[name].players[0].groups:
                elo = group.part.posterior
                rows.append((group.group, [Dot(elo.mean, *elo.interval(mass), colour=place)]))
        names = ", ".join(PARTS[name][1] for _, name in shown) or "of all moves"
        caption = f"Elo {names}; line: interval, dashed: all moves together."
        forest = Forest(rows[:MOST_ROWS], self.ratings.scale.axis, lines=[own.elo.mean])
        found = [Figure("Where the strength lies", forest, caption)]
        return [*found, self._years_figure(self.parts["year"])] if "year" in self.parts else found

    def _years_figure(self, years: Breakdown) -> Figure:
        groups = years.players[0].groups
        low, high = zip(*(group.part.posterior.interval(self.ratings.mass) for group in groups), strict=True)
        means = [group.part.posterior.mean for group in groups]
        lines = [Series("", range(len(groups)), means, low, high, colour=0, look="o-", bars=True)]
        rated = [(at, group.part.header_elo) for at, group in enumerate(groups) if group.part.header_elo is not None]
        if rated:
            at, elo = zip(*rated, strict=True)
            lines.append(Series("rating in the headers", at, elo, colour=1, look="D"))
        ticks = [(float(at), group.group) for at, group in enumerate(groups)]
        return Figure("Over the years", Lines(lines, "", "Elo", x_ticks=ticks), "Elo year by year; line: interval.")

    def sections(self) -> Sequence[Section]:
        """Return where the strength lies, the decisions on their boards, the comparison with peers, the rating."""
        first, *years = self.figures()
        sections = [Section.from_figure(first)]
        sections += [Section.from_table(self._part_table(name)) for name in self.parts if name != "year"]
        if years:
            sections.append(Section.from_table(self._part_table("year"), years[0].heading, drawn=years[0]))
        sections += self.decision_sections("The decisions that cost most for this level", "The best finds")
        if self.peers:
            text = self.peers.text(self.rating.elo.mean)
            sections.append(Section("Compared with others of the same Elo", f"{text.capitalize()}."))
        return [*sections, Section.from_table(self.ratings.tables()[-1], "Inputs and settings")]


def player_of(
    found: AnalysedGames, player: str, ratings: EloRatings, costs: MoveCosts | None = None, most: int = CANDIDATES
) -> PlayerReport:
    """Return the report of one player of analysed games, with the ratings of these games and what the moves cost.

    At most so many costly moves, and as many finds, are searched again.
    """
    if not any(one.player == player for one in ratings.players):
        raise InputError(f"nothing of {player!r} can be rated", hint=ratings.idle.get(player, ""))
    if costs is None:
        costs = costs_of(found, {player: ratings[player].elo.mean})
    judged = shown_moves(found, costs, most)
    return PlayerReport(
        player=player, ratings=replace(ratings, players=[ratings[player]]), parts=parts_of_play(found, player),
        judge=judged.best_judge(), judged=len(judged), costliest=key_decisions(judged.costliest(), found.games),
        finds=key_decisions(judged.best_finds(), found.games), peers=PeerComparison.of(costs) if
        np.isfinite(costs.expected).any() else None, head=str(found.judged or ""), warnings=ratings.warnings,
        tally=found.games.tally,
    )  # fmt: skip


def parts_of_play(found: AnalysedGames, player: str) -> dict[str, Breakdown]:
    """Return a player's Elo by every part that divides the play; games may not say, for instance, the time spent."""
    own = found.of_games(np.flatnonzero(games_of(found.games, [player])))
    own, parts = replace(own, asked=replace(found.asked, progress=None)), {}
    for name, (by, _) in PARTS.items():
        try:
            part = breakdown(own, by, player)
        except InputError:  # no move has this column
            continue
        if len(part.players[0].groups) > 1:
            parts[name] = part
    return parts


def costs_of(found: AnalysedGames, levels: Mapping[str, float]) -> MoveCosts:
    """Return what the moves of the players with a level cost, by the best judge of each."""
    asked, analyses = found.asked, None if found.judged is None else found.judged.analyses
    return move_costs(
        found.games, levels, values=position_values(found), analyses=analyses, weights=asked.effort.weights,
        opening_moves=asked.axis.opening_moves, model=asked.model_for(len(found.games)),
    )  # fmt: skip


def shown_moves(found: AnalysedGames, costs: MoveCosts, most: int = CANDIDATES) -> MoveCosts:
    """Return the moves that can be ranked with each other; a deep search has confirmed those that may be shown."""
    judged, model = costs.judged(), found.asked.model_for(len(found.games))
    return confirmed(judged, found.games, most, found.work, model)


def key_decisions(costs: MoveCosts, games: Games) -> list[Decision]:
    """Return each of these moves with its game, its position and its alternatives in words."""
    return [_decision(costs, row, games) for row in range(len(costs))]


def _decision(costs: MoveCosts, row: int, games: Games) -> Decision:
    game, ply = int(costs.game[row]), int(costs.ply[row])
    tags, side = GameTags.of(games, game), "black" if costs.black[row] else "white"
    board = board_before(games, game, ply)
    judgement, finding = costs.judgement(row, board), costs.best[row] == costs.played[row]
    played = move_of_code(int(costs.played[row]))
    return Decision(
        tags=tags, player=(tags.black if costs.black[row] else tags.white) or side.capitalize(), side=side, ply=ply,
        number=f"{board.fullmove_number}{'.' if board.turn else '…'}", fen=position_fen(board),
        played=board.san(played), played_uci=played.uci(), better=board.san(played) if finding else judgement.better,
        better_uci=played.uci() if finding else judgement.better_uci, value=_known(costs.value[row]),
        played_value=_known(costs.played_value[row]), level=float(costs.level[row]),
        p_played=float(costs.p_played[row, 0]), p_better=_known(costs.p_best[row, 0]),
        p_played_by_level=costs.p_played[row, 1:].tolist(), judgement=judgement,
    )  # fmt: skip


def decisions_table(moves: Sequence[Decision], title: str) -> Table:
    """Return decisions, one a row, with the columns that their judge knows."""
    columns = [
        Column[Decision]("move", lambda move: f"{move.number} {move.played}", label=True),
        Column("better", lambda move: "" if move.found else move.better or "", label=True),
        Column("player", lambda move: move.player, label=True),
        Column("game", lambda move: game_name(move.tags), label=True),
        Column("value", lambda move: "" if move.value is None else pawns(move.value)),
        Column("after", lambda move: "" if move.value is None else pawns(move.played_value)),
        Column("chances", lambda move: _chances(move.judgement)),
        Column("played by", lambda move: share(move.p_played)),
        Column("found by", lambda move: "" if move.p_better is None else share(move.p_better)),
    ]
    known = [column for column in columns if any(column.cell(move) not in ("", "–") for move in moves)]
    note = (
        "chances: winning chances before and after the move; played by, found by: the share of people of the player's "
        "level who play the move, and the better one"
    )
    return Table.of(title, moves, known, notes=[note] if moves else [])


def _chances(judged: MoveJudgement) -> str:
    if judged.chances is None or judged.chances_after is None:
        return ""
    return f"{percent(judged.chances)} → {percent(judged.chances_after)}"


def game_name(tags: GameTags) -> str:
    """Return whose game it is, with event, round and date where they are known."""
    where = ", ".join(x for x in (tags.event, tags.round and f"round {tags.round}", tags.date) if x and x != "?")
    return f"{tags.white or '?'} – {tags.black or '?'}" + (f" ({where})" if where else "")


def pawns(value: float | None) -> str:
    """Return a value in pawns with its sign; a mate in words.

    >>> pawns(0.35), pawns(-39.0), pawns(None)
    ('+0.35', 'mated', 'not listed')
    """
    if value is None:
        return "not listed"
    if abs(value) >= MATE_CAP:
        return "mates" if value > 0 else "mated"
    return f"{value:+z.2f}"


def _clustered(values: Array, game: Ints) -> float:
    """Return the standard error of a mean whose terms are correlated within a game."""
    sums = np.bincount(np.unique(game, return_inverse=True)[1], values - values.mean())
    n = len(sums)
    return float(np.sqrt((sums**2).sum() * n / max(n - 1, 1)) / len(values))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
