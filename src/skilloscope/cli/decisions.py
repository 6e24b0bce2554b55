"""`skilloscope decisions`: tables of decisions of any domain: rated, converted, and judged in several ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.console import report_faults, show, show_done
from skilloscope.cli.options import CRange, EngineOptions, IntervalOutput, Json, Options, Tables, argument, option
from skilloscope.cli.request import read_batch, source_line, working
from skilloscope.core.errors import OptionError, Tally
from skilloscope.report.table import engine_line, plural, skipped_line

if TYPE_CHECKING:
    from skilloscope.decision import Decisions
    from skilloscope.inputs.load import EngineJob
    from skilloscope.studies.sensitivity import Varied


@dataclass(frozen=True)
class CurveFitOptions(Options):
    """The curves of RH11, and how they are fitted."""

    mapping: Annotated[str, option("Curves: shares, powers or third.")] = "shares"
    curve: Annotated[str, option("Curves: invexp, ipa, ipb, secha or sechb.")] = "invexp"
    fit: Annotated[str, option("Curves: likelihood, percentile or moments.")] = "likelihood"
    scaling: Annotated[
        float | None, option("Curves: a of the evaluation scaling; 1 in chess, 0 elsewhere.", min=0.0)
    ] = None


def decisions_rate(
    tables: Tables,
    *,
    k: Annotated[str, option("The agent's constant, in units of the utilities, or fit.")] = "0.1",
    method: Annotated[str, option("agent (c of the reference agent) or curves (RH11: s and c).")] = "agent",
    rule: Annotated[str, option("Choice-set rule: listed, bucket, sampled or full.")] = "listed",
    prior: Annotated[str, option("Prior of c: uniform, or normal:MEAN,SD.")] = "uniform",
    c_range: CRange = (0.0, 4.0),
    curves: CurveFitOptions,
    columns: Annotated[
        list[str] | None, option("Our columns by theirs: decider=player,utility=equity.", metavar="PAIRS")
    ] = None,
    output: IntervalOutput,
) -> int:
    """Rate deciders from the utilities of their options: competence c with credible interval."""
    from skilloscope.evidence import prior_from_text
    from skilloscope.models.agent import Agent
    from skilloscope.models.curves import CurveModel
    from skilloscope.studies import deciders

    if method not in ("agent", "curves"):
        raise typer.BadParameter(f"{method!r} is not agent or curves", param_hint="--method")
    given = deciders.k_from_text(k)
    batch = read_batch(tables, columns or [])
    study: deciders.DeciderRatings | deciders.CurveRatings
    if method == "curves":
        if given is None:
            raise OptionError("the curves have no k to fit", hint="--k fit is the agent's; here k is a tenth of a unit")
        scaling = deciders.default_scaling(batch) if curves.scaling is None else curves.scaling
        model = CurveModel(mapping=curves.mapping, curve=curves.curve, rule=rule, scaling=scaling)
        # k is a tenth of a pawn in chess, so it says what the utilities are counted in.
        study = deciders.rate_deciders_by_curves(batch, model, curves.fit, unit=10 * given)
    elif given is None:
        span = None if c_range == (0.0, 4.0) else c_range
        study = deciders.rate_fitting_k(batch, rule, prior, span, mass=output.mass)
    else:
        agent, density = Agent(k=given, rule=rule), prior_from_text(prior, *c_range)
        study = deciders.rate_deciders(batch, agent, density, mass=output.mass)
    return show(study, output, source=source_line(tables))


def convert(
    domain: Annotated[str, argument("backgammon, gnubg (match files), four-in-a-row or risky-choice.")],
    files: Annotated[list[Path], argument("The files of the domain.", metavar="FILE…")],
    out: Annotated[Path, option("The table to write: .parquet, .jsonl or .csv.")],
    *,
    cap: Annotated[float | None, option("four-in-a-row: clip solved values at ± this (20).")] = None,
    exponent: Annotated[
        float | None, option("risky-choice: exponent of the utility of a prize (1: expected value).")
    ] = None,
    plies: Annotated[int | None, option("gnubg: how far GNU Backgammon looks ahead (2).")] = None,
    pooled: Annotated[bool, option("One decider for all: the composite player.")] = False,
    as_json: Json = False,
) -> int:
    """Convert files of another domain to a table of decisions, reporting every fault and exclusion."""
    from skilloscope.decision.domains import conversion_report, converted
    from skilloscope.decision.text import check_format, write_decisions

    check_format(out)
    batch = converted(domain, files, pooled=pooled, cap=cap, exponent=exponent, plies=plies)
    write_decisions(batch, out)
    depths = f", depths {', '.join(map(str, batch.depths))}" if batch.depths else ""
    line = f"{out}: {plural(len(batch.names()), 'decider')}{depths}; {skipped_line(len(batch), batch.skipped)}"
    return show_done(conversion_report(batch, out), line, batch.tally, as_json=as_json)


def compare_engines(
    tables: Annotated[
        list[Path], argument("Two tables of the same choices, or one with a depth axis.", metavar="TABLE [TABLE]")
    ],
    *,
    depths: Annotated[str | None, option("Compare two depths of one table, as in 0,2.", metavar="A,B")] = None,
    by: Annotated[str | None, option("Unit that is held out and resampled (game, else problem, else decider).")] = None,
    folds: Annotated[int, option("How many folds.")] = 5,
    seed: Annotated[int, option("Seed of the folds and of the resampling.", min=0)] = 1,
    output: IntervalOutput,
) -> int:
    """Compare two engines on the same choices: k fitted for each, held-out log-likelihood."""
    from skilloscope.inputs.load import told_tables
    from skilloscope.studies import compare_engines as studies

    if len(tables) != (1 if depths else 2):
        wanted = "one table with a depth axis" if depths else "two tables of the same choices, or one and --depths A,B"
        raise OptionError(f"{len(tables)} tables are given", hint=f"give {wanted}")
    pair = whole_numbers(depths or "", "--depths")
    if depths and len(pair) != 2:
        raise OptionError(f"--depths takes two depths, got {depths!r}", hint="as in --depths 0,2")
    batches = told_tables(tables)
    report_faults(Tally.sum(batch.tally for batch in batches))
    asked = studies.Resampling(by, folds, seed, output.mass)
    if pair:
        study = studies.compare_depths(batches[0], (pair[0], pair[1]), asked)
    else:
        study = studies.compare_engines(batches[0], batches[1], (tables[0].stem, tables[1].stem), asked)
    return show(study, output, source=source_line(tables))


@dataclass(frozen=True)
class VariedOptions(Options):
    """What is varied, each a list as a user writes it."""

    depths: Annotated[str, option("Depths, as in 4,6,8,10; they come with the deepest.")] = ""
    lists: Annotated[str, option("Lengths to which the lists are cut, as in 3,5.")] = ""
    searches: Annotated[str, option("Numbers of lines to search with again, as in 5,20.")] = ""
    k: Annotated[str, option("Constants of the agent, as in 0.05,0.1,fit.")] = ""
    rules: Annotated[str, option("Choice-set rules, as in listed,bucket.")] = ""
    engines: Annotated[str, option("Other engines, or tables of decisions in the same games; by commas.")] = ""

    def varied(self) -> Varied:
        """Return what is varied of the same decisions; other engines are still to be asked."""
        from skilloscope.studies.deciders import k_from_text
        from skilloscope.studies.sensitivity import Varied

        return Varied(
            depths=whole_numbers(self.depths, "--depths"),
            lists=whole_numbers(self.lists, "--lists"),
            ks=[k_from_text(part) for part in _parts(self.k)],
            rules=_parts(self.rules),
        )

    def judges(self, paths: list[Path], work: EngineJob) -> dict[str, Decisions]:
        """Return the decisions by other engines by the name of the setting: searched now, or read from tables."""
        from skilloscope.decision.text import table_kind
        from skilloscope.studies.sensitivity import read_judged, searched_again

        found = {}
        for lines in whole_numbers(self.searches, "--searches"):
            found[f"search with {lines} lines"] = searched_again(paths, work, lines=lines)
        for engine in _parts(self.engines):
            path = Path(engine)
            table = table_kind(path) is not None
            name = f"engine {path.name.split('.')[0] if table else path.name}"
            found[name] = read_judged([path], work) if table else searched_again(paths, work, engine=engine)
        return found


def sensitivity(
    games: Annotated[
        list[Path], argument("PGN files, analysed games, or tables of decisions of any domain.", metavar="GAMES…")
    ],
    by: Annotated[
        str, option("The groups whose c and order are compared: player, year, milepost, any column.")
    ] = "player",
    *,
    vary: VariedOptions,
    seed: Annotated[int, option("Seed of the folds and of the resampling.", min=0)] = 1,
    output: IntervalOutput,
    engine: EngineOptions,
) -> int:
    """Show how depth, number of lines, k, rule and engine change c, the ranking and the likelihood."""
    from skilloscope.inputs.load import engine_of
    from skilloscope.ratings.mileposts import MILEPOST, with_mileposts
    from skilloscope.studies import sensitivity as studies

    varied = vary.varied()
    with working(engine) as work:
        batch, judges = studies.read_judged(games, work), vary.judges(games, work)
    report_faults(batch.tally)
    if by == MILEPOST:
        batch = with_mileposts(batch, None)
        judges = {name: with_mileposts(other, None) for name, other in judges.items()}
    study = studies.sensitivity(batch, replace(varied, judges=judges), by=by, seed=seed, mass=output.mass)
    return show(study, output, source=f"{source_line(games)}; {engine_line(engine_of(batch))}")


def whole_numbers(text: str, option: str) -> list[int]:
    """Return the whole numbers of a list as a user writes it."""
    try:
        return [int(part) for part in _parts(text)]
    except ValueError:
        raise OptionError(f"{option}: {text!r} is not a list of whole numbers", hint="as in 4,6,8") from None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
