"""Fit the evidence of single evaluations and say what it is worth.

    .venv/bin/python tools/fit_evaluations.py [--games 1000] [--write]

In: ../shared/data/evals/kaggle_finding_elo_1000_sf_eval.ndjson.gz, FIDE-rated games with an engine's value of every
position after the first moves. Out: MAE, RMSE and coverage of one player-game over ten folds by game (players have no
names there), nothing of the opponent being used; with --write the effort `evaluations` of the axis that ships: weights
of all games, the human model's sources believed as in `instant`. No player has two games, so what stays with a person
cannot be fitted here: it is that of the joint source where each source has all of a person to itself, 92 Elo.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

import axis_data
from model_fits import fit_loss_weights
from skilloscope.chess.analysis.evaluations import Evaluations, read_evaluated
from skilloscope.chess.human.played import (
    MoveLosses,
    PlayedMoves,
    loss_evidence,
    move_evidence,
    move_losses,
    played_moves,
)
from skilloscope.evidence import EvidenceTable, Prior
from skilloscope.evidence.axis import EVALUATIONS, Effects, Effort, elo_axis
from skilloscope.models.joint import LossWeights
from skilloscope.studies.calibrate import (
    POOL_ELO,
    PoolAccuracy,
    PoolEvidence,
    fit_pool,
    fitted_prior,
    posterior_accuracy,
)
from skilloscope.studies.calibrate import START as CALIBRATED

SAMPLE = axis_data.SHARED / "evals" / "kaggle_finding_elo_1000_sf_eval.ndjson.gz"
TARGET = axis_data.ROOT / "src" / "skilloscope" / "data" / "scales" / "axis-default.json"
FOLDS = 10
_STAYS = 92.3
START = {
    "opening": Effects(1.0, 50.0, 100.0),
    "human": Effects(0.75, 20.0, 20.0),
    "evaluated": Effects(0.4, 50.0, 20.0),
}

Array = npt.NDArray[np.float64]


def main() -> None:
    """Print the figures, and write the effort where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="how many games, from the first")
    parser.add_argument("--write", action="store_true", help="write the effort into the axis that ships")
    arguments = parser.parse_args()
    evaluations = some_games(read_evaluated(SAMPLE), arguments.games)
    moves = played_moves(evaluations.games)
    sample = Sample(moves, move_losses(moves, evaluations))
    print(f"{len(sample.elo):,} player-games, {len(sample.found):,} moves with a loss", flush=True)
    curves = sample.cross_fitted()
    for names in (("evaluated",), ("opening", "human"), ("opening", "human", "evaluated")):
        show(" + ".join(names), sample.foretold({name: curves[name] for name in names}))
    effects = sample.shipped_effects(curves)
    show("as it ships, prior of the set", sample.foretold(curves, effects))
    if arguments.write:
        write(sample.weights(np.ones(len(sample.elo), dtype=bool)), effects, sample.foretold(curves, effects))


class Sample:
    """Player-games with their losses: game g's White is person 2g, its Black 2g + 1."""

    def __init__(self, moves: PlayedMoves, found: MoveLosses) -> None:
        self.moves, self.found = moves, found
        headers = moves.games.headers
        both = [headers[side].to_numpy().astype(float) for side in ("white_elo", "black_elo")]
        self.elo = np.stack(both, axis=1).reshape(-1)
        self.fold = np.random.default_rng(0).permutation(len(moves.games)).repeat(2) % FOLDS
        self.person = 2 * moves.game + moves.black

    def weights(self, people: npt.NDArray[np.bool_]) -> LossWeights:
        """Return the weights of losses fitted to some people."""
        who = self.person[self.found.at]
        use = people[who]
        return fit_loss_weights(self.found.losses[use], self.found.features[use], self.elo[who[use]])

    def cross_fitted(self) -> dict[str, Array]:
        """Return the curves of every person by source; weights of losses are of the other folds."""
        human = move_evidence(self.moves, self.person.tolist())
        curves = {name: self.table(human, name) for name in ("opening", "human")}
        losses = np.zeros_like(curves["human"])
        for fold in range(FOLDS):
            inside = self.fold == fold
            labels = [who if inside[who] else None for who in self.person.tolist()]
            found = loss_evidence(self.moves, self.found, labels, self.weights(~inside))
            losses[inside] = self.table(found, "evaluated")[inside]
        return {**curves, "evaluated": losses}

    def table(self, rows: EvidenceTable, source: str) -> Array:
        """Return the curves of one source on POOL_ELO, a row for each person."""
        out = np.zeros((len(self.elo), len(POOL_ELO)))
        own = np.array([name == source for name in rows.sources], dtype=bool)
        out[np.array(rows.labels, dtype=np.int64)[own]] = rows.curves[own][:, ::5]
        return out

    def evidence(self, curves: Mapping[str, Array], people: npt.NDArray[np.bool_]) -> PoolEvidence:
        """Return some people's curves, a game each."""
        who = np.arange(int(people.sum()))
        return PoolEvidence(self.elo[people], {n: c[people] for n, c in curves.items()}, dict.fromkeys(curves, who))

    def foretold(self, curves: Mapping[str, Array], effects: Mapping[str, Effects] | None = None) -> list[PoolAccuracy]:
        """Return the accuracy under a normal prior and under the smoothed ratings, both of the other folds."""
        logs, guess = np.zeros((2, len(self.elo), len(POOL_ELO))), np.zeros(len(self.elo))
        for fold in range(FOLDS):
            inside = self.fold == fold
            rest, own = self.evidence(curves, ~inside), self.evidence(curves, inside)
            prior: Prior = fitted_prior(rest.elo)
            found = effects or fit_pool(rest, prior, START, mapped=False)
            logs[:, inside] = own.logs(found)
            logs[0, inside] += np.asarray(prior.log_density(POOL_ELO))
            logs[1, inside] += smoothed_ratings(rest.elo)
            guess[inside] = np.median(rest.elo)
        return [posterior_accuracy(some, self.elo, guess) for some in logs]

    def shipped_effects(self, curves: Mapping[str, Array]) -> dict[str, Effects]:
        """Return the effects of `evaluations`: those of people without an engine, and what goes best with them."""
        known = dict(CALIBRATED)
        all_of_them = np.ones(len(self.elo), dtype=bool)
        evidence = self.evidence(curves, all_of_them)
        start = {**known, "evaluated": START["evaluated"]}
        found = fit_pool(evidence, fitted_prior(self.elo), start, free=["evaluated"], mapped=False)["evaluated"]
        stays = _STAYS
        both = np.hypot(found.game_sd, found.person_sd)
        return {**known, "evaluated": Effects(found.temper, float(np.sqrt(max(both**2 - stays**2, 0.0))), stays)}


def smoothed_ratings(elo: Array, sd: float = 60.0) -> Array:
    """Return the log-density of ratings, smoothed."""
    steps = (POOL_ELO[:, None] - elo[None, :]) / sd
    return np.asarray(np.log(np.exp(-0.5 * steps**2).sum(axis=1) + 1e-3))


def some_games(evaluations: Evaluations, most: int) -> Evaluations:
    """Return the first games with their values."""
    games = evaluations.games.select(np.arange(min(most, len(evaluations.games))))
    return replace(evaluations, games=games, values=evaluations.values[: len(games.moves) + len(games)])


def show(name: str, found: list[PoolAccuracy]) -> None:
    """Print the figures under both priors."""
    for prior, one in zip(("normal", "smoothed"), found, strict=True):
        error = f"MAE {one.mae:5.1f} (constant {one.constant_mae:.1f})  RMSE {one.rmse:5.1f} ({one.constant_rmse:.1f})"
        print(
            f"{name:32s} {prior:8s} {error}  covers {one.covers:.3f}  sd {one.sd:.0f}  slope {one.slope:.2f}",
            flush=True,
        )


def write(weights: LossWeights, effects: Mapping[str, Effects], found: list[PoolAccuracy]) -> None:
    """Write the effort into the axis that ships."""
    axis = elo_axis()
    rounded = {n: Effects(round(e.temper, 3), round(e.game_sd, 1), round(e.person_sd, 1)) for n, e in effects.items()}
    about = {"data": SAMPLE.name, "folds": FOLDS, "one_game": found[0].as_dict()}
    before = axis.efforts.get(EVALUATIONS)
    effort = Effort(EVALUATIONS, rounded, measured=about, losses=weights, beside=before and before.beside)
    TARGET.write_text(replace(axis, efforts={**axis.efforts, EVALUATIONS: effort}).to_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
