"""What a library keeps of a person: the person, games with their texts, mistakes, estimates, what a page shows.

Each record is a dataclass whose fields are JSON, of a `kind`, under a `name` that begins with what it belongs to, so
that those of a player come together: games under their keys, all else under the player's number.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class Record(Protocol):
    """What a library keeps: a dataclass whose fields are JSON, of a kind, under a name."""

    kind: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """What it is called among those of its kind."""


@dataclass(frozen=True)
class Player:
    """A person whose games are kept."""

    number: int
    called: str
    aliases: tuple[str, ...] = ()
    """Further names under which the person plays."""
    me: bool = False
    """Whether it is the one who uses the library; one at most."""
    since: str = ""

    kind: ClassVar = "player"

    @property
    def name(self) -> str:
        """The number, so that they come in their order."""
        return f"{self.number:05d}"

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return self.called, *self.aliases

    def is_called(self, name: str | None) -> bool:
        """Return whether a name is one of the player's; only letters and digits count, and not their case."""
        return bool(name) and letters(name) in {letters(own) for own in self.names}


@dataclass(frozen=True)
class KeptGame:
    """What is known of a game without reading it."""

    key: str
    white: str | None
    black: str | None
    white_elo: int | None
    black_elo: int | None
    date: str | None
    time_control: str | None
    result: str
    pool: str
    """As `pools_of` recognises it; empty for unrated games and variants of servers."""
    site: str | None
    plies: int
    richness: int
    """How many evaluations and clocks it has: of two copies the richer is kept."""
    source: str
    """The file or the account that it came from first."""
    first_job: str
    """The job that brought it."""
    job: str
    """The latest job that reviewed it, which may be gone."""
    number: int
    """The number of the game in that job; 0 where it has no page there."""

    kind: ClassVar = "game"

    @property
    def name(self) -> str:
        """The key: moves, start and players, and a number where these are those of several games."""
        return self.key


@dataclass(frozen=True)
class GameText:
    """The PGN of a game as it was uploaded."""

    key: str
    pgn: str

    kind: ClassVar = "text"

    @property
    def name(self) -> str:
        """The game's key."""
        return self.key


@dataclass(frozen=True)
class Mistake:
    """A confirmed mistake of a player; moves as UCI writes them, and as people do (SAN)."""

    player: int
    game: str
    ply: int
    side: str
    fen: str
    """The position before the move."""
    played: str
    played_san: str
    best: str
    best_san: str
    line: str
    """The best move and what follows, in SAN."""
    chances: float
    """Winning chances before the move, and after it."""
    chances_after: float
    cost: float
    """Winning chances lost, times the share of people of the level who avoid the move."""
    mark: str
    """`?!`, `?` or `??`."""
    phase: str
    spent: float | None
    """Seconds that the move took; None where there are no clocks."""
    number: int
    """The number of the move."""

    kind: ClassVar = "mistake"

    @property
    def name(self) -> str:
        """The player's, the game's and the move's."""
        return f"{self.player:05d}/{self.game}/{self.ply:03d}"


@dataclass(frozen=True)
class Review:
    """What the review of a game counts of one player, by part of the play."""

    player: int
    game: str
    moves: dict[str, int]
    """Moves in undecided positions."""
    mistakes: dict[str, int]
    lost: dict[str, float]
    """Winning chances lost by the mistakes."""

    kind: ClassVar = "review"

    @property
    def name(self) -> str:
        """The player's and the game's."""
        return f"{self.player:05d}/{self.game}"


@dataclass(frozen=True)
class Snapshot:
    """The Elo of a player in all games kept when an upload had been read."""

    player: int
    at: str
    pool: str
    effort: str
    games: int
    decisions: int
    elo: float
    low: float
    high: float
    job: str

    kind: ClassVar = "snapshot"

    @property
    def name(self) -> str:
        """The player's, the job's and the pool's: a job that is begun again replaces its own."""
        return f"{self.player:05d}/{self.job}/{self.pool}"


@dataclass(frozen=True)
class PlayerStudy:
    """What the page of a player shows, as JSON."""

    player: int
    at: str
    body: dict[str, Any]

    kind: ClassVar = "study"

    @property
    def name(self) -> str:
        """The player's."""
        return f"{self.player:05d}"


@dataclass(frozen=True)
class Import:
    """An account whose games were fetched whole, from the newest of then downwards, at most so many."""

    account: str
    newest: str
    """The date and time of the newest game, UTC."""
    most: int

    kind: ClassVar = "import"

    @property
    def name(self) -> str:
        """The account."""
        return self.account


KINDS: tuple[type[Any], ...] = (Player, KeptGame, GameText, Mistake, Snapshot, PlayerStudy, Import)


def letters(name: str | None) -> str:
    """Return what spellings of a name share.

    >>> letters("Ann O'Hara"), letters("ann_ohara")
    ('annohara', 'annohara')
    """
    return "".join(letter for letter in (name or "").casefold() if letter.isalnum())


def now() -> str:
    """Return the time, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def side_of(game: KeptGame, player: Player) -> str:
    """Return the side that a player had in a game; nothing where it is another's."""
    sides = ("white", "black")
    return next((side for side in sides if player.is_called(getattr(game, side))), "")
