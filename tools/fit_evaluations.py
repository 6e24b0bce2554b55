"""Fit the evidence of single evaluations over the board and say what it is worth.

    .venv/bin/python tools/fit_evaluations.py [--games 1000] [--kept FILE] [--write]

In: ../shared/data/evals/kaggle_finding_elo_1000_sf_eval.ndjson.gz, FIDE-rated games with an engine's value of every
position after the first moves. Out: MAE, RMSE and coverage of one player-game over ten folds by game (players have no
names there), under the prior that ships: what the rating of the opponent says. With --write the effort `evaluations` of
the axis that ships: the weights of losses, how far they count, and all else as in `instant`. No player has two games,
so how far a bias of the losses stays with a person is not seen here: half of the variance is taken to stay.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import axis_data
from fit_pools import Fitted, Sample, figures, fit_further
from model_fits import fit_bin_weights
from skilloscope.chess.analysis.evaluations import Evaluations, read_evaluated
from skilloscope.chess.human.played import move_evidence, move_losses, played_moves
from skilloscope.core.columns import Array, Ints
from skilloscope.evidence.axis import EVALUATIONS, Effort, elo_axis
from skilloscope.models.bins import LOSS_EDGES, LOSS_FEATURES, BinWeights, bin_curves
from skilloscope.studies.calibrate import POOL_ELO

SAMPLE = axis_data.SHARED / "evals" / "kaggle_finding_elo_1000_sf_eval.ndjson.gz"
TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "axis-default.json"
FOLDS = 10
EVALUATED = "evaluated"


def main() -> None:
    """Print the figures, and write the effort where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="how many games, from the first")
    parser.add_argument("--kept", type=Path, help="a file that keeps what the human model says")
    parser.add_argument("--write", action="store_true", help="write the effort into the axis that ships")
    options = parser.parse_args()
    if options.kept is None or not options.kept.is_file():
        found = read_sides(some_games(read_evaluated(SAMPLE), options.games))
        if options.kept is not None:
            np.savez(options.kept, **found)
    else:
        found = dict(np.load(options.kept))
    elo, met = found["elo"], found["elo"].reshape(-1, 2)[:, ::-1].reshape(-1)
    axis = elo_axis()
    assert axis.opponents is not None
    priors = {
        "opponents": np.array([axis.opponents.prior([one]).log_density(POOL_ELO) for one in met]),
        "population": np.tile(axis.prior().log_density(POOL_ELO), (len(elo), 1)),
        "normal of the sample": np.tile(-0.5 * ((POOL_ELO - elo.mean()) / elo.std()) ** 2, (len(elo), 1)),
    }
    instant = axis.effort("instant")
    assert instant.person is not None
    plain = Fitted(instant.effects, instant.person)
    curves = {name: found[name] for name in ("opening", "human")}
    fold = np.random.default_rng(0).permutation(len(elo) // 2).repeat(2) % FOLDS
    losses = np.zeros_like(curves["human"])
    logs = np.zeros_like(losses)
    for own in range(FOLDS):
        inside = fold == own
        losses[inside] = lost(found, weights_of(found, ~inside))[inside]
    for own in range(FOLDS):
        inside = fold == own
        rest = Sample(elo[~inside], {**{n: c[~inside] for n, c in curves.items()}, EVALUATED: losses[~inside]})
        effects = fit_further([rest], [priors["opponents"][~inside]], plain, EVALUATED)
        logs[inside] = effects.logs(
            Sample(elo[inside], {n: c[inside] for n, c in {**curves, EVALUATED: losses}.items()})
        )
    alone = plain.logs(Sample(elo, curves))
    for name, prior in priors.items():
        for said, moves in (("prior alone", 0 * logs), ("moves", alone), ("moves and losses", logs)):
            print(f"{name}, {said}: {shown(moves + prior, elo)}", flush=True)
    everybody = Sample(elo, {**curves, EVALUATED: losses})
    effects = fit_further([everybody], [priors["opponents"]], plain, EVALUATED)
    one = effects.effects[EVALUATED]
    half = round(one.person_sd / 2**0.5, 1)
    sources = {**effects.effects, EVALUATED: replace(one, game_sd=half, person_sd=half)}
    print(sources[EVALUATED], flush=True)
    if options.write:
        measured = figures(logs + priors["opponents"], elo, float(elo.mean()))
        about = {"data": SAMPLE.name, "folds": FOLDS, "prior": "opponents", "one_game": measured}
        weights = weights_of(found, np.ones(len(elo), dtype=bool))
        effort = Effort(EVALUATIONS, sources, measured=about, losses=weights, person=effects.person)
        TARGET.write_text(replace(axis, efforts={**axis.efforts, EVALUATIONS: effort}).to_json(), encoding="utf-8")


def read_sides(evaluations: Evaluations) -> dict[str, Array]:
    """Return rating, curves by source, and losses with their features: game g's White is row 2g, its Black 2g + 1."""
    moves = played_moves(evaluations.games)
    headers = moves.games.headers
    elo = np.stack([headers[side].to_numpy().astype(float) for side in ("white_elo", "black_elo")], axis=1).reshape(-1)
    side = 2 * moves.game + moves.black
    rows = move_evidence(moves, side.tolist())
    found = {"elo": elo}
    for name in ("opening", "human"):
        own = np.array([source == name for source in rows.sources], dtype=bool)
        found[name] = np.zeros((len(elo), len(POOL_ELO)))
        found[name][np.array(rows.labels, dtype=np.int64)[own]] = rows.curves[own][:, ::5]
    known = move_losses(moves, evaluations)
    return {**found, "side": side[known.at], "losses": known.values, "features": known.features}


def weights_of(found: dict[str, Array], people: npt.NDArray[np.bool_]) -> BinWeights:
    """Return the weights of losses fitted to some people."""
    side = found["side"].astype(np.int64)
    use = people[side]
    kind = LOSS_EDGES, LOSS_FEATURES
    return fit_bin_weights(found["losses"][use], found["features"][use], found["elo"][side[use]], kind)


def lost(found: dict[str, Array], weights: BinWeights) -> Array:
    """Return what the losses of every person say, on POOL_ELO."""
    side: Ints = found["side"].astype(np.int64)
    return bin_curves(found["losses"], found["features"], weights, side, len(found["elo"]), POOL_ELO)


def some_games(evaluations: Evaluations, most: int) -> Evaluations:
    """Return the first games with their values."""
    games = evaluations.games.select(np.arange(min(most, len(evaluations.games))))
    return replace(evaluations, games=games, values=evaluations.values[: len(games.moves) + len(games)])


def shown(logs: Array, elo: Array) -> str:
    """Return figures in a line."""
    return ", ".join(f"{k} {v}" for k, v in figures(logs, elo, float(elo.mean())).items() if k != "bands")


if __name__ == "__main__":
    main()
