"""How good simple alternatives to the Elo of the axis are, like for like: docs/accuracy.md, "Simple alternatives".

    cd tools && python alternatives.py

In: the people whom an engine has judged (measurements/, ../shared/data/persons). A rating is predicted by a line in one
number of a person's first games: a constant, the mean loss in centipawns, the accuracy percentage that sites print, the
Elo of the papers' agent; and by a plane in that number and the mean rating of the opponents. Lines are fitted to the
people drawn evenly, weighted as ratings are in data/people, and reported on those drawn at random and on persons/.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

import axis_data
from skilloscope.chess.analysis.analyses import decisions
from skilloscope.evidence import agent_evidence
from skilloscope.evidence.axis import elo_axis
from skilloscope.evidence.scales import scale as load_scale
from skilloscope.models.agent import Agent

Array = npt.NDArray[np.float64]
SIZES = (1, 4)
_WIN = 0.00368208  # of Lichess: win % = 50 + 50·(2 / (1 + exp(−0.00368208·cp)) − 1)
_MOST = 10.0  # pawns


def main() -> None:
    """Print the table."""
    sets = {name: axis_data.people_searched(name)[0] for name in axis_data.EVENT_PEOPLE}
    sets["persons"] = axis_data.persons()
    table = np.load(axis_data.SHARED / "people" / "games.npz")
    everybody = np.where(table["side"] == 0, table["white_elo"], table["black_elo"])
    everybody = everybody[np.unique(table["person"], return_index=True)[1]] // 200
    print(f"{'':44s}    people   rmse        mae  bias")
    for size in SIZES:
        found = {name: numbers(known, size) for name, known in sets.items()}
        elo = found["evenly"]["rating"]
        there, here = (np.bincount(v.astype(np.int64), minlength=20) for v in (everybody, elo // 200))
        weight = np.sqrt((there / np.maximum(here, 1))[(elo // 200).astype(np.int64)])
        for label in ("constant", "mean loss", "accuracy %", "papers' agent"):
            for more in ((), ("opponents",)):
                names = ("one", *((label,) if label != "constant" else ()), *more)
                fitted = np.column_stack([found["evenly"][name] for name in names])
                if not np.isfinite(fitted).all():
                    raise ValueError(f"{names}: {[int((~np.isfinite(found['evenly'][name])).sum()) for name in names]}")
                line = np.linalg.lstsq(fitted * weight[:, None], elo * weight, rcond=None)[0]
                for reported in ("random", "persons"):
                    own = found[reported]
                    error = np.column_stack([own[name] for name in names]) @ line - own["rating"]
                    rmse = float(np.sqrt((error**2).mean()))
                    sides = (error**2).std() / np.sqrt(len(error)) / 2 / rmse, error.std() / np.sqrt(len(error))
                    title = f"{reported}, {size} game{'s' * (size > 1)}, {' and '.join((label, *more))}"
                    mean = f"{np.abs(error).mean():5.0f} {error.mean():+5.0f} ±{sides[1]:3.0f}"
                    print(f"{title:48s} {len(error):5d} {rmse:5.0f} ±{sides[0]:3.0f} {mean}", flush=True)


def numbers(known: axis_data.Known, size: int) -> Mapping[str, Array]:
    """Return a row for each person: rating, opponents' mean rating, and what the first games say by each measure."""
    assert known.analyses is not None
    white, black = (np.array(known.games.headers[name].to_pylist(), dtype=float) for name in ("white_elo", "black_elo"))
    games: dict[str, list[tuple[int, int]]] = {}
    for game, pair in enumerate(known.sides):
        for side, name in enumerate(pair):
            if name:
                games.setdefault(name, []).append((game, side))
    kept = {name: own[:size] for name, own in games.items() if len(own) >= size}
    inside = {(name, game) for name, own in kept.items() for game, _ in own}
    batch = decisions(known.analyses, all_depths=False)
    who = batch.column("player").to_pylist()
    names = known.games.headers["game"].to_pylist()
    place = {name: at for at, name in enumerate(names)}
    game = [place[name] for name in batch.context.column("game").to_pylist()]
    batch = batch.select(np.array([(name, at) in inside for name, at in zip(who, game, strict=True)]))
    batch = batch.select(np.isfinite(batch.chosen_loss()) & np.isfinite(batch.best.astype(float)))
    owner = np.array(batch.column("player").to_pylist(), dtype=object)
    kept = {name: own for name, own in kept.items() if (owner == name).any()}  # somebody may have had no decision
    loss, best = np.minimum(batch.chosen_loss(), _MOST), np.clip(batch.best.astype(float), -_MOST, _MOST)
    drop = win(best) - win(np.maximum(best - loss, -_MOST))
    right = np.clip(103.1668 * np.exp(-0.04354 * drop) - 3.1669, 0.0, 100.0)
    scale, prior = load_scale(), elo_axis().prior()
    agents = agent_evidence(batch, Agent.from_about(scale.model), by="decider")
    return {
        "one": np.ones(len(kept)),
        "rating": np.array([np.mean([(white, black)[side][game] for game, side in own]) for own in kept.values()]),
        "opponents": np.array([np.mean([(black, white)[side][game] for game, side in own]) for own in kept.values()]),
        "mean loss": np.array([100 * loss[owner == name].mean() for name in kept]),
        "accuracy %": np.array([right[owner == name].mean() for name in kept]),
        "papers' agent": np.array([scale.posterior(agents[name], prior).mean for name in kept]),
    }


def win(pawns: Array) -> Array:
    """Return the winning chances in per cent that Lichess gives an evaluation."""
    return np.asarray(50 + 50 * (2 / (1 + np.exp(-_WIN * 100 * pawns)) - 1))


if __name__ == "__main__":
    main()
