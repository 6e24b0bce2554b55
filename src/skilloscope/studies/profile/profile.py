"""Profiles: a decider's competence period by period, under a named prior for each new period. [DFH13 VII.A]

In: decisions that know their year, month or event, or any column of time. Out: for every period with decisions the
posterior of c and, on a scale, of Elo, beside the Elo that the games carry. Periods without games are gaps, not zeros.

Under `drift` a period's posterior uses the later periods too (it is smoothed); `past_only` does not. The rate of the
drift is common to all players of a profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.core.checks import check_dispersion, check_mass
from skilloscope.core.errors import InputError, Tally
from skilloscope.core.frames import Framed, table_of_rows
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import as_decisions
from skilloscope.inference import EvidenceTable, Posterior, evidence
from skilloscope.inference.filter import PERIOD_PRIORS, Filtered, PeriodEvidence, filter_histories
from skilloscope.inference.sd_fit import SdFit
from skilloscope.models.agent import Agent
from skilloscope.ratings.scale import Scale, elo_prior
from skilloscope.ratings.scale import scale as load_scale
from skilloscope.reports.sheet import Sheet
from skilloscope.reports.shown import Shown
from skilloscope.studies.profile.periods import DecisionPeriods, GameCounts, column_periods, date_periods, no_drift_note
from skilloscope.studies.rate.rate import provisional_note, scale_warnings

SCHEMA = 1
_PERIOD = "period of the profile"


@dataclass(frozen=True, eq=False)
class PeriodSkill:
    """One period of one player: what was played, and what is believed of the competence in it."""

    period: str
    time: float
    games: int
    decisions: int
    c: Posterior
    past_only: Posterior
    elo: Posterior | None
    extrapolated: bool
    """Whether the Elo is outside the range in which the scale was fitted."""
    header_elo: float | None
    """The mean over these games of the player's Elo in their headers; never used for the estimate."""
    log_score: float
    """Log-probability of the period's decisions, given the periods before."""

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the fields of a period in `profile --json`."""
        known: dict[str, Any] = {"period": self.period, "time": self.time}
        known |= {"games": self.games, "decisions": self.decisions}
        known |= self.c.c_fields(mass)
        known |= {"past_only": {"c": self.past_only.mean, "sd": self.past_only.sd}, "log_score": self.log_score}
        if self.elo is not None:
            known |= self.elo.elo_fields(mass)
            known |= {"extrapolated": self.extrapolated, "header_elo": self.header_elo}
        return known


@dataclass(frozen=True, eq=False)
class PlayerProfile:
    """One player's periods in order of time."""

    player: str
    periods: Sequence[PeriodSkill]

    @property
    def log_score(self) -> float | None:
        """Log-probability of a decision given earlier periods, on average over all but the first period's."""
        later = sum(one.decisions for one in self.periods[1:])
        return sum(one.log_score for one in self.periods[1:]) / later if later else None

    def as_dict(self, mass: float) -> dict[str, Any]:
        """Return the fields of a player in `profile --json`."""
        return {
            "player": self.player,
            "games": sum(one.games for one in self.periods),
            "decisions": sum(one.decisions for one in self.periods),
            "log_score": self.log_score,
            "periods": [one.as_dict(mass) for one in self.periods],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Framed, Shown):
    """The profiles of some players under one prior, with the scale, the drift and what was left out."""

    players: Sequence[PlayerProfile]
    every: str
    prior: str
    span: tuple[float, float]
    dispersion: float
    mass: float
    unit: str
    drift: SdFit | None
    scale: Scale | None
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    tally: Tally
    warnings: Sequence[str]

    def __repr__(self) -> str:
        n = sum(len(player.periods) for player in self.players)
        return f"<Profile: {n:,} by {self.every} of {len(self.players):,} players, prior {self.prior}>"

    def to_arrow(self) -> pa.Table:
        """Return a row for each player and period, as the JSON has them."""
        return table_of_rows(
            [{"player": one.player, **row.as_dict(self.mass)} for one in self.players for row in one.periods]
        )

    def sheets(self) -> list[Sheet]:
        """Return the table of `profile --method agent`."""
        from skilloscope.studies.profile.tables import profile_sheet

        return [profile_sheet(self.as_dict())]

    def as_dict(self) -> dict[str, Any]:
        """Return the dict that every report of a profile sends."""
        drift: dict[str, Any] | None = None
        if self.drift is not None:
            drift = {"drift_sd": self.drift.sd, "drift_low": self.drift.low, "drift_high": self.drift.high}
            drift |= {"drift_unit": self.unit}
        scale = None if self.scale is None else {"name": self.scale.name, "axis": self.scale.axis}
        return {
            "schema": SCHEMA,
            "every": self.every,
            "prior": self.prior,
            "range": list(self.span),
            "dispersion": self.dispersion,
            "mass": self.mass,
            "drift": drift,
            "scale": scale,
            "model": dict(self.model),
            "engine": dict(self.settings),
            "warnings": list(self.warnings),
            "skipped": self.tally.as_dict(),
            "players": [player.as_dict(self.mass) for player in self.players],
        }

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.profile.figures import profile_figures

        return profile_figures(self)


@dataclass(frozen=True, eq=False)
class ComparedPriors:
    """Profiles of the same players under several priors, to be drawn side by side."""

    profiles: Sequence[Profile]

    def figures(self) -> list[tuple[str, str]]:
        """Return the figures with their captions, as SVG."""
        from skilloscope.studies.profile.figures import compared_priors_figures

        return compared_priors_figures(self)


@dataclass(frozen=True, eq=False)
class ProfileEvidence:
    """What profiles under every prior start from: the evidence of each player's periods. It is read once."""

    periods: DecisionPeriods
    table: EvidenceTable
    players: Sequence[str]
    every: str
    span: tuple[float, float]
    dispersion: float
    scale: Scale | None

    def history(self, player: str) -> tuple[PeriodEvidence, list[int]]:
        """Return a player's evidence in order of time, and the codes of its periods; gaps are not among them."""
        codes = sorted(c for name, c in self.table if name == player and self.table[name, c].decisions)
        return PeriodEvidence(self.periods.times[codes], [self.table[player, code] for code in codes]), codes


def profile(
    decisions: Decisions,
    scale: Scale | None = None,
    *,
    model: Agent | None = None,
    every: str = "year",
    prior: str = "drift",
    players: Sequence[str] = (),
    dispersion: float | None = None,
    mass: float = 0.95,
) -> Profile:
    """Return chess players' competence and Elo by year, month or event under one of the four priors."""
    return profiles(
        decisions, scale, (prior,), model=model, every=every, players=players, dispersion=dispersion, mass=mass
    )[0]


def profiles(
    decisions: Decisions,
    scale: Scale | None = None,
    priors: Sequence[str] = PERIOD_PRIORS,
    *,
    model: Agent | None = None,
    every: str = "year",
    players: Sequence[str] = (),
    dispersion: float | None = None,
    mass: float = 0.95,
) -> list[Profile]:
    """Return one profile per prior, from the same evidence.

    The range of c is that of the flat prior of Elo, read along the scale: so a year alone (`reset`) has the Elo that
    `rate --by year` gives it. The dispersion is the scale's unless given; 1 believes every decision in full.
    """
    decisions, scale = as_decisions(decisions), scale or load_scale()
    flat = elo_prior("flat", scale)
    span = np.clip(np.sort(scale.parameter([flat.low, flat.high])), 0.0, 4.0)
    found = period_evidence(
        date_periods(decisions, every),
        model or Agent.from_about(scale.model),
        players=players,
        every=every,
        span=(float(span[0]), float(span[1])),
        dispersion=scale.dispersion if dispersion is None else dispersion,
        scale=scale,
    )
    return [_profile(found, prior, mass) for prior in priors]


def competence_profiles(
    decisions: Decisions,
    model: Agent | None = None,
    priors: Sequence[str] = PERIOD_PRIORS,
    *,
    every: str,
    players: Sequence[str] = (),
    span: tuple[float, float] = (0.0, 4.0),
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> list[Profile]:
    """Return deciders' competence by the periods that a column makes, in any domain; one profile per prior."""
    found = period_evidence(
        column_periods(decisions, every),
        model or Agent(),
        players=players,
        every=every,
        span=span,
        dispersion=dispersion,
        scale=None,
    )
    return [_profile(found, prior, mass) for prior in priors]


def period_evidence(
    periods: DecisionPeriods,
    model: Agent,
    *,
    players: Sequence[str],
    every: str,
    span: tuple[float, float],
    dispersion: float,
    scale: Scale | None,
) -> ProfileEvidence:
    """Return the evidence of each player in each period."""
    check_dispersion(dispersion)
    batch = periods.decisions
    if not len(batch):
        raise InputError(f"no decision with a known period; skipped: {batch.tally}", hint="profiles need dates")
    names = batch.names()
    missing = [player for player in players if player not in names]
    if missing:
        raise InputError(f"no decision with a known period of: {'; '.join(missing)}; skipped: {batch.tally}")
    coded = batch.context.append_column(_PERIOD, pa.array(periods.code))
    table = evidence(replace(batch, context=coded), model, by=["decider", _PERIOD], span=(0.0, max(4.0, span[1])))
    usable = {name for name, code in table if table[name, code].decisions}
    return ProfileEvidence(
        periods=periods,
        table=table,
        players=[name for name in players or names if name in usable],
        every=every,
        span=span,
        dispersion=dispersion,
        scale=scale,
    )


def _profile(found: ProfileEvidence, prior: str, mass: float) -> Profile:
    check_mass(mass)
    histories = [found.history(player) for player in found.players]
    warnings: list[str] = []
    if prior == "drift" and all(len(codes) == 1 for _, codes in histories):
        prior, warnings = "reset", [no_drift_note(found.every)]
    filtered, drift = filter_histories(
        [history for history, _ in histories], prior, span=found.span, dispersion=found.dispersion, mass=mass
    )
    counts = GameCounts(found.periods)
    players = [
        PlayerProfile(name, _skills(name, history, codes, one, found, counts))
        for name, (history, codes), one in zip(found.players, histories, filtered, strict=True)
    ]
    batch = found.periods.decisions
    if found.scale is not None:
        warnings += [*scale_warnings(batch, found.scale, found.table.about), *provisional_note(found.scale)]
    return Profile(
        players=players,
        every=found.every,
        prior=prior,
        span=found.span,
        dispersion=found.dispersion,
        mass=mass,
        unit=found.periods.unit,
        drift=drift,
        scale=found.scale,
        model=found.table.about,
        settings=dict(batch.about.get("settings", {})),
        tally=found.table.tally,
        warnings=warnings,
    )


def _skills(
    player: str,
    history: PeriodEvidence,
    codes: list[int],
    filtered: Filtered,
    found: ProfileEvidence,
    counts: GameCounts,
) -> list[PeriodSkill]:
    skills = []
    for at, code in enumerate(codes):
        elo = None if found.scale is None else _elo(filtered.posteriors[at], found.scale)
        skills.append(
            PeriodSkill(
                period=found.periods.names[code],
                time=float(found.periods.times[code]),
                games=counts.games(player, code),
                decisions=history.evidences[at].decisions,
                c=filtered.posteriors[at],
                past_only=filtered.past_only[at],
                elo=elo,
                extrapolated=found.scale is not None and elo is not None and found.scale.extrapolates(elo.mean),
                header_elo=counts.header_elo(player, code),
                log_score=float(filtered.log_scores[at]),
            )
        )
    return skills


def _elo(c: Posterior, scale: Scale) -> Posterior:
    """Return the posterior of c read along the scale's line, and widened by the line's own error."""
    low, high = (float(elo) for elo in scale.elo([c.low, c.high]))
    along = replace(c, at=scale.elo(c.at), density=c.density * scale.slope, low=low, high=high)
    return along.widened(scale.line_sd(along.mean))
