"""One player's screening on one page: the two numbers in plain words, the positions behind them, and what was settled.

In: a `Screening` and one of its players. Out: a `PlayerScreening`, for an arbiter who has to look at one case: how
unusual the play is among fair players, results, the positions on boards with what people and the engine play and the
time used, and what could have been detected at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import chess

from skilloscope.core.errors import InputError, OptionError
from skilloscope.inputs.load import resolve_player
from skilloscope.report.board import board_svg
from skilloscope.report.page import Card, Section
from skilloscope.report.study import Study
from skilloscope.report.table import Table, number, probability_text
from skilloscope.studies.screen.moves import KeyPosition
from skilloscope.studies.screen.players import Rarity, ScreenedPlayer, odds_text, power_table, seconds_text
from skilloscope.studies.screen.screen import READ, Screening
from skilloscope.studies.screen.statistics import ENGINE

_SIMULATED = (
    "simulated: these moves drawn again as people of that rating play, some of them another engine's first choice"
)


@dataclass(frozen=True, eq=False)
class PlayerScreening(Study):
    """One player of a screening."""

    screening: Screening
    player: ScreenedPlayer

    FIELDS: ClassVar = (
        "screening.inputs", "screening.versions", "screening.effort", "screening.engine", "screening.baseline",
        "screening.ratings", "screening.prevalence", "screening.screened", "warnings", "player", "skipped",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """Who was screened."""
        return f"Screening of {self.player.name}"

    @property
    def caveats(self) -> Sequence[str]:
        """What a screening cannot tell."""
        return self.screening.caveats

    def tables(self, top: int | None = None) -> Sequence[Table]:
        """Return the two numbers, the positions, what could have been detected, and the settings."""
        power = [power_table(self.player.power, _SIMULATED)] if self.player.power else []
        return [self._numbers(), self.screening.positions_of([self.player]), *power, self.screening.settings()]

    def sections(self) -> Sequence[Section]:
        """Return the summary, the two numbers, the positions on boards, and the rest."""
        numbers, _, *others = self.tables()
        first = ENGINE if self.player.engine else "stronger"
        cards = Section(
            "Positions to look at",
            text=f"The moves that say most about {first}, with what people of {self.player.elo:.0f} play there. "
            "Moves near the engine's choice that people seldom play count most.",
            cards=[_card(place) for place in self.player.positions],
        )
        return [
            Section("In short", text="\n".join(self.summary)),
            Section.from_table(numbers),
            cards,
            *map(Section.from_table, others),
            Section("How to read this", text=READ),
        ]

    @property
    def summary(self) -> Sequence[str]:
        """What was found, a sentence each."""
        own = self.player
        said = [
            f"{own.games:,} games with {own.moves:,} moves that count, at a rating of {own.elo:.0f}; "
            f"{self.screening.screened:,} players were screened.",
            f"Stronger than the rating: {own.stronger.words}. Where few do, the rating is usually too low.",
        ]
        if own.engine is None:
            said.append("Agreement with an engine was not looked at: that needs an engine.")
        else:
            said.append(
                f"Like an engine, for a player like {number(own.own_elo, 0)}: {own.engine.words}. "
                "Only this number speaks of help, and by itself it proves nothing."
            )
        if own.score is not None:
            of = f"{own.score.points:g} points from {own.score.games} games against rated opponents"
            said.append(f"Results: {of}, where the ratings let expect {own.score.expected:.1f}.")
        return said

    def _numbers(self) -> Table:
        own = self.player

        def row(question: str, one: Rarity) -> list[str]:
            return [question, number(one.z, 2), f"{one.p:.2g}", f"{one.q:.2g}", one.words]

        rows = [row("stronger than the rating?", own.stronger)]
        if own.engine is not None:
            rows.append(row(f"like an engine, beyond people of {number(own.own_elo, 0)}?", own.engine))
        chance = odds_text(own.posterior_odds)
        odds = f"odds of help against none at a prevalence of {self.screening.prevalence:g}: {chance}"
        streak = own.streak
        run = f"longest run of the engine's first choices: {streak.moves} moves, p {streak.p:.2g}" if streak else ""
        notes = [odds if own.engine else "", run, f"q: over {self.screening.screened:,} players (Benjamini–Hochberg)"]
        return Table(
            "Two questions", ["question", "z", "p", "q", "in words"], rows, [n for n in notes if n], labels=(0, 4)
        )


def player_screening(screening: Screening, name: str) -> PlayerScreening:
    """Return one player of a screening; part of a name is enough where it is nobody else's."""
    for one in screening.not_screened:
        if one.player == name:
            raise InputError(f"{name} was not screened: {one.reason}", hint="more games, or --elo for a rating")
    if screening.by_event:
        raise OptionError("one player's page is of all games, not of each event", hint="leave out --event")
    known = {one.player: one for one in screening.players}
    return PlayerScreening(
        screening, known[resolve_player(name, list(known))], warnings=screening.warnings, tally=screening.tally
    )


def _card(place: KeyPosition) -> Card:
    """Return a position on its board: the move played, and the engine's where it is another."""
    board = chess.Board(place.fen)
    played = board.parse_san(place.move.split()[-1])
    engine = board.parse_san(place.engine) if place.engine else None
    *people, own = place.people
    lines = [
        ("people play", ", ".join(f"{one.move} {probability_text(one.probability)}" for one in people)),
        ("the move played", probability_text(own.probability)),
    ]
    lines += [("engine", place.engine)] if place.engine else []
    lines += [("time", seconds_text(place.seconds))] if place.seconds is not None else []
    words = f"{place.move} was played; the engine plays {place.engine or 'an unknown move'}"
    picture = board_svg(place.fen, played=played, better=None if engine == played else engine, alt=words)
    return Card(f"{place.game}: {place.move}", picture, lines, place.fen)
