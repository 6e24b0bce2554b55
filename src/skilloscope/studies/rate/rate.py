"""Rate players by the papers' agent: evidence from decisions, read along a scale, with what was left out beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import binomtest

from skilloscope.chess.facts import is_classical
from skilloscope.core.checks import check_mass
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed, table_of_rows
from skilloscope.decision import Decisions
from skilloscope.inference import Evidence, Posterior, Uniform, evidence
from skilloscope.models.agent import Agent
from skilloscope.ratings.scale import Scale, elo_prior
from skilloscope.ratings.scale import scale as load_scale
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.shown import Shown
from skilloscope.sources.judge import engine_of

SCHEMA = 1
_POOL = ("time_control", "site")
_SERVERS = ("lichess.org", "chess.com", "freechess.org", "chessclub.com")
NO_DECISION = "no decision after the opening in an undecided position"
"""Why somebody cannot be rated by losses."""
_FEW = 20  # decisions, below which a rating is little more than its prior and is noted


@dataclass(frozen=True, eq=False)
class PlayerRating:
    """One player's (or group's) rating: the posteriors of c and of Elo, and plain statistics of the same decisions."""

    player: str
    games: int
    decisions: int
    evidence: Evidence
    c: Posterior
    elo: Posterior
    mass: float
    move_match: float
    move_match_low: float
    move_match_high: float
    mean_loss: float
    unlisted: int
    extrapolated: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of `rate --json` for this player."""
        elo = self.elo.elo_fields(self.mass)
        agent = {**self.c.c_fields(self.mass), **{name: elo[name] for name in ("elo", "elo_low", "elo_high")}}
        return {
            "player": self.player,
            "games": self.games,
            "decisions": self.decisions,
            **elo,
            "extrapolated": self.extrapolated,
            "prior": self.elo.prior,
            "move_match": self.move_match,
            "move_match_low": self.move_match_low,
            "move_match_high": self.move_match_high,
            "mean_loss": self.mean_loss,
            "unlisted": self.unlisted,
            "methods": {"agent": agent},
        }


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Framed, Shown):
    """Everybody's ratings, strongest first, with the scale, the settings and the tally of what was left out."""

    players: Sequence[PlayerRating]
    unrated: Sequence[str]
    """Players of whom no decision could be used."""
    scale: Scale
    settings: Mapping[str, Any]
    model: Mapping[str, Any]
    tally: Tally
    warnings: Sequence[str]
    mass: float

    def __repr__(self) -> str:
        return f"<Ratings: {len(self.players):,} by the agent, scale {self.scale.name}; skipped: {self.tally}>"

    def to_arrow(self) -> pa.Table:
        """Return a row a player, as the JSON has them."""
        return table_of_rows([player.as_dict() for player in self.players])

    def sheets(self) -> list[Sheet]:
        """Return the table of `rate --method agent`."""
        from skilloscope.studies.rate.tables import ratings_sheet

        return [ratings_sheet(self.as_dict())]

    def figures(self) -> list[tuple[str, str]]:
        """Return everybody's Elo with its interval, as SVG."""
        from skilloscope.studies.rate.figures import elo_figure

        return [(elo_figure(self), "Point: posterior mean; line: interval.")]

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of ratings sends."""
        scale = {
            "name": self.scale.name,
            "axis": self.scale.axis,
            "provisional": self.scale.provisional,
            "valid": list(self.scale.valid),
            "dispersion": self.scale.dispersion,
            "data": self.scale.data,
        }
        return {
            "schema": SCHEMA,
            "method": "agent",
            "engine": dict(self.settings),
            "model": dict(self.model),
            "scale": scale,
            "mass": self.mass,
            "warnings": list(self.warnings),
            "skipped": self.tally.as_dict(),
            "players": [player.as_dict() for player in self.players],
            "unrated": [{"player": name, "reason": NO_DECISION} for name in self.unrated],
        }


def rate_decisions(
    decisions: Decisions,
    scale: Scale | None = None,
    *,
    model: Agent | None = None,
    by: str = "player",
    prior: str = "population",
    mass: float = 0.95,
    everybody: Sequence[str] = (),
) -> Ratings:
    """Rate every player (or group of another column) by the papers' agent, on the Elo axis of a scale.

    The prior is `population`, `flat` or `header`; the ratings in the games' headers are used by `header` only.
    Who is among `everybody` and has no usable decision is named as unrated.
    """
    check_mass(mass)
    scale = scale or load_scale()
    model = model or Agent.from_about(scale.model)
    if not len(decisions):
        raise InputError(f"no decisions left to rate; skipped: {decisions.tally}")
    table = evidence(decisions, model, by=by)
    groups = decisions.group_by(by)
    players = [
        _player(group_name(label), groups[label], table[label], scale, prior=prior, mass=mass)
        for label in table
        if table[label].decisions > 0
    ]
    warnings = scale_warnings(decisions, scale, table.about)
    few = [f"{player.player} ({player.decisions})" for player in players if player.decisions < _FEW]
    if few:
        warnings.append(f"fewer than {_FEW} decisions: {'; '.join(few[:8])}{' and others' if len(few) > 8 else ''}")
    warnings += provisional_note(scale)
    players.sort(key=lambda player: -player.elo.mean)
    rated = {player.player for player in players}
    unrated = [name for name in dict.fromkeys([*map(group_name, table), *everybody]) if name not in rated]
    return Ratings(
        players, unrated, scale, settings=engine_of(decisions), model=table.about, tally=table.tally, warnings=warnings,
        mass=mass,
    )  # fmt: skip


def group_name(label: Any) -> str:
    """Return the name of a group; what a column leaves null is unknown."""
    return "unknown" if label is None else str(label)


def scale_warnings(decisions: Decisions, scale: Scale, model: Mapping[str, Any]) -> list[str]:
    """Return what must be said where decisions are read along a scale: how they differ from its own data, and notes."""
    found = scale.warnings(model, dict(decisions.about.get("settings", {})))
    return [
        *found,
        *scale.filter_warnings(decisions.about),
        *_pool_warnings(decisions),
        *decisions.about.get("notes", []),
    ]


def provisional_note(scale: Scale) -> list[str]:
    """Return what must be said of a scale that stands on little."""
    return [f"the scale {scale.name!r} is provisional ({scale.data})"] if scale.provisional else []


def loss_with_floor(decisions: Decisions) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return each choice's loss; an unlisted one counts as the last listed, the least it can have lost."""
    last = decisions.best.astype(float) - decisions.judged[decisions.offsets[1:] - 1].astype(float)
    return np.where(decisions.listed, np.nan_to_num(decisions.chosen_loss()), last)


def _player(name: str, batch: Decisions, curve: Evidence, scale: Scale, *, prior: str, mass: float) -> PlayerRating:
    elo = scale.posterior(curve, elo_prior(prior, scale, header_elo=_header_elo(batch)))
    matched = int((batch.chosen == 0).sum())
    match = binomtest(matched, len(batch)).proportion_ci(mass, method="wilson")
    return PlayerRating(
        player=name,
        games=_games(batch),
        decisions=curve.decisions,
        evidence=curve,
        c=curve.posterior(Uniform(curve.grid.low, curve.grid.high)),
        elo=elo,
        mass=mass,
        move_match=matched / len(batch),
        move_match_low=float(match.low),
        move_match_high=float(match.high),
        mean_loss=float(loss_with_floor(batch).mean()),
        unlisted=int((~batch.listed).sum()),
        extrapolated=scale.extrapolates(elo.mean),
    )


def pool_warnings(
    time_controls: Sequence[str | None], sites: Sequence[str | None], counts: Sequence[int], *, what: str
) -> list[str]:
    """Return what is known to differ from over-the-board classical play: faster games, games on a server."""
    fast = sum(n for text, n in zip(time_controls, counts, strict=True) if is_classical(text) is False)
    served = [any(server in (site or "").lower() for server in _SERVERS) for site in sites]
    online = sum(n for on, n in zip(served, counts, strict=True) if on)
    return [
        f"{n:,} of {sum(counts):,} {what} are of games {how}; the axis is over-the-board classical play"
        for n, how in ((fast, "at rapid or faster speed"), (online, "played on a server"))
        if n
    ]


def _pool_warnings(decisions: Decisions) -> list[str]:
    own, blank = decisions.context, [None] * len(decisions)
    speeds, sites = (own.column(name).to_pylist() if name in own.column_names else blank for name in _POOL)
    return pool_warnings(speeds, sites, [1] * len(decisions), what="decisions")


def _games(batch: Decisions) -> int:
    if "game" not in batch.context.column_names:
        return 0
    return len(batch.groups("game")[0])


def _header_elo(batch: Decisions) -> float | None:
    if "elo" not in batch.context.column_names:
        return None
    known = batch.context.column("elo").cast(pa.float64()).drop_null().to_numpy()
    return float(known.mean()) if len(known) else None
