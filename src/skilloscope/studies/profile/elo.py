"""Elo over time on the one axis: a player's years, months or events.

In: judged games. Out: `EloParts`. Under `drift` the Elo wanders and every period helps its neighbours; what a model
says of the person's style is one and the same in all of them, so changes are surer than levels. Under `reset` each
period stands alone, as in `rate --by year`. `carry` and `widen` are the agent's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skilloscope.core.errors import OptionError
from skilloscope.ratings.elo_axis.parts import DRIFT
from skilloscope.studies.profile.periods import check_every, no_drift_note, period_of_game
from skilloscope.studies.rate.front import JudgedGames
from skilloscope.studies.rate.parts import EloParts, Place, rate_parts

AXIS_PRIORS = ("drift", "reset")


def check_axis_prior(prior: str) -> None:
    """Refuse what is no prior of periods on the axis."""
    if prior not in AXIS_PRIORS:
        raise OptionError(
            f"the prior {prior!r} of a period is the papers' agent's; on the Elo axis: {', '.join(AXIS_PRIORS)}",
            hint="--method agent",
        )


def elo_profile(found: JudgedGames, players: Sequence[str], *, every: str = "year", prior: str = "drift") -> EloParts:
    """Return the Elo of each player in each period; with one period each a drift cannot be seen, and it says so."""
    check_every(every)
    check_axis_prior(prior)
    columns = (found.games.headers[name].to_pylist() for name in ("date", "year", "event"))
    places = [period_of_game(every, *row) for row in zip(*columns, strict=True)]

    def place(game: int) -> Place | str:
        return places[game]

    study = rate_parts(found, every, players, "chain", DRIFT if prior == "drift" else None, place=place)
    if prior == "drift" and study.sd is None:
        return replace(study, warnings=[*study.warnings, no_drift_note(every)])
    return study


def elo_profile_report(study: EloParts) -> dict[str, Any]:
    """Return the dict that every report of a profile on the axis sends, with the prior of periods it stands on."""
    return {**study.as_dict("period"), "every": study.by, "period_prior": "reset" if study.sd is None else "drift"}
