"""`skilloscope simulate`: choices of a decider of known skill on given spreads; whole games (see simulate_games)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skilloscope.cli.options import Options, command
from skilloscope.cli.simulate_games import simulate_games

if TYPE_CHECKING:
    import numpy as np

    from skilloscope.decision import Decisions

group = typer.Typer(
    help="Simulated deciders of known skill: choices on the spreads of a table, or whole games of chess.",
    no_args_is_help=True,
)


@dataclass(frozen=True)
class DeciderOptions(Options):
    """Who decides: the agent, or the curves where s is given."""

    c: Annotated[float, typer.Option("--c", help="Competence of the agent.", min=0.0)]
    k: Annotated[float, typer.Option(help="The agent's constant, in units of the utilities.", min=1e-12)] = 0.1
    s: Annotated[
        float | None, typer.Option("--s", help="Sensitivity: the curves of RH11 choose, not the agent.", min=1e-12)
    ] = None
    mapping: Annotated[str, typer.Option(help="With --s: shares, powers or third.")] = "shares"
    curve: Annotated[str, typer.Option(help="With --s: invexp, ipa, ipb, secha or sechb.")] = "invexp"

    @property
    def name(self) -> str:
        """What the decider is called."""
        sensitivity = "" if self.s is None else f"s = {self.s:g}, "
        return f"simulated, {sensitivity}c = {self.c:g}"

    def about(self) -> dict[str, Any]:
        """Return what is beside c."""
        return {"k": self.k} if self.s is None else {"s": self.s, "mapping": self.mapping, "curve": self.curve}

    def choices(self, spreads: Decisions, rng: np.random.Generator) -> Decisions:
        """Return the same spreads with choices of this decider."""
        from skilloscope.models.curve_model import CurveModel
        from skilloscope.simulate.agents import simulate_choices
        from skilloscope.simulate.curves import simulate_curve_choices
        from skilloscope.studies.deciders.curves import default_scaling

        if self.s is None:
            return simulate_choices(spreads, self.c, k=self.k, rng=rng)
        model = CurveModel(self.mapping, self.curve, scaling=default_scaling(spreads))
        return simulate_curve_choices(spreads, self.s, self.c, model=model, rng=rng)


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    epilog = "Example: skilloscope simulate choices spreads.jsonl --c 1.2 --seed 7 --out simulated.jsonl"
    group.command("choices", epilog=epilog)(command(simulate_choices_of_table))
    epilog = "Example: skilloscope simulate games --elo 1600 --against 1800 --games 100 --out games.pgn"
    group.command("games", epilog=epilog)(command(simulate_games))
    app.add_typer(group, name="simulate")


@group.callback()
def simulate() -> None:
    """Simulated deciders of known skill: choices on the spreads of a table, or whole games of chess."""


def simulate_choices_of_table(
    tables: Annotated[list[Path], typer.Argument(help="Tables of decisions whose spreads are used.", metavar="TABLE…")],
    out: Annotated[Path, typer.Option(help="File to write: .jsonl, .csv or .parquet.", metavar="FILE")],
    *,
    decider: DeciderOptions,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON about what was done to stdout.")] = False,
) -> int:
    """Let the reference agent decide on the spreads of a table; the choices in the table are not used."""
    from dataclasses import replace

    import numpy as np

    from skilloscope.cli.console import err, exit_code, print_json
    from skilloscope.cli.judged import read_batch
    from skilloscope.decision.text import check_format, write_decisions
    from skilloscope.reports.words import plural

    check_format(out)
    spreads = read_batch(tables)
    simulated = decider.choices(spreads, np.random.default_rng(seed))
    one = np.zeros(len(simulated), dtype=np.int32)
    write_decisions(replace(simulated, deciders=(decider.name,), decider=one), out)
    about = decider.about()
    if as_json:
        report = {"schema": 1, "decider": decider.name, "decisions": len(simulated), "c": decider.c}
        print_json({**report, **about, "seed": seed})
    else:
        said = ", ".join(f"{key} = {value}" for key, value in about.items() if key != "s")
        err().print(f"{plural(len(simulated), 'decision')} by {decider.name} ({said}, seed {seed}) written to {out}")
    return exit_code(spreads.tally)
