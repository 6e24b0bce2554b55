"""One peer on the benchmark's games; runs in the peers' environment, and needs nothing but numpy and that peer.

`python peer_runs.py NAME games.npz LIMIT` prints one line of JSON, or is ended after LIMIT CPU seconds: the CPU seconds
of rating all games (after a warm-up on a few, imports apart), everybody's strength at the end, and the log-loss of the
held-out periods, predicted from one state that has seen the others.

Every peer gets the scale of the simulated truth where it has a parameter for it: first strengths with a standard
deviation of 300 Elo, changes of 40 Elo in a period; a performance of 223 Elo where games are normal, which is the
logistic's spread; 40/√4.17 a game where only games add uncertainty, there being 4.17 games per player and period.
"""

from __future__ import annotations

import datetime
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Games = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Predict = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
Trained = tuple[np.ndarray, Predict | None]

MEAN, SIGMA0, NU = 1500.0, 300.0, 40.0
BETA = math.pi / math.sqrt(3) * 400 / math.log(10) / math.sqrt(2)
TAU = NU / math.sqrt(4.17)
Q = math.log(10) / 400
WARM_UP = 2_000


def glicko_probability(mean: np.ndarray, rd: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The usual prediction, for peers that have none of their own."""
    g = 1 / np.sqrt(1 + 3 * Q * Q * (rd[one] ** 2 + rd[two] ** 2) / math.pi**2)
    return 1 / (1 + np.exp(-g * Q * (mean[one] - mean[two])))


def normal_probability(mean: np.ndarray, sd: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The probability under normal performances of standard deviation BETA."""
    x = (mean[one] - mean[two]) / np.sqrt(sd[one] ** 2 + sd[two] ** 2 + 2 * BETA**2)
    return np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x])


def riix(games: Games, n: int) -> Trained:
    from riix.models.glicko import Glicko
    from riix.utils.data_utils import MatchupDataset

    one, two, score, period = games
    matchups = np.column_stack([one, two]).astype(np.int64)
    data = MatchupDataset.init_from_arrays(period, matchups, score, list(range(n)))
    model = Glicko(competitors=list(range(n)), initial_rating=MEAN, initial_rating_dev=SIGMA0, c=NU)
    model.fit_dataset(data)
    return model.ratings, lambda a, b, t: model.predict(np.column_stack([a, b]).astype(np.int64))


def glicko2(games: Games, n: int) -> Trained:
    from glicko2 import Player

    players = [Player(rating=MEAN, rd=SIGMA0, vol=NU * Q) for _ in range(n)]
    one, two, score, period = (column.tolist() for column in games)
    at = 0
    for t in range(period[-1] + 1):
        own: dict[int, tuple[list[float], list[float], list[float]]] = {}
        before: dict[int, tuple[float, float]] = {}
        while at < len(period) and period[at] == t:
            for i, j, s in ((one[at], two[at], score[at]), (two[at], one[at], 1 - score[at])):
                if j not in before:
                    before[j] = (players[j].rating, players[j].rd)
                lists = own.setdefault(i, ([], [], []))
                for values, value in zip(lists, (*before[j], s), strict=True):
                    values.append(value)
            at += 1
        for i, player in enumerate(players):
            if i in own:
                player.update_player(*own[i])
            else:
                player.did_not_compete()
    mean, rd = np.array([p.rating for p in players]), np.array([p.rd for p in players])
    return mean, lambda a, b, t: glicko_probability(mean, rd, a, b)


def skelo(games: Games, n: int) -> Trained:
    from skelo.model.glicko2 import Glicko2Estimator

    one, two, score, _ = games
    order = np.arange(len(one))
    model = Glicko2Estimator(initial_value=(MEAN, SIGMA0, NU * Q))
    model.fit(np.column_stack([one, two, order]), score)
    found = [
        model.rating_model.get(i, len(one))["rating"] if i in model.rating_model.ratings else None for i in range(n)
    ]
    mean = np.array([MEAN if value is None else value[0] for value in found])
    rd = np.array([SIGMA0 if value is None else value[1] for value in found])
    return mean, lambda a, b, t: glicko_probability(mean, rd, a, b)


def openskill(games: Games, n: int) -> Trained:
    from openskill.models import PlackettLuce

    model = PlackettLuce(mu=MEAN, sigma=SIGMA0, beta=BETA, tau=TAU, kappa=1e-4)
    ratings = [model.rating() for _ in range(n)]
    for i, j, s in zip(*(column.tolist() for column in games[:3]), strict=True):
        ranks = [1, 2] if s == 1 else [2, 1] if s == 0 else [1, 1]
        [ratings[i]], [ratings[j]] = model.rate([[ratings[i]], [ratings[j]]], ranks=ranks)

    def predict(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.array([model.predict_win([[ratings[i]], [ratings[j]]])[0] for i, j in zip(a, b, strict=True)])

    return np.array([rating.mu for rating in ratings]), predict


def trueskill(games: Games, n: int) -> Trained:
    from trueskill import TrueSkill

    model = TrueSkill(mu=MEAN, sigma=SIGMA0, beta=BETA, tau=TAU, draw_probability=0.0)
    ratings = [model.create_rating() for _ in range(n)]
    for i, j, s in zip(*(column.tolist() for column in games[:3]), strict=True):
        winner, loser = (i, j) if s == 1 else (j, i)
        (ratings[winner],), (ratings[loser],) = model.rate([(ratings[winner],), (ratings[loser],)])
    mean, sd = np.array([r.mu for r in ratings]), np.array([r.sigma for r in ratings])
    return mean, lambda a, b, t: normal_probability(mean, sd, a, b)


def elote(games: Games, n: int) -> Trained:
    from elote import GlickoCompetitor

    GlickoCompetitor._c = NU
    players = [GlickoCompetitor(initial_rating=MEAN, initial_rd=SIGMA0) for _ in range(n)]
    start = datetime.datetime(2020, 1, 1)
    for i, j, s, t in zip(*(column.tolist() for column in games), strict=True):
        winner, loser = (i, j) if s == 1 else (j, i)
        players[winner].beat(players[loser], match_time=start + datetime.timedelta(days=t))

    def predict(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.array([players[i].expected_score(players[j]) for i, j in zip(a, b, strict=True)])

    return np.array([player.rating for player in players]), predict


def choix(games: Games, n: int) -> Trained:
    import choix as library

    one, two, score, _ = games
    pairs = [(i, j) if s == 1 else (j, i) for i, j, s in zip(one.tolist(), two.tolist(), score, strict=True)]
    # The penalty alpha is the precision of a normal prior of the strengths in natural logarithms of odds.
    strength = library.opt_pairwise(n, pairs, alpha=1 / (SIGMA0 * Q) ** 2, method="Newton-CG", max_iter=50)
    return strength, lambda a, b, t: 1 / (1 + np.exp(-(strength[a] - strength[b])))


def trueskillthroughtime(games: Games, n: int) -> Trained:
    from trueskillthroughtime import History

    one, two, score, period = (column.tolist() for column in games)
    composition = [[[i], [j]] for i, j in zip(one, two, strict=True)]
    results = [[s, 1 - s] for s in score]
    # In units of the performance, as the package's own beta = 1.
    history = History(composition, results, period, mu=0.0, sigma=SIGMA0 / BETA, beta=1.0, gamma=NU / BETA)
    history.convergence(epsilon=0.01, iterations=10, verbose=False)  # as in its documentation
    mean, sd = np.full(n, MEAN), np.full(n, SIGMA0)
    for player, curve in history.learning_curves().items():
        last, found = curve[-1]
        mean[player] = MEAN + BETA * found.mu
        sd[player] = math.sqrt((BETA * found.sigma) ** 2 + NU**2 * (period[-1] + 1 - last))
    return mean, lambda a, b, t: normal_probability(mean, sd, a, b)


def kickscore(games: Games, n: int) -> Trained:
    import kickscore as library

    model = library.BinaryModel(obs_type="logit")
    one, two, score, period = (column.tolist() for column in games)
    for name in range(n):
        kernel = library.kernel.Wiener(var=(NU * Q) ** 2, t0=0.0, var_t0=(SIGMA0 * Q) ** 2)
        model.add_item(str(name), kernel=kernel)
    for i, j, s, t in zip(one, two, score, period, strict=True):
        winner, loser = (i, j) if s == 1 else (j, i)
        model.observe(winners=[str(winner)], losers=[str(loser)], t=float(t))
    model.fit()
    end = np.array([float(period[-1])])
    mean = np.array([float(model.item[str(name)].predict(end)[0][0]) for name in range(n)])

    def predict(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        rows = zip(a, b, t, strict=True)
        return np.array([model.probabilities([str(i)], [str(j)], t=float(when))[0] for i, j, when in rows])

    return mean, predict


def whole_history_rating(games: Games, n: int) -> Trained:
    from whr import WHR

    # w2 is the variance of the change in a step, in Elo²; the package's own prior of first strengths is kept.
    model = WHR(config={"w2": NU**2})
    for i, j, s, t in zip(*(column.tolist() for column in games), strict=True):
        model.create_game(str(i), str(j), "B" if s == 1 else "W", int(t), 0)
    model.iterate(20)
    mean = np.zeros(n)
    for name in {*games[0].tolist(), *games[1].tolist()}:
        mean[name] = model.ratings_for_player(str(name), current=True)[0]

    def predict(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-Q * (mean[a] - mean[b])))

    return mean, predict


PEERS: dict[str, Callable[[Games, int], Trained]] = {
    "riix": riix,
    "glicko2": glicko2,
    "skelo": skelo,
    "openskill": openskill,
    "trueskill": trueskill,
    "elote": elote,
    "choix": choix,
    "trueskillthroughtime": trueskillthroughtime,
    "kickscore": kickscore,
    "whole-history-rating": whole_history_rating,
}


def main(name: str, path: str, limit: str) -> dict[str, Any]:
    """Train twice, on all periods and on those before the held-out ones; a library that takes for ever is ended."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    data = np.load(path)
    games: Games = tuple(data[column] for column in ("player_1", "player_2", "score", "period"))  # type: ignore[assignment]
    n = int(max(games[0].max(), games[1].max())) + 1
    train = PEERS[name]
    train(tuple(column[:WARM_UP] for column in games), n)  # type: ignore[arg-type]
    start = time.process_time()
    strength, _ = train(games, n)
    seconds = time.process_time() - start
    early = games[3] < int(data["split"])
    _, predict = train(tuple(column[early] for column in games), n)  # type: ignore[arg-type]
    loss = None
    if predict is not None:
        one, two, score, period = (column[~early] for column in games)
        p = predict(one, two, period)
        with np.errstate(divide="ignore"):
            loss = float(-np.mean(np.where(score == 1, np.log(p), np.log1p(-p))))
    return {"seconds": seconds, "strength": strength.tolist(), "log_loss": loss}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
