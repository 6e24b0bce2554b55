"""What a library keeps of a person: the person, games with their texts, mistakes, estimates, what a page shows.

Each record is a dataclass whose fields are JSON, of a `kind`, under a `name` that begins with what it belongs to, so
that those of a player come together: games under their keys, all else under the player's number.
"""

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

BOXES = (1, 3, 7, 21, 60)
"""Days until a puzzle comes again, by how often in a row it was solved."""


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
    aliases: tuple[str, ...] = ()  # further names under which the person plays
    me: bool = False  # whether it is the one who uses the library; one at most
    since: str = ""

    kind: ClassVar = "player"
    name = property(lambda self: f"{self.number:05d}")
    names = property(lambda self: (self.called, *self.aliases))

    def is_called(self, name: str | None) -> bool:
        """Return whether a name is one of the player's; only letters and digits count, and not their case."""
        return bool(name) and letters(name) in {letters(own) for own in self.names}


@dataclass(frozen=True)
class KeptGame:
    """What is known of a game without reading it."""

    key: str  # of moves, start and players, and a number where these are those of several games
    white: str | None
    black: str | None
    white_elo: int | None
    black_elo: int | None
    date: str | None
    time_control: str | None
    result: str
    pool: str  # as `pool_of` recognises it; empty for unrated games and variants of servers
    site: str | None
    plies: int
    richness: int  # how many evaluations and clocks it has: of two copies the richer is kept
    source: str  # the file or the account that it came from first
    first_job: str  # the job that brought it
    job: str  # the latest job that reviewed it, which may be gone
    number: int  # of the game in that job; 0 where it has no page there

    kind: ClassVar = "game"
    name = property(lambda self: self.key)


@dataclass(frozen=True)
class GameText:
    """The PGN of a game as it was uploaded, under the game's key."""

    key: str
    pgn: str

    kind: ClassVar = "text"
    name = property(lambda self: self.key)


@dataclass(frozen=True)
class Mistake:
    """A confirmed mistake of a player; moves as UCI writes them, and as people do (SAN)."""

    player: int
    game: str
    ply: int
    side: str
    fen: str  # the position before the move
    played: str
    played_san: str
    best: str
    best_san: str
    line: str  # the best move and what follows, in SAN
    chances: float  # winning chances before the move
    chances_after: float
    cost: float  # winning chances lost, times the share of people of the level who avoid the move
    mark: str  # `?!`, `?` or `??`
    phase: str
    spent: float | None  # seconds that the move took; None where there are no clocks
    number: int  # of the move

    kind: ClassVar = "mistake"
    name = property(lambda self: f"{self.player:05d}/{self.game}/{self.ply:03d}")


@dataclass(frozen=True)
class Drill:
    """How a mistake was solved so far: how often in a row and at all, and when it is due again (days since 1970)."""

    mistake: str
    """The name of the mistake, which begins with the player's number."""
    box: int = 0
    tries: int = 0
    solved: int = 0
    due: float = 0.0

    kind: ClassVar = "drill"

    @property
    def name(self) -> str:
        """That of the mistake."""
        return self.mistake

    def after(self, solved: bool, now: float) -> "Drill":
        """Return what holds after another try: the next box of BOXES where it was solved, else the first again.

        >>> found = Drill("1").after(True, 0.0).after(True, 1.0)
        >>> found.box, found.due
        (2, 4.0)
        >>> found.after(False, 4.0).due
        5.0
        """
        days = BOXES[min(self.box, len(BOXES) - 1)] if solved else BOXES[0]
        box, right = (self.box + 1, self.solved + 1) if solved else (0, self.solved)
        return replace(self, box=box, tries=self.tries + 1, solved=right, due=now + days)


@dataclass(frozen=True)
class Review:
    """What the review of a game counts of one player, by part of the play."""

    player: int
    game: str
    moves: dict[str, int]  # in undecided positions
    mistakes: dict[str, int]
    lost: dict[str, float]  # winning chances, by the mistakes

    kind: ClassVar = "review"
    name = property(lambda self: f"{self.player:05d}/{self.game}")


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
    name = property(lambda self: f"{self.player:05d}/{self.job}/{self.pool}")  # a job begun again replaces its own


@dataclass(frozen=True)
class PlayerStudy:
    """What the page of a player shows, as JSON (see work.py)."""

    player: int
    at: str
    body: dict[str, Any]

    kind: ClassVar = "study"
    name = property(lambda self: f"{self.player:05d}")


@dataclass(frozen=True)
class Import:
    """An account of which the newest games, at most so many, were fetched up to a time (UTC)."""

    account: str
    newest: str
    most: int

    kind: ClassVar = "import"
    name = property(lambda self: self.account)


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
    return next((side for side in ("white", "black") if player.is_called(getattr(game, side))), "")
