"""Ratings from results: games per CPU-second, memory, nearness to the truth, beside peers that can be installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit
from scipy.stats import spearmanr

from benchmarks import peers
from benchmarks.measure import Figure, NotMeasured, cpu_seconds, first_seconds
from skilloscope.chess.pgn.results import read_pgn_results
from skilloscope.models.paired_comparison import Q
from skilloscope.ratings.periods.histories import History
from skilloscope.ratings.periods.periods import Periods
from skilloscope.ratings.periods.prediction import evaluate
from skilloscope.ratings.periods.smoothing import smooth, whole
from skilloscope.ratings.periods.states import State
from skilloscope.ratings.periods.variances import fit_variances
from skilloscope.results.periods import PeriodGames
from skilloscope.simulate.populations import Population, Simulated, simulate_results, simulated_games

# The set on which peers are compared; its strengths are a random walk with these two standard deviations.
SIGMA0, NU = 300.0, 40.0
COMPARED = Population(players=2_000, periods=24, games=100_000, sigma0=SIGMA0, nu=NU)
LARGE = Population(players=100_000, periods=50, games=1_000_000, sigma0=SIGMA0, nu=NU)
DAILY = Population(players=5_000, periods=3_653, games=1_000_000, sigma0=SIGMA0, nu=5.0)
HELD_OUT = 4
LEAST = 4.0
"""Millions of games from Parquet that a CPU-second must do."""
CHUNK = 1 << 16  # games whose nodes are in memory at once
MILLIONS = [int(n) for n in os.environ.get("BENCH_MILLIONS", "1,10").split(",")]
"""Sizes of the streamed tables in millions of games; BENCH_MILLIONS=1,10,100 adds the largest."""


def figures() -> Iterator[Figure | NotMeasured]:
    made = simulate_results(COMPARED, rng=np.random.default_rng(1))
    games = made.results.by_period()
    yield Figure("first call: compiling, or loading what was compiled", first_seconds(lambda: _rated(games)), "s")
    seconds = cpu_seconds(lambda: _rated(games))
    yield Figure("100,000 games, 2,000 players, 24 periods", len(games) / seconds / 1e6, "M games per CPU-second")
    yield from _sizes()
    yield _headers(made)
    yield from _quality(made, games, seconds)
    yield from _streams()


def _rated(games: PeriodGames) -> State:
    return State.empty(sigma0=SIGMA0, nu=NU).play(games)[0]


def _sizes() -> Iterator[Figure]:
    large = simulate_results(LARGE, rng=np.random.default_rng(2)).results.by_period()
    rate = len(large) / cpu_seconds(lambda: _rated(large), 10) / 1e6
    yield Figure("1 M games, 100,000 players, 50 periods", rate, "M games per CPU-second", at_least=10)
    daily = simulate_results(DAILY, rng=np.random.default_rng(3), period="1D", start="2010-01-01").results.by_period(
        "1D"
    )
    yield Figure(
        "1 M games, 5,000 players, ten years of daily periods",
        len(daily) / cpu_seconds(lambda: _rated(daily)) / 1e6,
        "M games per CPU-second",
    )
    passes: list[int] = []
    seconds = cpu_seconds(lambda: passes.append(fit_variances(large).passes), 1)
    yield Figure("σ0 and ν fitted to 1 M games", seconds, f"CPU-seconds ({passes[0]} passes)")


def _headers(made: Simulated) -> Figure:
    """Read the same games from PGN headers, with the moves of an ordinary game under each."""
    one, two = (np.array(made.results.players)[codes] for codes in (made.results.player_1, made.results.player_2))
    moves = " ".join(f"{n}. Nf3 Nf6" if n % 2 else f"{n}. Ng1 Ng8" for n in range(1, 41))
    form = (
        '[Event "E"]\n[Site "S"]\n[Date "20{:02d}.01.{:02d}"]\n[Round "1"]\n[White "{}"]\n[Black "{}"]\n[Result "{}"]\n'
    )
    rows = zip(made.results.numbers().tolist(), one, two, made.results.score, strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.pgn"
        with path.open("w", encoding="utf-8") as file:
            for at, (period, white, black, score) in enumerate(rows):
                result = "1-0" if score else "0-1"
                file.write(form.format(period, at % 28 + 1, white, black, result) + f"\n{moves} {result}\n\n")
        seconds = cpu_seconds(lambda: read_pgn_results(path), 3)
    return Figure("results from PGN headers", len(one) / seconds / 1e3, "thousand games per CPU-second", at_least=1000)


def _quality(made: Simulated, games: PeriodGames, seconds: float) -> Iterator[Figure | NotMeasured]:
    """Compare with the truth and with the peers: rank correlation at the end, and log-loss of held-out periods."""
    truth = made.strength[:, -1]
    fit = fit_variances(games)
    state, rows = State.empty(sigma0=fit.sigma0, nu=fit.nu).play(games, history=True)
    assert rows is not None
    history = History.from_rows(rows, state)
    split = games.n_periods - HELD_OUT
    early = fit_variances(games.between(0, split))
    late = games.between(split, games.n_periods)
    model = Periods(sigma0=early.sigma0, nu=early.nu).fit(games.between(0, split))
    filtered = model.evaluate(late).log_loss
    weighed = Periods(sigma0=early.sigma0, nu=early.nu, smoothing="whole", predict_from="whole")
    beliefs = weighed.fit(games.between(0, split)).beliefs_
    names = np.asarray(games.players, dtype=object)
    sides = [
        beliefs.beliefs(names[codes].tolist(), late.first + late.period) for codes in (late.player_1, late.player_2)
    ]
    ours = evaluate(integrated_probability(*sides[0], *sides[1]), late.score).log_loss
    smoothing = cpu_seconds(lambda: smooth(history), 3)
    joining = cpu_seconds(lambda: whole(history, games), 1)
    strengths = {"rts": smooth(history), "whole": whole(history, games)[0]}
    rho = {name: _rank_correlation(found, truth) for name, found in strengths.items()}
    yield Figure("rank correlation with the truth at the end, rts", rho["rts"], "", at_least=0.95, digits=4)
    yield Figure("rank correlation with the truth at the end, whole", rho["whole"], "", at_least=0.957, digits=4)
    yield Figure("smoothing by rts, beyond rating", smoothing, "CPU-seconds")
    yield Figure("smoothing by whole, beyond rating", joining, "CPU-seconds")
    losses = {"the filter and (16)": filtered, "whole and the integral": ours}
    for name, loss in losses.items():
        yield Figure(
            f"log-loss of the last {HELD_OUT} periods by {name}, σ0 and ν fitted before", loss, "per game", digits=5
        )
    yield from peers.compared(games, truth, HELD_OUT, seconds, {"log_loss": ours, "rho": rho, "whole": joining})


def _rank_correlation(history: History, truth: np.ndarray) -> float:
    """Return Spearman's ρ of everybody's last mean with the true strength in the last period."""
    played = np.flatnonzero(np.diff(history.offsets))
    last = history.mean[history.offsets[1:][played] - 1]
    codes = [int(history.players[i].split()[1]) for i in played]
    return float(spearmanr(last, truth[codes]).statistic)


def _streams() -> Iterator[Figure]:
    """Rate larger and larger Parquet files period by period, each in a process of its own that has rated a little."""
    found: list[tuple[int, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder:
        little = Path(folder) / "little.parquet"
        _write(little, 0.1)
        for millions in MILLIONS:
            path = Path(folder) / f"{millions}.parquet"
            _write(path, millions)
            found.append((millions, _streamed(path, little)))
            path.unlink()
            rate, memory = millions / found[-1][1]["seconds"], found[-1][1]["megabytes"]
            least = LEAST if millions >= 10 else None
            what = f"{millions} M games read from Parquet and rated by period"
            yield Figure(what, rate, "M games per CPU-second", at_least=least)
            yield Figure(f"{millions} M games: peak memory of the process", memory, "MB")
        _write(path, MILLIONS[0], names=20_000)
        rate = MILLIONS[0] / _streamed(path, little)["seconds"]
        yield Figure(f"{MILLIONS[0]} M games of 20,000 players by their names", rate, "M games per CPU-second")
    first, last = found[0], found[-1]
    if last[0] > first[0]:
        slower = (last[1]["seconds"] / last[0]) / (first[1]["seconds"] / first[0])
        yield Figure(f"time per game, {last[0]} M against {first[0]} M games", slower, "times", at_most=1.3)
        more = last[1]["megabytes"] / first[1]["megabytes"]
        yield Figure(f"peak memory, {last[0]} M against {first[0]} M games", more, "times", at_most=2)


def _write(path: Path, millions: float, *, names: int = 0) -> None:
    """Write a simulated table, period by period, sorted by date; a period has 100,000 games whatever the size.

    Players are numbers, or so many of them have names, as a federation's would.
    """
    population = Population(names or 100_000, int(10 * millions), int(millions * 1_000_000), sigma0=SIGMA0, nu=NU)
    called = pa.array([f"Surname {i}, Given {i % 977}" for i in range(names)])
    kind = pa.string() if names else pa.int32()
    schema = pa.schema([("date", pa.date32()), ("player_1", kind), ("player_2", kind), ("score", pa.float64())])
    first = int(np.datetime64("1900-01-01", "D").astype(np.int64))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for period, (one, two, score, _) in enumerate(simulated_games(population, rng=np.random.default_rng(4))):
            day = pa.array(np.full(len(one), first + 7 * period, dtype=np.int32)).cast(pa.date32())
            sides = [called.take(pa.array(side)) if names else pa.array(side) for side in (one, two)]
            writer.write_table(pa.table([day, *sides, pa.array(score)], schema=schema))


def _streamed(path: Path, little: Path) -> dict[str, Any]:
    code = (
        "import json, sys, time\n"
        "from benchmarks.measure import peak_megabytes\n"
        "from pathlib import Path\n"
        "from skilloscope.studies.results.rating import RatingOptions, rated_stream\n"
        f"rate = lambda name: rated_stream([Path(name)], RatingOptions(period='1W', sigma0={SIGMA0}, nu={NU}))\n"
        "rate(sys.argv[2])\n"
        "start = time.process_time()\n"
        "games = rate(sys.argv[1]).state.games\n"
        "seconds = time.process_time() - start\n"
        "print(json.dumps({'games': games, 'seconds': seconds, 'megabytes': peak_megabytes()}))\n"
    )
    words = [sys.executable, "-c", code, str(path), str(little)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def integrated_probability(
    mean_1: npt.ArrayLike, variance_1: npt.ArrayLike, mean_2: npt.ArrayLike, variance_2: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """∫ 1/(1 + 10^(−θ/400)) φ(θ | μ_i − μ_j, σ_i² + σ_j²) dθ by Gauss–Hermite: what GLI99 (16) approximates.

    The two differ by up to 0.03 where little is known, and it shows in the log-loss only where the uncertainties are
    unbiased, as those of `whole` are.

    >>> from skilloscope.models.paired_comparison import win_probability
    >>> one, two = (1700.0, 200.0**2), (1500.0, 100.0**2)
    >>> round(float(integrated_probability(*one, *two)), 4), round(float(win_probability(*one, *two)), 4)
    (0.7064, 0.7189)
    """
    means = np.asarray(mean_1, dtype=float) - np.asarray(mean_2, dtype=float)
    spreads = np.sqrt(np.asarray(variance_1, dtype=float) + np.asarray(variance_2, dtype=float))
    mean, sd = np.broadcast_arrays(means, spreads)
    nodes, weights = hermegauss(64)
    weights = weights / weights.sum()
    flat_mean, flat_sd, out = mean.ravel(), sd.ravel(), np.empty(mean.size)
    for start in range(0, mean.size, CHUNK):
        part = slice(start, start + CHUNK)
        out[part] = expit(Q * (flat_mean[part, None] + flat_sd[part, None] * nodes)) @ weights
    return out.reshape(mean.shape)
