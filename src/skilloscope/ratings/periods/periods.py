"""Ratings from results by rating periods [GLI99]: fit, predict, keep and go on, in one class.

>>> from skilloscope.results.periods import PeriodGames
>>> games = PeriodGames.build([0, 1, 0, 2], [1, 2, 2, 0], [1, 1, 0.5, 0], [1, 1, 2, 3], players=["Ann", "Bo", "Cy"])
>>> ratings = Periods(sigma0=200, nu=30).fit(games)
>>> [row.player for row in ratings.ratings_.rows()]
['Ann', 'Bo', 'Cy']
>>> ratings.win_probability([("Ann", "Cy")]).round(2).tolist()
[0.72]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skilloscope.core.columns import Array
from skilloscope.core.errors import InputError, OptionError
from skilloscope.core.frames import is_frame
from skilloscope.models.kernels.paired_comparison import ROW, Published
from skilloscope.models.paired_comparison import davidson
from skilloscope.ratings import Estimator
from skilloscope.ratings.periods.histories import Board, History, components, joined_history, leaderboard
from skilloscope.ratings.periods.prediction import Evaluation, evaluate, fit_draws, forecast, win_probabilities
from skilloscope.ratings.periods.saved import SavedRatings
from skilloscope.ratings.periods.smoothing import SMOOTHINGS, smoothed_history
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import VarianceFit, rating_variances
from skilloscope.results.periods import PeriodGames
from skilloscope.results.reading import ResultStream, results_from_frame
from skilloscope.results.table import Results


@dataclass(kw_only=True, eq=False, repr=False)
class Periods(Estimator):
    """Ratings by period, in the manner of scikit-learn: parameters here, what is learnt ends in an underscore.

    `period` is the length of a rating period (as `2M`; without one a month, or the numbers that the table gives).
    `sigma0` and `nu` are fitted where they are None. `mean` is where new players enter, and `entry` gives some of them
    a mean of their own (a first rating from elsewhere). `smoothing` is rts, eq14, whole or None. Off unless asked for:
    `advantage` (Elo for the first player; None fits it), `drift` (how much higher newcomers enter with each period;
    None fits it), `draws` (a draw has its own probability, after Davidson) and `predict_from="whole"` (ratings and
    predictions from all games weighed together, not from the filter). `published` is the weight of
    ratings from elsewhere in the results; None fits it.

    After `fit`: `sigma0_`, `nu_`, `advantage_`, `drift_`, `discrepancy_`, `variances_` (how they were fitted, None
    where all were given), `warnings_`, `games_`, `state_` (to be kept and continued), `beliefs_` (what is predicted
    from), `filtered_` and `history_` (smoothed), `ratings_` (a board of everybody at the end, before the passage of
    time), `components_` (how many groups never met), `kappa_` (with `draws`).
    """

    period: str | None = None
    sigma0: float | None = None
    nu: float | None = None
    mean: float = 1500.0
    smoothing: str | None = "rts"
    from_last_active: bool = False
    entry: Mapping[str, float] | None = None
    advantage: float | None = 0.0
    drift: float | None = 0.0
    published: Published | None = None
    draws: bool = False
    predict_from: str = "filter"
    method: str = "quick"

    def fit(self, results: Any, state: State | SavedRatings | None = None) -> Self:
        """Fit what is not given, rate and smooth: results, games by period, or a frame of results.

        With a `state` the games go on from it, under its parameters: nothing is fitted, and the history is that of
        the new games. With saved ratings it is that of all games; `SavedRatings.rewound` takes them back for late
        results.
        """
        self._check()
        games = self._games(results)
        self.variances_: VarianceFit | None = None
        kept = state if isinstance(state, SavedRatings) else None
        before = kept.state if kept else state if isinstance(state, State) else self._start(games)
        if self.smoothing == "whole" and before.since is not None and before.since == before.latest == games.first:
            raise InputError(
                "`whole` needs whole periods, and the state ends in the middle of one", hint="smooth by rts"
            )
        history = History.played(games, before, self.entry)
        self._ended(history.state, joined_history(kept.history, history) if kept else history, games)
        if self.draws:
            self.kappa_, _, _ = fit_draws(forecast(games, before, entry=self.entry)[0], games.score)
            self.classes_ = np.array([0.0, 0.5, 1.0])
        return self

    def fit_stream(self, stream: ResultStream) -> Self:
        """Rate from a stream, period by period in bounded memory: all parameters must be given, no history is kept."""
        if self.draws:
            raise InputError("a stream is read once: draws cannot be fitted", hint="fit them to a part")
        self._check()
        self.variances_ = None
        state, games = self._start(None), None
        for games in stream:
            state, _ = state.play(games, entry=self.entry)
        if games is None:
            raise InputError("no games to rate", hint=f"skipped: {stream.tally}")
        state = replace(state, players=stream.spelt()).in_order()  # once, not each time that somebody new comes
        self._ended(state, History.from_rows(np.empty(0, dtype=ROW), state), games)
        return self

    @property
    def warnings_(self) -> tuple[str, ...]:
        """Warnings for the reader of the numbers; in a continued run it is about all games, not only the new ones."""
        fit = self.variances_.warnings if self.variances_ else ()
        return (*fit, *(self.convergence_.warnings if self.convergence_ else ()))

    @property
    def components_(self) -> int:
        """How many groups of players no chain of games links."""
        return int(components(self.games_).max()) + 1

    @property
    def ratings_(self) -> Board:
        """Everybody at the end, best first, before the passage of time after his last game."""
        return leaderboard(self.beliefs_)

    def win_probability(self, pairs: Sequence[tuple[str, str]], *, at: int | None = None) -> Array:
        """Return the probability (16) that the first of each pair wins, with time passed until period `at` if given."""
        first, second = (list(names) for names in zip(*pairs, strict=True)) if len(pairs) else ([], [])
        return win_probabilities(self.beliefs_, first, second, at=at, entry=self.entry)

    def predict_proba(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """Return a column for each of `classes_`, the scores of the first player: loss and win, or loss, draw, win."""
        p = self.win_probability(pairs)
        if not self.draws:
            return np.column_stack([1 - p, p])
        win, draw, loss = davidson(p, self.kappa_)
        return np.column_stack([loss, draw, win])

    def evaluate(self, results: Results | PeriodGames, *, rolling: bool = False) -> Evaluation:
        """Return how well later games are predicted: from the state as it is, or learning from period to period."""
        games = self._games(results)
        if rolling:
            return evaluate(forecast(games, self.beliefs_, entry=self.entry)[0], games.score)
        names = np.asarray(games.players, dtype=object)
        sides = names[games.player_1].tolist(), names[games.player_2].tolist()
        p = win_probabilities(self.beliefs_, *sides, at=games.first + games.period, entry=self.entry)
        return evaluate(p, games.score)

    def score(self, results: Results | PeriodGames) -> float:
        """Return minus the log-loss of later games, predicted from the state as it is: higher is better."""
        return -self.evaluate(results).log_loss

    def _check(self) -> None:
        """Refuse parameters that cannot be; here and not before, so that they may be set one by one."""
        if self.smoothing is not None and self.smoothing not in SMOOTHINGS:
            hint = f"one of {', '.join(SMOOTHINGS)}, or None"
            raise OptionError(f"no smoothing is called {self.smoothing!r}", hint=hint)
        whole = self.predict_from == "whole"
        if not (whole or self.predict_from == "filter") or (whole and self.smoothing != "whole"):
            hint = "filter, or whole with smoothing='whole'"
            raise OptionError(f"nothing is predicted from {self.predict_from!r}", hint=hint)

    def _games(self, results: Any) -> PeriodGames:
        if not isinstance(results, Results | PeriodGames):
            if not is_frame(results):
                hint = "`read_results` gives them; a frame of them will do"
                raise InputError(f"{type(results).__name__} is not a table of results", hint=hint)
            results = results_from_frame(results)
        games = results if isinstance(results, PeriodGames) else results.by_period(self.period)
        if not len(games):
            raise InputError("there are no games", hint="see what was left out in the results' tally")
        return games

    def _start(self, games: PeriodGames | None) -> State:
        """Return the state before the first game, what is not given fitted to the games."""
        given = {name: getattr(self, name) for name in ("sigma0", "nu", "advantage", "drift", "mean", "published")}
        carries = games is not None and games.ratings is not None
        if None in (self.sigma0, self.nu, self.advantage, self.drift) or (carries and self.published is None):
            if games is None:
                raise InputError(
                    "a stream is read once: it cannot be fitted", hint="give --sigma0 and --nu, fitted to a part"
                )
            fit = self.variances_ = rating_variances(games, **given, entry=self.entry, method=self.method)
            return fit.start(self.period or "")
        return State.empty(**given, epoch=games.first if games is not None else 0, period=self.period or "")

    def _ended(self, state: State, filtered: History, games: PeriodGames) -> None:
        """Keep what was learnt: the state at the end, and the history, smoothed."""
        self.state_, self.filtered_, self.games_ = state, filtered, games
        self.history_, self.convergence_ = smoothed_history(
            filtered, games, self.smoothing, from_last_active=self.from_last_active
        )
        self.beliefs_ = self.history_.final() if self.predict_from == "whole" else state
        self.sigma0_, self.nu_, self.advantage_, self.drift_ = state.sigma0, state.nu, state.advantage, state.drift
        self.discrepancy_ = state.discrepancy
        self.kappa_, self.classes_ = 0.0, np.array([0.0, 1.0])
