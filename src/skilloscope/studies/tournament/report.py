"""What a tournament sends: one dict for the JSON, from which the tables and the page are made too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from skilloscope.studies.game.game import difference_fields
from skilloscope.studies.tournament.one_axis import rated_field
from skilloscope.studies.tournament.tournament import Tournament

SCHEMA = 1


def tournament_report(study: Tournament) -> dict[str, Any]:
    """Return what `tournament --json` sends; whatever is unknown or infinite is null."""
    options = study.options
    events = Counter(entry.event for entry in study.entries)
    games: Counter[str] = Counter()
    for pair in study.pairs:
        games[study.entries[pair.first].event] += pair.games
    return {
        "schema": SCHEMA,
        "pool": options.pool,
        "curve": options.curve,
        "mass": options.mass,
        "events": [
            {"event": event, "players": events[event], "games": games[event], "rated": _rated(study, event)}
            for event in events
        ],
        "axis": dict(study.axis.about),
        "engine": _engine(study),
        "pairs": _pairs(study),
        "players": _players(study),
        "comparison": _comparison(study),
        "skipped": study.tally.as_dict(),
    }


def _rated(study: Tournament, event: str) -> dict[str, Any] | None:
    own = [at for at, entry in enumerate(study.entries) if entry.event == event]
    ends = (study.strengths.low[own], study.strengths.high[own])
    return rated_field([study.entries[at].elo for at in own], study.perceived.elo[own], ends)


def _engine(study: Tournament) -> dict[str, Any]:
    return {
        **study.about,
        "elo": _known(study.engine.elo),
        "low": _known(study.engine_elo.low[0]),
        "high": _known(study.engine_elo.high[0]),
        "elo_by_perceived": _known(study.engine.elo_by_strength),
        "distribution": study.options.engine.kind,
        "own_moves": len(study.options.engine.gains) if study.options.engine.kind != "peak" else 0,
        "own_mean_gain": float(study.options.engine.gains.mean()),
        "given_elo": study.options.engine_elo,
        "disagreement": _known(study.disagreement),
    }


def _pairs(study: Tournament) -> list[dict[str, Any]]:
    """Return both directions of each pair."""
    rows, leads = [], study.leads
    for at, pair in enumerate(study.pairs):
        one, two = study.entries[pair.first], study.entries[pair.second]
        p, d, low, high = (float(c[at]) for c in (study.score, leads.value, leads.low, leads.high))
        for player, opponent, points, score, lead, ends in (
            (one, two, pair.points, p, d, (low, high)),
            (two, one, pair.finished - pair.points, 1 - p, -d, (-high, -low)),
        ):
            rows.append(
                {
                    "event": one.event,
                    "player": player.player,
                    "opponent": opponent.player,
                    "games": pair.games,
                    "finished": pair.finished,
                    "points": points,
                    **difference_fields(score, lead),
                    "low": _known(ends[0]),
                    "high": _known(ends[1]),
                }
            )
    return rows


def _players(study: Tournament) -> list[dict[str, Any]]:
    expected = _expected_points(study)
    rows = []
    for at, entry in enumerate(study.entries):
        fields = difference_fields(float(study.engine_score[at]), float(study.engine_leads.value[at]))
        lead, given = fields["elo_difference"], study.options.engine_elo
        rows.append(
            {
                "event": entry.event,
                "player": entry.player,
                "games": entry.games,
                "decisions": int(study.decisions[at]),
                "points": entry.points,
                "expected_points": _known(expected[at]),
                "elo": _known(entry.elo),
                "perceived_elo": _known(study.perceived.elo[at]),
                "low": _known(study.strengths.low[at]),
                "high": _known(study.strengths.high[at]),
                "sd": _known(study.strengths.sd[at]),
                "relative_elo": _known(study.perceived.relative[at]),
                "relative_low": _known(study.relatives.low[at]),
                "relative_high": _known(study.relatives.high[at]),
                **study.axis.of(entry.event, entry.player),
                "component": int(study.perceived.component[at]),
                "mean_gain": _known(study.mean_gain[at]),
                "expected_score_against_engine": fields["expected_score"],
                "elo_difference_to_engine": lead,
                "infinite": fields["infinite"],
                "engine_low": _known(study.engine_leads.low[at]),
                "engine_high": _known(study.engine_leads.high[at]),
                "engine_elo": _known(study.engine.by_rating[at]),
                "engine_elo_by_perceived": _known(study.engine.by_strength[at]),
                "strength": None if lead is None or given is None else given + lead,
            }
        )
    by_points = study.options.pool == "event"
    return sorted(rows, key=lambda row: _order(row, by_points))


def _comparison(study: Tournament) -> list[dict[str, Any]]:
    rows = []
    for first, second, p, d, low, high in study.comparison:
        one, two = study.entries[first], study.entries[second]
        rows.append(
            {
                "player": one.player,
                "event": one.event,
                "opponent": two.player,
                "opponent_event": two.event,
                **difference_fields(p, d),
                "low": _known(low),
                "high": _known(high),
            }
        )
    return rows


def _expected_points(study: Tournament) -> Sequence[float]:
    """Return the sum of each entry's expected scores over its games with a result, as in table 1's column Total.

    A pair whose games have none yet counts nothing, known or not.
    """
    expected = np.zeros(len(study.entries))
    for at, pair in enumerate(study.pairs):
        if not pair.finished:
            continue
        expected[pair.first] += pair.finished * study.score[at]
        expected[pair.second] += pair.finished * (1 - study.score[at])
    return [float(value) for value in expected]


def _order(row: dict[str, Any], by_points: bool) -> tuple[Any, ...]:
    perceived = row["perceived_elo"] if row["perceived_elo"] is not None else row["relative_elo"] or 0.0
    return (row["event"], row["component"], *((-row["points"],) if by_points else ()), -perceived, row["player"])


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
