"""`skilloscope simulate games`: whole games between simulated people of given Elos, as PGN."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skilloscope.cli.options import EngineOptions, Json, Options

if TYPE_CHECKING:
    from skilloscope.ratings.elo_axis.axis import Effort
    from skilloscope.simulate.games import GameMaker, Pairing
    from skilloscope.sources.judge import Work


@dataclass(frozen=True)
class PairOptions(Options):
    """Who plays whom."""

    elo: Annotated[float, typer.Option(help="Elo of the player.")]
    against: Annotated[
        float | None, typer.Option(help="Elo of the opponent (default: the player's).", metavar="ELO")
    ] = None
    assist: Annotated[
        str | None, typer.Option(help='Help for the player: "engine on 1 move in 5".', metavar="TEXT")
    ] = None

    def pairing(self) -> Pairing:
        """Return the pairing that is described; what cannot be is refused."""
        from skilloscope.simulate.games import Assist, Pairing

        assist = None if self.assist is None else Assist.from_text(self.assist)
        return Pairing(self.elo, self.elo if self.against is None else self.against, assist)


def simulate_games(
    out: Annotated[Path, typer.Option(help="PGN file to write.", metavar="FILE")],
    *,
    pair: PairOptions,
    games: Annotated[int, typer.Option(help="How many games.", min=1)] = 10,
    effort: Annotated[
        str | None,
        typer.Option(help="instant (no engine), quick or full (default: full where an engine is found)."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 1,
    engine: EngineOptions,
    as_json: Json = False,
) -> int:
    """Let simulated people of given Elos play whole games: openings, errors and ends as people have them; no clocks."""
    from skilloscope.__about__ import __version__
    from skilloscope.cli.console import err, print_json, progress_bar
    from skilloscope.cli.work import work_of
    from skilloscope.core.outputs import write_whole
    from skilloscope.ratings.elo_axis.axis import elo_axis
    from skilloscope.reports.words import plural
    from skilloscope.simulate.games import summary

    pairing = pair.pairing()
    chosen = elo_axis().effort(effort or _usual(engine.engine))
    with progress_bar("playing") as show:
        work = work_of(engine, lambda *_: None, otherwise=chosen.settings)
        made = _maker(chosen, work, helped=pairing.assist is not None).play(
            pairing, games, seed=seed, progress=lambda done, total: show(done, total, "games ended")
        )
    about = f"skilloscope {__version__}, effort {chosen.name}, seed {seed}"
    write_whole(out, "\n".join(game.as_pgn(pairing, about) for game in made))
    report = {"schema": 1, "players": list(pairing.names), "elo": [pairing.elo, pairing.against], "effort": chosen.name,
              "seed": seed, **summary(made)}  # fmt: skip
    if as_json:
        print_json(report)
    else:
        err().print(f"{plural(games, 'game')} of {' and '.join(pairing.names)} ({about}) written to {out}")
    return 0


def _usual(engine: str | None) -> str:
    from skilloscope.simulate.opponent import usual_style

    return "full" if usual_style(engine) == "joint" else "instant"


def _maker(effort: Effort, work: Work, *, helped: bool) -> GameMaker:
    from skilloscope.chess.positions import positions_of
    from skilloscope.simulate.games import GameMaker
    from skilloscope.sources.judge import analyse_as

    if effort.weights is None and not helped:
        return GameMaker()
    return GameMaker(effort.weights, lambda boards: analyse_as(work, positions_of(boards)))
