"""Players' strength over time: by year, month or event, next to the Elo in the PGN headers of the same games.

In: analysed games, for estimates on the Elo axis, or decisions that know their period, for the competence c of the
papers' agent [DFH13 VII.A]. Out: `Profile`. Periods without games are gaps, not zeros.

Under the prior `drift` strength is a random walk, smoothed: every period uses the earlier and the later ones. Its rate
is fitted, one for all players of a profile. Under `reset` each period is estimated alone. `carry` and `widen` are the
papers', for the agent only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError, check_dispersion, check_mass
from skilloscope.core.frames import is_frame, table_of_rows
from skilloscope.decision import Decisions
from skilloscope.decision.arrow import as_decisions
from skilloscope.evidence import Posterior
from skilloscope.evidence import periods as time_periods
from skilloscope.evidence.axis import EloAxis
from skilloscope.evidence.lattice import PERIOD_PRIORS, Filtered, check_period_prior, filter_histories
from skilloscope.evidence.parts import DRIFT
from skilloscope.evidence.periods import EVERY, HeaderElos, PeriodHistories, check_every, period_histories
from skilloscope.evidence.scales import Scale, elo_prior
from skilloscope.evidence.scales import scale as load_scale
from skilloscope.inputs.load import AnalysedDecisions
from skilloscope.inputs.pipeline import AnalysedGames, GamesGiven, analysed_given
from skilloscope.models.agent import Agent
from skilloscope.report.charts import Figure, Lines, Panels, Series
from skilloscope.report.page import Section
from skilloscope.report.study import Study, json_fields, json_value
from skilloscope.report.table import Column, CompetenceEstimate, EloEstimate, Table, number, plural, skipped_line
from skilloscope.studies.agent_ratings import provisional_note, scale_warnings
from skilloscope.studies.basis import AgentBasis, Basis, EloBasis
from skilloscope.studies.parts import SHARED_NOTE, AgentPart, EloPart, EloSpread, FittedSpread, rate_parts

AXIS_PRIORS = ("drift", "reset")
PRIOR_WORDS = {
    "carry": "the prior of each period is the posterior of the period before",
    "widen": "the prior of each period is normal, with the mean and twice the sd of the period before",
    "reset": "each period is estimated alone",
    "drift": "a random walk with fitted drift, smoothed over all periods",
}
_MOST = 7  # players in one figure: as many as there are colours
_CAVEATS = (
    "Why strength changed: moves are rated, not people, and their circumstances are unknown.",
    "Whether two neighbouring periods differ, where their bands overlap.",
    "How strong a player was in a period without games: lines are broken there, unless periods are events.",
)
_AXIS_CAVEATS = {
    "Elo": "What the same rating meant in another decade: the axis was fitted on games of recent decades, and openings "
    "that are common today were unknown earlier.",
    "c": "How strong play before 2006 or after 2014 was on the scale: it was fitted on games of these years.",
}


@dataclass(frozen=True, eq=False)
class Period:
    """One period of one player: the Elo on the axis, or the agent's c and on a scale its Elo."""

    period: str
    time: float
    part: EloPart | AgentPart
    past_only: Posterior | None = None  # the agent's c from this period and the earlier ones
    log_score: float = 0.0  # the agent's log-probability of the decisions, given the earlier periods
    scaled: Posterior | None = None

    FIELDS: ClassVar = ("period", "time", "*part", "*agent")

    @property
    def posterior(self) -> Posterior:
        """The posterior that is shown: of Elo, or of c where there is no scale."""
        return self.scaled or self.part.posterior

    @property
    def agent(self) -> Mapping[str, object]:
        """What JSON sends by the agent only."""
        if self.past_only is None:
            return {}
        found = {"past_only": {"c": self.past_only.mean, "sd": self.past_only.sd}, "log_score": self.log_score}
        if self.scaled is None:
            return found
        elo = json_value(EloEstimate.of(self.scaled, self.part.mass))
        return {**found, **elo, "extrapolated": self.part.extrapolated, "header_elo": self.part.header_elo}


@dataclass(frozen=True, eq=False)
class PlayerProfile:
    """One player's periods in order of time."""

    player: str
    periods: Sequence[Period]
    common: EloEstimate | None = None  # on the Elo axis, what is common to the periods

    FIELDS: ClassVar = ("player", "games", "decisions", "*also", "periods")

    @property
    def games(self) -> int:
        """How many games."""
        return sum(one.part.games or 0 for one in self.periods)

    @property
    def decisions(self) -> int:
        """How many moves count."""
        return sum(one.part.decisions for one in self.periods)

    @property
    def log_score(self) -> float | None:
        """Mean log-probability of a decision given the earlier periods, by the agent; the first does not count."""
        return mean_log_score([self])

    @property
    def also(self) -> Mapping[str, object]:
        """What JSON sends by one of the two ways only."""
        return {"common": self.common} if self.periods[0].past_only is None else {"log_score": self.log_score}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Profile(Study):
    """Some players' strength by period under one prior."""

    players: Sequence[PlayerProfile]
    every: str  # what a period is: a year, a month, an event, or a column of decisions
    prior: str  # how periods are related
    basis: Basis
    drift: FittedSpread | None = None
    """The fitted sd of the change in one unit of time; None where there was none to fit."""
    unit: str = "year"
    scale: Scale | None = None
    by_agent: "AgentPeriods | None" = None  # the agent's evidence, on which other priors can be tried

    FIELDS: ClassVar = ("every", "*basis", "*also", "warnings", "skipped", "players")

    def __repr__(self) -> str:
        n = sum(len(player.periods) for player in self.players)
        return f"<Profile: {n:,} by {self.every} of {plural(len(self.players), 'player')}, prior {self.prior}>"

    @property
    def also(self) -> Mapping[str, object]:
        """What JSON sends by one of the two ways only."""
        if isinstance(self.basis, EloBasis):
            return {"spread": self.drift, "period_prior": self.prior}
        scale = None if self.scale is None else {"name": self.scale.name, "axis": self.scale.axis}
        fit, drift = self.drift, None
        if fit:
            interval = {"drift_low": fit.spread_low, "drift_high": fit.spread_high}
            drift = {"drift_sd": fit.spread_sd, **interval, "drift_unit": self.unit}
        return {"prior": self.prior, "drift": drift, "scale": scale}

    @property
    def elo(self) -> bool:
        """Whether Elo is shown: by the agent only on a scale."""
        return self.basis.name == "Elo" or self.scale is not None

    @property
    def axis(self) -> str:
        """What is shown, in words."""
        return self.basis.axis if self.scale is None else self.scale.axis

    @property
    def title(self) -> str:
        """The title of the page."""
        return f"{'Elo' if self.elo else 'Competence'} over time, by {self.every}"

    @property
    def head(self) -> str:
        """Where the engine's answers came from."""
        return self.basis.head

    @property
    def caveats(self) -> Sequence[str]:
        """What the study cannot tell."""
        return [*_CAVEATS, _AXIS_CAVEATS[self.basis.name]] if self.elo else _CAVEATS

    @property
    def rows(self) -> list[tuple[str, Period]]:
        """Each player with each period."""
        return [(one.player, period) for one in self.players for period in one.periods]

    def to_arrow(self) -> pa.Table:
        """Return a row for each player and period, as JSON has them."""
        return table_of_rows([{"player": player, **json_fields(period)} for player, period in self.rows])

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each player and period."""
        mass, digits = self.basis.mass, 0 if self.elo else 2
        level = f"({100 * mass:g} % interval)"
        changed = any(period.part.change for _, period in self.rows)
        column = Column[tuple[str, Period]]
        columns = [
            column("player" if self.elo else "decider", lambda row: row[0], label=True),
            column(self.every, lambda row: row[1].period, label=True),
            column(f"{'Elo' if self.elo else 'c'} {level}", lambda row: row[1].part.text(digits, row[1].posterior)),
            column(f"since the {self.every} before", lambda row: str(row[1].part.change or "–")) if changed else None,
            column("c", lambda row: str(CompetenceEstimate.of(row[1].part.posterior, mass))) if self.scale else None,
            column("games", lambda row: f"{row[1].part.games:,}") if self.elo else None,
            column(f"{self.basis.unit}s", lambda row: f"{row[1].part.decisions:,}"),
            column("PGN Elo", lambda row: number(row[1].part.header_elo, 0)) if self.elo else None,
        ]
        title = f"{self.axis if self.elo else self.basis.heading}; prior {self.prior}: {PRIOR_WORDS[self.prior]}"
        return [Table.of(title, self.rows, columns, notes=self._notes())]

    def _notes(self) -> list[str]:
        parts = [period.part for _, period in self.rows]
        edges = [edge for _, period in self.rows for edge in (period.posterior.edge, period.part.posterior.edge)]
        outside = any(part.extrapolated for part in parts)
        used = sum(part.decisions for part in parts)
        drift = f"drift of {self.basis.name} in one {self.unit}"
        return [
            skipped_line(used, self.skipped, what=f"{self.basis.unit}s"),
            *([f"{drift}: {self.drift.text(self.basis.mass)}"] if self.drift else []),
            *([SHARED_NOTE[0]] if isinstance(self.drift, EloSpread) else []),
            *self.basis.notes(edges, extrapolated=outside),
        ]

    def figures(self) -> Sequence[Figure]:
        """Return the players' lines over time, and by the agent the same under every prior."""
        header = "the mean Elo in the PGN headers of the same games, which the estimate does not use"
        caption = (
            f"Line: posterior mean; band: {100 * self.basis.mass:g} % interval; "
            f"{f'dotted: {header}; ' if self.elo else ''}a line is broken where there are no games."
        )
        text = f"Prior {self.prior}: {PRIOR_WORDS[self.prior]}."
        main = Figure("Over time", profile_chart(self), caption, text)
        others = self.under_every_prior()
        return [main, *([Figure("Under every prior", priors_chart(others), caption)] if others else [])]

    def sections(self) -> Sequence[Section]:
        """Return the chart, by the agent all priors with their scores, and the table."""
        main, *others = self.figures()
        scores = [Section.from_table(_scores(self.under_every_prior()), drawn=one) for one in others]
        return [Section.from_figure(main), *scores, Section.from_table(self.tables()[0], "Period by period")]

    def under_every_prior(self) -> "Sequence[Profile]":
        """Return the same players under each of the agent's priors; nothing on the Elo axis."""
        return [] if self.by_agent is None else [self.by_agent.profile(prior) for prior in PERIOD_PRIORS]


def profile(
    what: Decisions | GamesGiven,
    player: str | Sequence[str] = (),
    *,
    every: str = "year",
    prior: str = "drift",
    scale: Scale | EloAxis | None = None,
    model: Agent | None = None,
    dispersion: float | None = None,
    mass: float = 0.95,
    **options: Any,
) -> Profile:
    """Estimate players' strength over time.

    Parameters
    ----------
    what
        Games, PGN files, or decisions (a pandas or polars frame of them too).
    player
        The player or players; of games a part of a name that nobody else has is enough. Of decisions all by default.
    every
        `year`, `month` or `event`; of decisions also the name of a column.
    prior
        `drift` or `reset`; for decisions also `carry` or `widen`.
    scale
        The Elo axis for games, the scale from c to Elo for decisions; the default ones unless given.
    model, dispersion
        For decisions: the agent, and by how much all evidence is divided (by default the scale's).
    mass
        The probability of the credible intervals.
    **options
        For games: `effort` (`instant` needs no engine), `method` (`joint`, `human`), `aliases`, and for the engine
        `engine`, `store`, `imports`, `workers`, `minutes`.

    Returns
    -------
    Profile
        On the Elo axis for games, as `skilloscope profile` shows it; the agent's competence c for decisions, with its
        Elo where periods are years, months or events.

    >>> import skilloscope as sk
    >>> study = sk.profile(sk.demo_games(), "Fischer", effort="instant")
    >>> year = study.players[0].periods[0]
    >>> print(year.period, round(year.posterior.mean))
    1956 2056
    """
    names = [player] if isinstance(player, str) else list(player)
    if isinstance(what, Decisions) or is_frame(what):
        if options:
            raise InputError(f"decisions have no {' and no '.join(sorted(options))}", hint="give the games themselves")
        asked = partial(competence_profile, dispersion=dispersion or 1.0)
        if every in EVERY:
            asked = partial(agent_profile, scale=scale if isinstance(scale, Scale) else None, dispersion=dispersion)
        return asked(as_decisions(what), model=model, every=every, prior=prior, players=names, mass=mass)
    if not names:
        raise InputError("a profile of games needs a player", hint='profile("games.pgn", "Ann")')
    axis = scale if isinstance(scale, EloAxis) else None
    found, names = analysed_given(what, names, axis=axis, mass=mass, **options)
    return elo_profile(found, names, every=every, prior=prior)


def elo_profile(found: AnalysedGames, players: Sequence[str], *, every: str = "year", prior: str = "drift") -> Profile:
    """Return each player's Elo by period; changes are more precise than levels, as style bias is common."""
    check_every(every)
    check_axis_prior(prior)
    columns = (found.games.headers[name].to_pylist() for name in ("date", "year", "event"))
    places = [time_periods.period_of_game(every, *row) for row in zip(*columns, strict=True)]
    rated = rate_parts(
        found, every, players, "chain", DRIFT if prior == "drift" else None, place=lambda game: places[game]
    )
    drift = rated.spread
    warnings = [*rated.warnings, *([_no_drift(every)] if prior == "drift" and drift is None else [])]
    profiles = [
        PlayerProfile(
            one.player,
            [Period(part.played.name, part.played.time, part) for part in one.parts],
            None if one.common is None else EloEstimate.of(one.common, found.asked.mass),
        )
        for one in rated.players
    ]
    return Profile(
        players=profiles,
        every=every,
        prior="reset" if drift is None else "drift",
        basis=EloBasis.of(found, every, warnings),
        drift=drift,
        warnings=warnings,
        tally=rated.tally,
    )


def agent_profile(
    decisions: Decisions | AnalysedDecisions,
    scale: Scale | None = None,
    *,
    model: Agent | None = None,
    every: str = "year",
    prior: str = "drift",
    players: Sequence[str] = (),
    dispersion: float | None = None,
    mass: float = 0.95,
) -> Profile:
    """Return chess players' c and Elo by year, month or event; c has the range of the flat prior of Elo."""
    scale = scale or load_scale()
    flat = elo_prior("flat", scale)
    low, high = np.clip(np.sort(scale.parameter([flat.low, flat.high])), 0.0, 4.0).tolist()
    analysed = decisions if isinstance(decisions, AnalysedDecisions) else None
    batch = decisions.decisions if isinstance(decisions, AnalysedDecisions) else decisions
    agent = model or Agent.from_about(scale.model)
    found = period_histories(time_periods.date_periods(batch, every), agent, players, span=(low, high))
    divided = scale.dispersion if dispersion is None else dispersion
    asked = AgentPeriods(found, every, (low, high), divided, mass, scale=scale, analysed=analysed)
    return asked.profile(prior)


def competence_profile(
    decisions: Decisions,
    model: Agent | None = None,
    *,
    every: str,
    prior: str = "drift",
    players: Sequence[str] = (),
    span: tuple[float, float] = (0.0, 4.0),
    dispersion: float = 1.0,
    mass: float = 0.95,
) -> Profile:
    """Return deciders' c by the periods that a column defines, in any domain."""
    found = period_histories(time_periods.column_periods(decisions, every), model or Agent(), players, span=span)
    return AgentPeriods(found, every, span, dispersion, mass).profile(prior)


def check_axis_prior(prior: str) -> None:
    """Raise where periods on the Elo axis have no such prior."""
    check_period_prior(prior)
    if prior not in AXIS_PRIORS:
        raise OptionError(
            f"the prior {prior!r} of a period is the papers' agent's; on the Elo axis: {', '.join(AXIS_PRIORS)}",
            hint="--method agent",
        )


@dataclass(frozen=True, eq=False)
class AgentPeriods:
    """What the agent's profiles under every prior start from."""

    found: PeriodHistories
    every: str
    span: tuple[float, float]
    dispersion: float
    mass: float
    scale: Scale | None = None
    analysed: AnalysedDecisions | None = None
    _made: dict[str, Profile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_dispersion(self.dispersion)
        check_mass(self.mass)

    def profile(self, prior: str) -> Profile:
        """Return the profile under a prior; it is computed once."""
        if prior not in self._made:
            self._made[prior] = self._profile(prior)
        return self._made[prior]

    def _profile(self, prior: str) -> Profile:
        players, periods, about = self.found.deciders, self.found.periods, self.found.table.about
        histories = [self.found.history(player) for player in players]
        warnings: list[str] = []
        if prior == "drift" and all(len(codes) == 1 for _, codes in histories):
            prior, warnings = "reset", [_no_drift(self.every)]
        filtered, drift = filter_histories(
            [history for history, _ in histories], prior, span=self.span, dispersion=self.dispersion, mass=self.mass
        )
        if self.scale is not None:
            warnings += [*scale_warnings(periods.decisions, self.scale, about), *provisional_note(self.scale)]
        elos = time_periods.header_elos(periods)
        engine = dict(periods.decisions.about.get("settings", {}))
        return Profile(
            players=[
                PlayerProfile(player, [self._period(elos, player, code, one, at) for at, code in enumerate(codes)])
                for player, (_, codes), one in zip(players, histories, filtered, strict=True)
            ],
            every=self.every,
            prior=prior,
            basis=AgentBasis(about, self.mass, self.dispersion, range=self.span, engine=engine, analysed=self.analysed),
            drift=None if drift is None else FittedSpread(drift.sd, drift.low, drift.high),
            unit=periods.unit,
            scale=self.scale,
            by_agent=self,
            warnings=warnings,
            tally=self.found.table.tally,
        )

    def _period(self, elos: HeaderElos, player: str, code: int, found: Filtered, at: int) -> Period:
        c, scale, periods = found.posteriors[at], self.scale, self.found.periods
        elo, games = None if scale is None else scale.read(c), elos.get((player, code), {})
        known = [elo for elo in games.values() if elo is not None]
        part = AgentPart(
            decisions=self.found.table[player, code].decisions,
            games=len(games),
            mass=self.mass,
            posterior=c,
            header_elo=float(np.mean(known)) if known else None,
            extrapolated=scale is not None and elo is not None and scale.extrapolates(elo.mean),
        )
        time, score = float(periods.times[code]), float(found.log_scores[at])
        return Period(periods.names[code], time, part, found.past_only[at], score, elo)


def profile_chart(study: Profile, *, named: bool = True, limits: tuple[float, float] | None = None) -> Lines:
    """Return the players' lines over time: mean and band, and dotted the Elo in the PGN headers. [DFH13 figures 4–5]"""
    lines: list[Series] = []
    for place, player in enumerate(study.players[:_MOST]):
        x, y, low, high, header = _line(player.periods, study).T
        lines.append(Series(player.player if named else "", x, y, low, high, colour=place, look="o-"))
        # A band needs two neighbours: a period between gaps has error bars instead.
        gap = np.isnan(np.concatenate([[np.nan], y, [np.nan]]))
        single = gap[:-2] & ~gap[1:-1] & gap[2:]
        bars = low[single], high[single]
        lines.append(Series("", x[single], y[single], *bars, colour=place, look="o", bars=True))
        if study.elo and np.isfinite(header).any():
            lines.append(Series("PGN Elo" if named and not place else "", x, header, colour=place, look=":"))
    unit = {"event": "year", "month": "year"}.get(study.every, study.every)
    steps = study.unit.startswith("step of")
    ticks = sorted({(period.time, period.period) for _, period in study.rows}) if steps else []
    return Lines(lines, unit, study.axis, 4.2, y_limits=limits or _limits([study]), x_ticks=ticks, whole_x=not ticks)


def priors_chart(profiles: Sequence[Profile], truth: Mapping[float, float] | None = None) -> Panels:
    """Return a panel for each prior, of the same players; dashed the true c by time, where known. [DFH13 figure 6]"""
    limits = _limits(profiles)
    charts = [profile_chart(one, named=not at, limits=limits) for at, one in enumerate(profiles)]
    if truth:
        true = Series("true c", list(truth), list(truth.values()), colour="#222222", look="--", width=1.1)
        charts = [
            replace(one, lines=[*one.lines, true if not at else replace(true, name="")])
            for at, one in enumerate(charts)
        ]
    titles = [f"{one.prior}: {PRIOR_WORDS[one.prior]}" for one in profiles]
    return Panels(
        [replace(one, y_axis="Elo" if profiles[0].elo else "c") for one in charts], titles, share_x=True, share_y=True
    )


def _line(periods: Sequence[Period], study: Profile) -> Array:
    """Return time, mean, bounds and PGN Elo of each period; a row without numbers where there is a gap between them."""
    step = {"year": 1.0, "month": 1 / 12}.get(study.every, np.inf)
    rows: list[tuple[float, ...]] = []
    for at, one in enumerate(periods):
        if at and one.time - periods[at - 1].time > 1.5 * step:
            rows.append((np.nan,) * 5)
        header = np.nan if one.part.header_elo is None else one.part.header_elo
        rows.append((one.time, one.posterior.mean, *one.posterior.interval(study.basis.mass), header))
    return np.array(rows)


def _limits(profiles: Sequence[Profile]) -> tuple[float, float]:
    """Return limits that hold every mean, and most of the bands: a period of a few moves must not flatten the rest."""
    rows = np.concatenate([_line(player.periods, study) for study in profiles for player in study.players])
    means = rows[:, [1, 4]] if profiles[0].elo else rows[:, 1]
    low = min(float(np.nanmin(means)), float(np.nanquantile(rows[:, 2], 0.1)))
    high = max(float(np.nanmax(means)), float(np.nanquantile(rows[:, 3], 0.9)))
    room = 0.04 * (high - low)
    return low - room, high + room


def _scores(profiles: Sequence[Profile]) -> Table:
    """Return how well each prior predicts the decisions of the next period, of all players together."""
    columns = [
        Column[Profile]("prior", lambda one: one.prior, label=True),
        Column(
            "log-probability of a decision, given earlier periods", lambda one: number(mean_log_score(one.players), 5)
        ),
    ]
    return Table.of("Under every prior", profiles, columns)


def mean_log_score(players: Sequence[PlayerProfile]) -> float | None:
    """Return the mean log-probability of a decision given the earlier periods, by the agent."""
    later = [one for player in players for one in player.periods[1:]]
    total = sum(one.part.decisions for one in later)
    return sum(one.log_score for one in later) / total if total else None


def _no_drift(every: str) -> str:
    return f"only one {every}: no drift can be fitted, it is estimated alone (prior reset)"
