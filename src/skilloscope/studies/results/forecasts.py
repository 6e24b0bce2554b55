"""What is fitted to results, the predictions that follow, and how good they are on games that the fit has not seen.

FitStudy is what `results fit` shows: σ0 and ν with their uncertainty, and which length of a period predicts best [GLI99
sect. 4]. Predictions, HeldOutPeriods and TimeFolds are those of `results predict`. Every game is predicted from the
periods before its own, and fits see only games before the predicted stretch.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError
from skilloscope.models.paired_comparison import davidson, win_probability
from skilloscope.ratings.competitors import Competitor, calibration_slope, compete
from skilloscope.ratings.periods import prediction, variances
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.prediction import Evaluation, LengthFit, evaluate, fit_draws, linked, outcome_log_loss
from skilloscope.ratings.periods.smoothing import few_opponents, gap_variances, precision_of, whole
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import FitEach, VarianceFit, VariancePosterior, simulated_intervals
from skilloscope.report.charts import COLOURS, Chart, Figure, Lines, Series
from skilloscope.report.table import Column, Table, number, plural
from skilloscope.results.periods import PeriodGames
from skilloscope.results.table import Results
from skilloscope.studies.results import rating
from skilloscope.studies.results.rating import Rated, RatingOptions, ResultsStudy, advantage_text, elo_given


@dataclass(frozen=True, eq=False)
class Contours(Chart):
    """The joint posterior of σ0 and ν. [GLI99 figure 1]"""

    posterior: VariancePosterior

    def draw(self, axes: Any) -> None:
        """Draw the contours."""
        sigma0, nu = self.posterior.sigma0, self.posterior.nu
        # The weights are those of cells that are even in the logarithms; a density over σ0 and ν divides by both.
        density = (self.posterior.weight / sigma0[:, None] / nu[None, :]).T
        levels = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9]) * density.max()
        axes.contour(sigma0, nu, density, levels=levels, colors=COLOURS[0], linewidths=1)
        axes.set_xlabel("σ0")
        axes.set_ylabel("ν")


@dataclass(frozen=True, eq=False)
class FitStudy(ResultsStudy):
    """The parameters that predict each game best from the periods before it."""

    fit: VarianceFit
    period: str
    entered: int = 0  # how many players had a first rating of their own
    intervals: Mapping[str, tuple[float, float]] | None = None  # where the true σ0 and ν may lie
    lengths: Sequence[LengthFit] | None = None
    horizon: str | None = None  # the longest of the lengths: so far ahead all of them predict
    posterior: VariancePosterior | None = None

    FIELDS: ClassVar = (
        "fit.sigma0", "fit.nu", "fit.advantage", "fit.drift", "fit.published", "entered", "fit.discrepancy",
        "fit.games", "fit.players", "fit.periods", "period", "fit.games_per_player_and_period", "fit.fitted",
        "?intervals", "?lengths", "?horizon", "warnings", "skipped", "noted",
    )  # fmt: skip
    title = "Fitted to results"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return what was fitted, and other lengths of a period if they were compared."""
        title = f"fitted to results, periods of {self.period}"
        if self.lengths is None:
            return [Table(title, ("", ""), self._rows(), self.rows_notes)]
        no_match = "fewer games: not comparable"
        columns: list[Column[LengthFit]] = [
            Column("period", lambda row: row.period, label=True),
            Column("discrepancy per game", lambda row: f"{row.loss:.5f}"),
            Column("games", lambda row: f"{row.fit.games:,}"),
            Column("games per player and period", lambda row: f"{row.fit.games_per_player_and_period:.1f}"),
            Column("", lambda row: "best" if row.best else "" if row.comparable else no_match, label=True),
        ]
        ahead = f"every game predicted from before its period of {self.horizon}, whatever the length"
        compared = Table.of(ahead, self.lengths, columns, notes=self.rows_notes)
        return [Table(title, ("", ""), self._rows()), compared]

    def _rows(self) -> list[tuple[str, str]]:
        rows, fit = list[tuple[str, str]](), self.fit
        given = {name: "" if name in fit.fitted else " (given)" for name in ("sigma0", "nu", "advantage")}
        spreads = {"sigma0": "σ0, of new players' strength", "nu": "ν, of its change in a period"}
        for name, text in spreads.items():
            rows.append((f"standard deviation {text}{given[name]}", f"{getattr(fit, name):.2f}"))
            if self.intervals and name in self.intervals:
                rows.append(("  of the true strengths", "{:.2f} to {:.2f}".format(*self.intervals[name])))
        if fit.advantage or "advantage" in fit.fitted:
            rows.append((f"the first player's advantage{given['advantage']}", f"{fit.advantage:.2f}"))
        if fit.drift:
            rows.append(("newcomers enter higher with each period by", f"{fit.drift:.3g}"))
        if fit.published:
            known = fit.published
            rows.append(("a published rating: slope, deviation", f"{known.slope:.3f}, {known.deviation:.1f}"))
            rows.append(("of a newcomer: more, deviation", f"{known.newcomer:.1f}, {known.entry:.1f}"))
        if self.entered:
            rows.append(("players with a first rating of their own", f"{self.entered:,}"))
        rows.append(("total discrepancy (15)", f"{fit.discrepancy:,.2f}"))
        rows.append(("per game", f"{fit.discrepancy / fit.games:.5f}"))
        rows += [(name, f"{getattr(fit, name):,}") for name in ("games", "players", "periods")]
        return [*rows, ("games per active player and period", f"{fit.games_per_player_and_period:.1f}")]

    def figures(self) -> Sequence[Figure]:
        """Return the joint posterior of σ0 and ν, if it was computed."""
        caption = "Contours at 1 to 90 % of the highest density; the prior is flat in both variances."
        return [Figure("Joint posterior", Contours(self.posterior), caption)] if self.posterior else []


def fit_results(
    results: Results,
    options: RatingOptions,
    *,
    method: str = "quick",
    intervals: bool = False,
    lengths: Sequence[str] = (),
    posterior: bool = False,
    mass: float = 0.95,
    each: FitEach = map,
) -> FitStudy:
    """Fit what is not given; add `intervals`, other `lengths` of periods and the joint `posterior` where asked."""
    period, (entry, left_out) = options.length(results), options.entering()
    own = results.for_period(period)
    games = own.by_period(period)
    fit = options.fit(games, entry, method)
    study = FitStudy(
        fit,
        str(own.calendar(period)),
        sum(name in entry for name in own.players),
        posterior=variances.variance_posterior(games, fit, entry=entry or None) if posterior else None,
        warnings=fit.warnings,
        tally=own.tally + left_out,
        noted=own.noted,
    )
    if intervals:
        found = simulated_intervals(games, fit, rng=np.random.default_rng(1), level=mass, each=each)
        study = replace(study, intervals=found)
    if lengths:
        first, later = (elo_given(asked, len(games)) for asked in (options.advantage, options.drift))
        choice = prediction.choose_period(results, tuple(lengths), advantage=first, drift=later, entry=entry or None)
        study = replace(study, lengths=choice.lengths, horizon=choice.horizon)
    return study


@dataclass(frozen=True)
class GamePrediction:
    """A predicted game; `probability` is the first player's expected score: a draw counts as half a win."""

    player_1: str
    player_2: str
    probability: float
    gap: float | None = None  # the difference of the strengths by their joint posterior
    gap_sd: float | None = None
    win: float | None = None
    draw: float | None = None
    loss: float | None = None

    FIELDS: ClassVar = ("player_1", "player_2", "probability", "?gap", "?gap_sd", "?win", "?draw", "?loss")


@dataclass(frozen=True, eq=False)
class Predictions(ResultsStudy):
    """The expected score (16) of the first player of each pair: a draw counts as half a win."""

    state: State
    at: str
    predictions: Sequence[GamePrediction]
    new: Sequence[str]  # players who have not played yet
    from_: str  # `filter`, or `whole` for the joint posterior of all periods
    kappa: float | None = None  # how often games are drawn, after Davidson

    FIELDS: ClassVar = (
        "state.sigma0", "state.nu", "state.advantage", "?kappa", "at", "predictions", "new", "from_", "warnings",
        "skipped", "noted",
    )  # fmt: skip
    ROWS: ClassVar = "predictions"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each pair."""
        columns: list[Column[GamePrediction]] = [
            Column("player_1", lambda row: row.player_1, label=True),
            Column("player_2", lambda row: row.player_2, label=True),
            Column("exp. score", lambda row: number(row.probability, 3)),
        ]
        title = f"expected score of player_1, in {self.at}{advantage_text(self.state)}"
        if self.kappa is not None:
            title += f"; win, draw and loss with κ = {self.kappa:.3f}"
            columns += [
                Column("win", lambda row: number(row.win, 3)),
                Column("draw", lambda row: number(row.draw, 3)),
                Column("loss", lambda row: number(row.loss, 3)),
            ]
        if self.from_ == "whole":
            title += ", all games estimated jointly"
            columns.append(Column("gap ± deviation", lambda row: f"{number(row.gap, 0)} ± {number(row.gap_sd, 0)}"))
        return [Table.of(title, self.predictions[:top], columns, notes=[self.new_line, *self.rows_notes])]

    @property
    def new_line(self) -> str:
        """Who has not played yet, in words."""
        return f"new players: {'; '.join(self.new[:10])}{' …' if len(self.new) > 10 else ''}" if self.new else ""

    def added_to(self, pairs: pa.Table) -> pa.Table:
        """Return a table of these pairs with the column `probability`, and win, draw and loss if they are known."""
        names = ["probability", *(("win", "draw", "loss") if self.kappa is not None else ())]
        pairs = pairs.drop_columns([name for name in names if name in pairs.column_names])
        for name in names:
            pairs = pairs.append_column(name, pa.array([getattr(row, name) for row in self.predictions], pa.float64()))
        return pairs


def predict_pairs(
    run: Rated,
    player_1: Sequence[str],
    player_2: Sequence[str],
    *,
    at: str | None = None,
    draws: bool = False,
    joint: bool = False,
    link: bool = True,
) -> Predictions:
    """Predict games between pairs of players in the period of `at` (None: the period after the last).

    `draws` gives draws a probability of their own; `joint` estimates all games jointly, with each pair's gap; `link`
    learns slope, bias and κ from past games, if all of them are at hand.
    """
    number = run.latest + 1 if at is None else int(run.calendar.number(at, last=True))
    if number < run.latest:
        raise InputError(
            f"there are games after {run.calendar.label(number)}, and their results would predict the past",
            hint="predict a later period, or past ones by `predict --holdout`; rate fewer games to go back",
        )
    columns: dict[str, Array] = {}
    kappa, each = None, None
    whole_past = run.every is not None and int(run.history.games.sum()) == 2 * run.state.games
    if joint:
        probability, columns["gap"], columns["gap_sd"] = _joint(run, player_1, player_2, number)
    elif link and whole_past and run.every is not None:
        _, _, found = linked(run.history, run.every.by_period(run.period), run.calendar.years)
        probability, each = prediction.linked_pairs(found, run.history, (player_1, player_2), number, run.entry)
        kappa = float(np.mean(each)) if draws else None
    else:
        probability = prediction.win_probabilities(run.state, player_1, player_2, at=number, entry=run.entry)
    if draws and each is None:
        if not len(run.games):
            raise InputError("saved ratings do not include how often games are drawn", hint="give results too")
        kappa = fit_draws(prediction.predicted(run.history, run.games), run.games.score)[0]
    if draws:
        outcomes = davidson(probability, kappa or 0.0 if each is None else each)
        columns |= dict(zip(("win", "draw", "loss"), outcomes, strict=True))
    table = np.column_stack([probability, *columns.values()])[:, 1:].tolist()
    pairs = zip(player_1, player_2, probability.tolist(), table, strict=True)
    known = {name for name, games in zip(run.state.players, run.state.lines["games"], strict=True) if games}
    return Predictions(
        run.state,
        run.calendar.label(number),
        [GamePrediction(*pair, **dict(zip(columns, own, strict=True))) for *pair, own in pairs],
        sorted({*player_1, *player_2} - known),
        "whole" if joint else "filter",
        kappa,
        warnings=[*run.warnings, *_pair_warnings(run, player_1, player_2)],
        tally=run.tally,
        noted=run.noted,
    )


def _joint(run: Rated, player_1: Sequence[str], player_2: Sequence[str], number: int) -> tuple[Array, Array, Array]:
    """Return the probabilities from the joint posterior of all games, and each pair's gap and its deviation."""
    if run.every is None:
        raise InputError("the games before these were not kept", hint="give all of them, without --state")
    games = run.every.by_period(run.period)
    weighed, _ = whole(run.history, games)
    (mean_1, variance_1), (mean_2, variance_2) = (
        weighed.final().beliefs(names, number, entry=run.entry) for names in (player_1, player_2)
    )
    gap, variance = mean_1 - mean_2, variance_1 + variance_2
    last = {name: end - 1 for name, end in zip(weighed.players, weighed.offsets[1:].tolist(), strict=True)}
    both = [at for at, pair in enumerate(zip(player_1, player_2, strict=True)) if {*pair} <= last.keys()]
    rows = [np.array([last[names[at]] for at in both], dtype=np.int64) for names in (player_1, player_2)]
    passed = run.state.nu**2 * sum(number - weighed.period[side] for side in rows)
    variance[both] = gap_variances(precision_of(weighed, games), *rows) + passed
    return win_probability(gap, variance, 0.0, 0.0, advantage=run.state.advantage), gap, np.sqrt(variance)


def _pair_warnings(run: Rated, player_1: Sequence[str], player_2: Sequence[str]) -> list[str]:
    """Return what limits the predictions: pairs that no games link, and players with few opponents."""
    found, groups = [], run.groups
    pairs = [(groups[one], groups[two]) for one, two in zip(player_1, player_2, strict=True) if {one, two} <= {*groups}]
    if apart := sum(one != two for one, two in pairs):
        counts = f"{apart:,} of {len(player_1):,} pairs"
        found.append(f"{counts}: no chain of games links the two, so the prior alone compares them")
    few = few_opponents(run.games, [*player_1, *player_2]) if run.state.games == len(run.games) else []
    if few:
        names = f"{', '.join(few[:5])}{' …' if len(few) > 5 else ''}"
        said = f"{names}: met fewer than three others, so little is known beyond these"
        found.append(f"{said}; --joint weighs such games together")
    return found


@dataclass(frozen=True, eq=False)
class HeldOutPeriods(ResultsStudy):
    """How well the last periods are predicted, each from those before it."""

    fit: VarianceFit  # to the games before those periods
    period: str
    periods_held_out: int
    evaluation: Evaluation
    kappa: float | None = None  # how often games are drawn, after Davidson
    outcome_log_loss: float | None = None  # of win, draw and loss as three outcomes
    slope: float | None = None  # of the scores on our logits, where competitors were asked for
    against: Sequence[Competitor] | None = None

    FIELDS: ClassVar = (
        "fit.sigma0", "fit.nu", "fit.advantage", "fit.drift", "fit.published", "period", "periods_held_out",
        "*evaluation", "?kappa", "?outcome_log_loss", "?slope", "?against", "warnings", "skipped", "noted",
    )  # fmt: skip
    title = "Held-out results"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the calibration curve, and the losses below it."""
        columns: list[Column[prediction.CalibrationBin]] = [
            Column("predicted", lambda row: f"{row.from_:.1f} to {row.to:.1f}"),
            Column("games", lambda row: f"{row.games:,}"),
            Column("mean prediction", lambda row: f"{row.predicted:.3f}"),
            Column("mean score", lambda row: f"{row.observed:.3f}"),
            Column("± standard error", lambda row: f"{row.standard_error:.3f}"),
        ]
        losses = _losses(self.evaluation)
        if self.kappa is not None:
            losses += f"; of win, draw and loss {self.outcome_log_loss:.4f} (κ = {self.kappa:.3f})"
        last = f"the last {self.periods_held_out} periods of {self.period}"
        title = f"{last}, predicted from those before ({rating.parameters_text(self.fit)})"
        notes = [losses, *self.rows_notes]
        curve = Table.of(title, self.evaluation.calibration, columns, notes=notes)
        return [curve] if self.against is None else [curve, self._compared(self.against)]

    def _compared(self, against: Sequence[Competitor]) -> Table:
        columns: list[Column[Competitor]] = [
            Column("forecast", lambda row: row.name, label=True),
            Column("games", lambda row: f"{row.games:,}"),
            Column("log-loss", lambda row: f"{row.log_loss:.5f}"),
            Column("Brier score", lambda row: f"{row.brier:.5f}"),
            Column("calibration slope", lambda row: f"{row.slope:.3f}"),
            Column("more than ours ± SE", lambda row: f"{row.behind:.5f} ± {row.standard_error:.5f}"),
        ]
        own = self.evaluation
        slope = self.slope or 1.0
        first = Competitor("skilloscope", own.games, own.log_loss, own.brier, slope, behind=0.0, standard_error=0.0)
        note = "each fitted on the games before; slope and constant of competitors refitted every year"
        return Table.of("the same games by others", [first, *against], columns, notes=[note])

    def figures(self) -> Sequence[Figure]:
        """Return the calibration curve: predicted and actual scores, with the diagonal."""
        bins = self.evaluation.calibration
        at, score = ([getattr(row, name) for row in bins] for name in ("predicted", "observed"))
        low, high = ([row.observed + sign * 2 * row.standard_error for row in bins] for sign in (-1, 1))
        chart = Lines(
            [
                Series("", [0, 1], [0, 1], colour="#999999", width=1),
                Series("", at, score, low, high, colour=0, look="o", bars=True),
            ],
            "predicted score of the first player",
            "actual score (± 2 standard errors)",
            height=4.6,
            x_limits=(0, 1),
            y_limits=(0, 1),
        )
        caption = "Games in bins of the predicted score, with the actual score ± 2 standard errors."
        return [Figure("Calibration", chart, caption)]


@dataclass(frozen=True)
class TimeFold:
    """A stretch of time, predicted from all games before it."""

    from_: str
    to: str
    evaluation: Evaluation
    fit: VarianceFit

    FIELDS: ClassVar = (
        "from_", "to", "evaluation.games", "evaluation.log_loss", "evaluation.brier", "fit.sigma0", "fit.nu",
        "fit.advantage", "fit.drift",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TimeFolds(ResultsStudy):
    """How well stretches of time are predicted one after another, everything fitted again before each."""

    period: str
    folds: Sequence[TimeFold]
    evaluation: Evaluation

    FIELDS: ClassVar = ("period", "folds", "*evaluation", "warnings", "skipped", "noted")
    ROWS: ClassVar = "folds"

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return a row for each stretch of time, and all together below."""
        columns: list[Column[TimeFold]] = [
            Column("from", lambda row: row.from_, label=True),
            Column("to", lambda row: row.to),
            Column("games", lambda row: f"{row.evaluation.games:,}"),
            Column("log-loss", lambda row: f"{row.evaluation.log_loss:.4f}"),
            Column("Brier score", lambda row: f"{row.evaluation.brier:.4f}"),
            Column("σ0", lambda row: f"{row.fit.sigma0:.1f}"),
            Column("ν", lambda row: f"{row.fit.nu:.2f}"),
            Column("advantage", lambda row: f"{row.fit.advantage:.1f}"),
        ]
        count = f"{len(self.folds)} stretches of time"
        title = f"{count}, each predicted from all before it, periods of {self.period}"
        return [Table.of(title, self.folds, columns, notes=[_losses(self.evaluation), *self.rows_notes])]


def _losses(found: Evaluation) -> str:
    return f"{plural(found.games, 'game')}: log-loss {found.log_loss:.4f}, Brier score {found.brier:.4f}"


def hold_out(
    results: Results, held_out: int | str, options: RatingOptions, *, draws: bool = False, against: Sequence[str] = ()
) -> HeldOutPeriods:
    """Predict the last periods, so many or since a date, from a fit to the games before, with competitors `against`."""
    period, (entry, left_out) = options.length(results), options.entering()
    own = results.for_period(period)
    games, calendar, noted = own.by_period(period), own.calendar(period), own.noted
    periods = int(held_out) if str(held_out).isdigit() else games.n_periods
    if periods >= games.n_periods:  # a year is a date
        periods = games.first + games.n_periods - int(calendar.number(str(held_out)))
    if not 0 < periods < games.n_periods:
        hint = "hold out fewer, or since a date between"
        raise InputError(f"{periods} of {games.n_periods} periods cannot be held out", hint=hint)
    early, fit, p, each = _predicted(
        games, (games.n_periods - periods, games.n_periods), calendar.years, options, entry
    )
    before, p, score, kappa, loss = p[:early], p[early:], games.score[early:], None, None
    if draws:
        kappa, _, other = fit_draws(before, games.score[:early])
        loss, noted = outcome_log_loss(p, score, kappa if each is None else each[early:]), noted + other
        kappa = kappa if each is None else float(np.mean(each[early:]))
    rest, found = own.tally + left_out, evaluate(p, score)
    others = [compete(name, games, early, calendar.years, p) for name in against]
    slope = calibration_slope(p, score) if others else None
    return HeldOutPeriods(
        fit, str(calendar), periods, found, kappa, loss, slope=slope, against=others or None,
        warnings=fit.warnings, tally=rest, noted=noted,
    )  # fmt: skip


def predict_folds(results: Results, folds: int, options: RatingOptions) -> TimeFolds:
    """Predict `folds` stretches of about as many games each, one after another, all before them fitted."""
    period, (entry, left_out) = options.length(results), options.entering()
    own = results.for_period(period)
    games = own.by_period(period)
    rows, warnings, all_p, scores = list[TimeFold](), dict[str, None](), list[Array](), list[Array]()
    for start, stop in itertools.pairwise(fold_edges(games, folds)):
        early, fit, p, _ = _predicted(games, (start, stop), own.calendar(period).years, options, entry)
        all_p.append(p[early:])
        scores.append(games.score[early : len(p)])
        rows.append(TimeFold(games.labels[start], games.labels[stop - 1], evaluate(all_p[-1], scores[-1]), fit))
        warnings |= dict.fromkeys(fit.warnings)
    together, rest = evaluate(np.concatenate(all_p), np.concatenate(scores)), own.tally + left_out
    length = str(own.calendar(period))
    return TimeFolds(length, rows, together, warnings=list(warnings), tally=rest, noted=own.noted)


def fold_edges(games: PeriodGames, folds: int) -> list[int]:
    """Return the periods at which stretches begin, and where the last ends: whole periods, as even as possible.

    >>> games = PeriodGames.build([0] * 6, [1] * 6, [1.0] * 6, [0, 1, 1, 2, 3, 4], players=["a", "b"])
    >>> fold_edges(games, 2)
    [2, 3, 5]
    """
    wanted = np.arange(1, folds + 1) * len(games) / (folds + 1)
    edges = [*np.searchsorted(games.offsets, wanted).tolist(), games.n_periods]
    if folds < 1 or len(set(edges)) < len(edges) or edges[0] < 1:
        raise InputError(
            f"{games.n_periods} periods of {len(games):,} games cannot be cut into {folds} stretches and one before",
            hint="use fewer, or a shorter --period",
        )
    return edges


def _predicted(
    games: PeriodGames, part: tuple[int, int], years: float, options: RatingOptions, entry: Mapping[str, float]
) -> tuple[int, VarianceFit, Array, Array | None]:
    """Fit to the periods before a part; return how many games come before, the fit, all predictions, κ if linked."""
    start, stop = part
    early, played = games.between(0, start), games.between(0, stop)
    fit = options.fit(early, entry)
    history = History.played(played, fit.start(), entry or None)
    if not options.link:
        return len(early), fit, prediction.predicted(history, played), None
    p, kappa, _ = linked(history, played, years)
    return len(early), fit, p, kappa
