"""`skilloscope simulate`: choices of a decider of known skill on the options of a table, or whole games as PGN."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from skilloscope.cli.console import err, exit_code, print_json, progress_bar
from skilloscope.cli.options import EngineOptions, Json, Options, argument, option
from skilloscope.cli.request import read_batch, work_of
from skilloscope.core.paths import write_whole
from skilloscope.report.table import plural

if TYPE_CHECKING:
    import numpy as np

    from skilloscope.decision import Decisions
    from skilloscope.simulate.games import Pairing


@dataclass(frozen=True)
class DeciderOptions(Options):
    """The decider: the agent, or the curves if s is given."""

    c: Annotated[float, option("Competence of the agent.", min=0.0)]
    k: Annotated[float, option("The agent's constant, in units of the utilities.", min=1e-12)] = 0.1
    s: Annotated[float | None, option("Sensitivity: the curves of RH11 choose, not the agent.", min=1e-12)] = None
    mapping: Annotated[str, option("With --s: shares, powers or third.")] = "shares"
    curve: Annotated[str, option("With --s: invexp, ipa, ipb, secha or sechb.")] = "invexp"

    @property
    def name(self) -> str:
        """The name of the decider."""
        sensitivity = "" if self.s is None else f"s = {self.s:g}, "
        return f"simulated, {sensitivity}c = {self.c:g}"

    @property
    def about(self) -> dict[str, object]:
        """The parameters other than c."""
        return {"k": self.k} if self.s is None else {"s": self.s, "mapping": self.mapping, "curve": self.curve}

    def choices(self, spreads: Decisions, rng: np.random.Generator) -> Decisions:
        """Return the same spreads with choices of this decider."""
        from skilloscope.models.curves import CurveModel
        from skilloscope.simulate.deciders import simulate_choices, simulate_curve_choices
        from skilloscope.studies.deciders import default_scaling

        if self.s is None:
            return simulate_choices(spreads, self.c, k=self.k, rng=rng)
        model = CurveModel(self.mapping, self.curve, scaling=default_scaling(spreads))
        return simulate_curve_choices(spreads, self.s, self.c, model=model, rng=rng)


def simulate_table(
    tables: Annotated[list[Path], argument("Tables of decisions whose spreads are used.", metavar="TABLE…")],
    out: Annotated[Path, option("File to write: .jsonl, .csv or .parquet.")],
    *,
    decider: DeciderOptions,
    seed: Annotated[int, option("Seed of the draws.", min=0)] = 1,
    as_json: Annotated[bool, option("Write JSON about what was done to stdout.", "--json")] = False,
) -> int:
    """Let the reference agent choose among the options of a table; recorded choices are ignored."""
    import numpy as np

    from skilloscope.decision.text import check_format, write_decisions

    check_format(out)
    spreads = read_batch(tables)
    simulated = decider.choices(spreads, np.random.default_rng(seed))
    one = np.zeros(len(simulated), dtype=np.int32)
    write_decisions(replace(simulated, deciders=(decider.name,), decider=one), out)
    if as_json:
        report = {"schema": 1, "decider": decider.name, "decisions": len(simulated), "c": decider.c}
        print_json({**report, **decider.about, "seed": seed})
    else:
        about = ", ".join(f"{key} = {value}" for key, value in decider.about.items() if key != "s")
        err().print(f"{plural(len(simulated), 'decision')} by {decider.name} ({about}, seed {seed}) written to {out}")
    return exit_code(spreads.tally)


@dataclass(frozen=True)
class PairOptions(Options):
    """The two players."""

    elo: Annotated[float, option("Elo of the player.")]
    against: Annotated[float | None, option("Elo of the opponent (default: the player's).", metavar="ELO")] = None
    assist: Annotated[str | None, option('Help for the player: "engine on 1 move in 5".', metavar="TEXT")] = None

    def pairing(self) -> Pairing:
        """Return the pairing; impossible ones are refused."""
        from skilloscope.simulate.games import Assist, Pairing

        assist = None if self.assist is None else Assist.from_text(self.assist)
        return Pairing(self.elo, self.elo if self.against is None else self.against, assist)


def simulate_games(
    out: Annotated[Path, option("PGN file to write.")],
    *,
    pair: PairOptions,
    games: Annotated[int, option("How many games.", min=1)] = 10,
    effort: Annotated[
        str | None, option("instant (no engine), quick or full (default: full where an engine is found).")
    ] = None,
    seed: Annotated[int, option("Seed of the draws.", min=0)] = 1,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Let simulated people of given Elos play games with human openings, errors and resignations."""
    from skilloscope.__about__ import __version__
    from skilloscope.chess.pgn.positions import positions_of
    from skilloscope.evidence.axis import elo_axis
    from skilloscope.simulate.games import GameMaker, summary
    from skilloscope.simulate.opponent import usual_style

    pairing = pair.pairing()
    usual = "full" if usual_style(engine.engine) == "joint" else "instant"
    chosen = elo_axis().effort(effort or usual)
    with progress_bar("playing") as show:
        work = work_of(engine, lambda *_: None, otherwise=chosen.settings)
        maker = GameMaker()
        if chosen.weights is not None or pairing.assist is not None:
            maker = GameMaker(chosen.weights, lambda boards: work.analyse(positions_of(boards)))
        made = maker.play(pairing, games, seed=seed, progress=lambda done, total: show(done, total, "games ended"))
    about = f"skilloscope {__version__}, effort {chosen.name}, seed {seed}"
    write_whole(out, "\n".join(game.as_pgn(pairing, about) for game in made))
    if as_json:
        report = {"schema": 1, "players": list(pairing.names), "elo": [pairing.elo, pairing.against]}
        print_json({**report, "effort": chosen.name, "seed": seed, **summary(made)})
    else:
        err().print(f"{plural(games, 'game')} of {' and '.join(pairing.names)} ({about}) written to {out}")
    return 0
