"""What the human model's evidence is worth: Elo given back, nothing from positions, nothing from the opponent.

Reads ../shared/data (analysed, bands, human) and prints three tables; nothing is written.

recovery   moves drawn from the model at a known Elo on real positions: estimates, and how often 95 % intervals hold it
positions  moves redrawn at one fixed Elo on the positions of people of all ratings: does the estimate know the rating?
opponent   games of held-out people with a rating gap of 200 and more: the estimate regressed on both ratings

The first two stand beside the same figures for a softmax that is not cut to the legal moves: what it gives to illegal
moves depends on the position and on Elo, and so tells about one from the other. (The network is trained with the legal
moves only, so what it gives to illegal ones is nobody's wish; a network that was trained otherwise leaks differently.)

    python tools/human_figures.py            # a few minutes on one core
    python tools/human_figures.py recovery positions --seed 2
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from axis_data import HELD_OUT, OPPONENT, SHARED, Known, analysed, hashed, human_games
from skilloscope.chess.boards import Boards
from skilloscope.chess.human.model import BATCH, human, input_planes
from skilloscope.chess.human.played import played_moves
from skilloscope.chess.pgn.games import Games
from skilloscope.evidence import Grid
from skilloscope.models.joint import ELO_RANGE, HumanChoices, elo_basis
from skilloscope.models.kernels.choices import add_choice_curves

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

GRID = Grid(*ELO_RANGE, 48)
ELO = np.arange(ELO_RANGE[0], ELO_RANGE[1] + 5, 10.0)
COARSE = Grid(*ELO_RANGE, 16)  # the share of the legal moves is smooth in Elo
FIXED = 2100.0
GAP = 200


@dataclass(frozen=True, eq=False)
class Sample:
    """Positions in which somebody had a choice, and whose they are: `owner` numbers the player-games."""

    boards: Boards
    choices: HumanChoices
    chosen: Places
    owner: Places
    opening: npt.NDArray[np.bool_]
    elo: Array
    """The rating of each player-game; NaN where there is none."""
    opponent_elo: Array
    person: npt.NDArray[np.str_]

    def drawn(self, elo: npt.ArrayLike, rng: np.random.Generator) -> Places:
        """Return a move for each position, drawn from the model at the Elo of its player-game."""
        level = np.broadcast_to(np.asarray(elo, dtype=float), self.elo.shape)
        counts = np.diff(self.choices.offsets)
        basis = np.repeat(elo_basis(level)[self.owner], counts, axis=0)
        noisy = np.einsum("ij,ij->i", self.choices.coefficients, basis) + rng.gumbel(size=len(basis))
        best = np.repeat(np.maximum.reduceat(noisy, self.choices.offsets[:-1]), counts)
        return np.asarray(np.flatnonzero(noisy == best) - self.choices.offsets[:-1])

    def curves(self, chosen: Places, use: npt.NDArray[np.bool_] | None = None) -> Array:
        """Return log-likelihood curves on ELO, one for each player-game, of all moves or of those used."""
        out = np.zeros((len(self.elo) + 1, GRID.size))
        owner = self.owner if use is None else np.where(use, self.owner, len(self.elo))
        add_choice_curves(self.choices.coefficients, self.choices.offsets, chosen, owner, elo_basis(GRID.nodes), out)
        return GRID.interpolate(out[:-1].T, ELO)

    @cached_property
    def legal_curves(self) -> Array:
        """The log of the share that an unmasked softmax leaves to the legal moves, added up by player-game."""
        basis, out = elo_basis(COARSE.nodes), np.zeros((len(self.elo), COARSE.size))
        legal = self.choices.coefficients.astype(np.float64) @ basis.T
        whole = np.empty((len(self.owner), COARSE.size))
        for at in range(0, len(self.boards), BATCH):
            maps, _ = human().network.maps(input_planes(self.boards[at : at + BATCH]))
            logits = np.einsum("gj,njm->ngm", basis.astype(np.float32), maps)
            whole[at : at + BATCH] = np.log(np.exp(logits).sum(axis=2, dtype=np.float64))
        inside = np.log(np.add.reduceat(np.exp(legal), self.choices.offsets[:-1]))
        np.add.at(out, self.owner, inside - np.logaddexp(whole, inside))  # legal underpromotions are beside the maps
        return COARSE.interpolate(out.T, ELO)


@dataclass(frozen=True)
class Estimates:
    """Means and 95 % intervals under a prior."""

    mean: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, curves: Array, log_prior: npt.ArrayLike = 0.0) -> Estimates:
        """Return the estimates of log-likelihood curves on ELO."""
        logs = curves + log_prior
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        cumulative = np.cumsum(weights, axis=1) - weights / 2
        low, high = (np.array([np.interp(q, row, ELO) for row in cumulative]) for q in (0.025, 0.975))
        return cls(weights @ ELO, low, high)

    def figures(self, truth: Array | float) -> dict[str, float]:
        """Return how far the means are from the truth, and how often the intervals hold it, with its error."""
        miss, n = self.mean - truth, len(self.mean)
        inside = float(((self.low <= truth) & (truth <= self.high)).mean())
        errors = {"bias": float(miss.mean()), "rmse": float(np.sqrt((miss**2).mean()))}
        return {"estimates": n, **errors, "covers": inside, "covers_error": float(np.sqrt(0.95 * 0.05 / n))}


def sample_of(games: Games, *, rated_only: bool = True) -> Sample:
    """Return the choices of the people in games; those without a name, or called opponent, are left out."""
    headers = games.headers.to_pylist()
    names = [[row["white"], row["black"]] for row in headers]
    wanted = np.array([[name not in (None, OPPONENT) for name in pair] for pair in names]).reshape(-1, 2)
    ratings = np.array([[row["white_elo"] or np.nan, row["black_elo"] or np.nan] for row in headers], dtype=float)
    if rated_only:
        wanted &= ~np.isnan(ratings)
    use = wanted[games.game_of_move, games.movers]
    moves = played_moves(games, wanted=use)
    free = np.flatnonzero(moves.free)
    counts = np.diff(moves.choices.offsets)
    entries = np.repeat(moves.free, counts)
    offsets = np.concatenate([[0], np.cumsum(counts[free])])
    choices = HumanChoices(offsets, moves.choices.moves[entries], moves.choices.coefficients[entries])
    fens = [row["start_fen"] or "" for row in headers]
    boards = Boards.from_moves(games.moves, games.offsets, fens)[np.flatnonzero(use)[free]]
    both = 2 * moves.game[free] + moves.black[free]
    kept, owner = np.unique(both, return_inverse=True)
    flat, other = ratings.reshape(-1)[kept], ratings[:, ::-1].reshape(-1)[kept]
    person = np.array([str(name) for pair in names for name in pair])[kept]
    return Sample(boards, choices, moves.chosen[free], owner, moves.move_number[free] <= 12, flat, other, person)


def recovery(sample: Sample, rng: np.random.Generator, repeats: int = 5) -> list[dict[str, Any]]:
    """Draw every player-game at an Elo of its own, uniform on the range; estimate it under that prior."""
    truth = rng.uniform(*ELO_RANGE, size=(repeats, len(sample.elo)))
    curves = np.concatenate([sample.curves(sample.drawn(elo, rng)) for elo in truth])
    unmasked = np.tile(sample.legal_curves, (repeats, 1))
    found = {"legal moves": Estimates.of(curves), "all moves": Estimates.of(curves + unmasked)}
    return [{"softmax over": name, **own.figures(truth.reshape(-1))} for name, own in found.items()]


def pooled_recovery(sample: Sample, rng: np.random.Generator, size: int = 10, repeats: int = 5) -> list[dict[str, Any]]:
    """Draw at fixed Elos, `size` player-games at a time as one person's, under a flat prior."""
    groups = np.arange(len(sample.elo)) // size
    whole = groups < len(sample.elo) // size
    rows = []
    for elo in (1200.0, 1600.0, 2000.0, 2400.0, 2700.0):
        pooled = np.zeros((repeats, groups[whole].max() + 1, len(ELO)))
        for draw in pooled:
            np.add.at(draw, groups[whole], sample.curves(sample.drawn(elo, rng))[whole])
        rows.append({"elo": elo, **Estimates.of(pooled.reshape(-1, len(ELO))).figures(elo)})
    return rows


def positions_alone(sample: Sample, rng: np.random.Generator, repeats: int = 40) -> list[dict[str, Any]]:
    """Redraw all moves at FIXED and correlate the estimates with the real ratings, which they cannot know.

    The prior is normal around FIXED: a flat one would draw short games towards the middle of the range, and how long
    games are may go with ratings.
    """
    prior = -0.5 * ((ELO - FIXED) / 300) ** 2
    found: dict[str, list[float]] = {"legal moves": [], "all moves": []}
    for _ in range(repeats):
        curves = sample.curves(sample.drawn(FIXED, rng))
        for name, extra in (("legal moves", 0.0), ("all moves", sample.legal_curves)):
            means = Estimates.of(curves + extra, prior).mean
            found[name].append(float(np.corrcoef(means, sample.elo)[0, 1]))
    error = 1 / np.sqrt(len(sample.elo) * repeats)
    return [{"softmax over": name, "r": float(np.mean(r)), "error": float(error)} for name, r in found.items()]


def opponent(sample: Sample) -> list[dict[str, Any]]:
    """Regress the estimate of each player-game on own and opponent's rating; errors by person."""
    rows = []
    for name, use in (("all moves", None), ("first 12", sample.opening), ("later", ~sample.opening)):
        means = Estimates.of(sample.curves(sample.chosen, use)).mean
        b, error = _regressed(means, sample.elo, sample.opponent_elo, sample.person)
        rows.append({"moves": name, "own": b[1], "own_error": error[1], "opponent": b[2], "opponent_error": error[2]})
    return rows


def _regressed(y: Array, own: Array, other: Array, person: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Least squares of y on (1, own, other), with errors that allow for several games of a person."""
    x = np.stack([np.ones_like(own), own - own.mean(), other - own.mean()], axis=1)
    inverse = np.linalg.inv(x.T @ x)
    b = inverse @ x.T @ y
    _, code = np.unique(person, return_inverse=True)
    scores = np.zeros((code.max() + 1, 3))
    np.add.at(scores, code, x * (y - x @ b)[:, None])
    return b, np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse))


def far_apart(games: int, rng: np.random.Generator) -> Known:
    """Return games of held-out people against opponents GAP and more away, as many in each hundred of rating."""
    table = np.load(SHARED / "human" / "games.npz")
    ratings = np.stack([table["white_elo"], table["black_elo"]], axis=1).astype(int)
    players = np.stack([table["white"], table["black"]], axis=1)
    far = (np.abs(ratings[:, 0] - ratings[:, 1]) >= GAP)[:, None] & (hashed(players) < HELD_OUT)
    game, side = np.nonzero(far & (table["plies"] >= 40)[:, None] & (ratings >= 1200) & (ratings < 2700))
    band = ratings[game, side] // 100
    order = rng.permutation(len(game))
    each = games // len(np.unique(band)) + 1
    kept = np.concatenate([order[band[order] == one][:each] for one in np.unique(band)])
    return human_games(game[kept], players[game, side][kept])


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["recovery", "positions", "opponent"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=2000, help="player-games of `opponent`")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    if {"recovery", "positions"} & set(asked.what):
        known = sample_of(analysed().games)
        print(
            f"{len(known.elo)} player-games, {len(known.owner):,} choices of people rated {np.nanmin(known.elo):.0f}"
            f" to {np.nanmax(known.elo):.0f}"
        )
    if "recovery" in asked.what:
        _show("drawn at an Elo of its own, one player-game", recovery(known, rng))
        _show("drawn at one Elo, ten player-games together", pooled_recovery(known, rng))
    if "positions" in asked.what:
        _show(f"redrawn at {FIXED:.0f}: correlation of estimate and rating", positions_alone(known, rng))
    if "opponent" in asked.what:
        far = sample_of(far_apart(asked.games, rng).games)
        print(f"{len(far.elo)} player-games of {len(np.unique(far.person))} held-out people, gap {GAP} and more")
        _show("estimate = a + own·rating + opponent·rating", opponent(far))


def _show(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(f"{k} {v if isinstance(v, str | int) else f'{v:.3f}'}" for k, v in row.items()))


if __name__ == "__main__":
    main()
