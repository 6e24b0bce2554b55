"""The library: players with their games over all uploads, confirmed mistakes and estimates, in one SQLite file.

In: games as they were read with the text of each, and what studies say of them. Out: the same, typed, by kind. Nothing
leaves the file but by an export, and `forget` removes all of a library.

A library belongs to a browser, as jobs do; another browser may use the same one when it is given the library's key. One
table holds all records: (library, kind, name) is the key, the body is the JSON of a dataclass below, and a digest shows
whether a row is as it was written. A damaged row is left out and counted in `lost`. Who needs a further kind of record
declares a dataclass with a `kind` and a `name`, and uses `put`, `records` and `take_out`.

    kind      name                what
    player    00001               a person of the library, with aliases
    game      KEY                 a game: players, date, result, pool, where it came from, in which job it is
    text      KEY                 its PGN
    mistake   00001/KEY/023       a confirmed mistake of a player: the position, the moves, what it cost
    drill     00001/KEY/023       how often it was solved since, and when it is due again (see training.py)
    review    00001/KEY           how many moves and mistakes were in each part of the play, in a reviewed game
    snapshot  00001/JOB/POOL      the Elo of a player after an upload
    study     00001               what the player's page shows (see work.py)
    import    lichess:NAME        up to when the games of an account were fetched
"""

import contextlib
import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

from skilloscope.core.errors import InputError, StoreError
from skilloscope.core.text import json_text, typed
from skilloscope.web.jobs import NotFoundError
from skilloscope.web.library.records import (
    Drill,
    GameText,
    Import,
    KeptGame,
    Mistake,
    Player,
    PlayerStudy,
    Record,
    Review,
    Snapshot,
    letters,
    now,
    side_of,
)  # fmt: skip
from skilloscope.web.sqlite_file import SqliteFile, row_digest

SCHEMA = 1
MOST_GAMES = 20_000  # games of one library
MOST_NAMES = 500  # players of one library, and aliases of one player
_TABLES = f"""
PRAGMA user_version = {SCHEMA};
CREATE TABLE IF NOT EXISTS visitors (visitor TEXT PRIMARY KEY, library TEXT NOT NULL, digest BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS records (
    library TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (library, kind, name));
CREATE TABLE IF NOT EXISTS counts (library TEXT NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (library, kind)) WITHOUT ROWID;
"""

KINDS = (Player, KeptGame, Mistake, Drill, Review, Snapshot, PlayerStudy, Import)
"""What an export has as JSON; texts of games are PGN."""
R = TypeVar("R", bound=Record)


class Libraries(SqliteFile):
    """The libraries of one file, each of which belongs to a visitor or several."""

    def _make(self) -> None:
        (version,) = self._base().execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA):
            raise StoreError(f"{self.path}: no library, or of another version", hint="name another folder with --store")
        if not version:
            self._base().executescript(_TABLES)

    def of(self, visitor: str) -> "Library | None":
        """Return a visitor's library; None where there is none yet."""
        row = self._base().execute("SELECT library, digest FROM visitors WHERE visitor = ?", (visitor,)).fetchone()
        if row and row[1] != row_digest(visitor, row[0]):
            hint = "open it by its key, after the cookie of this server has been deleted"
            raise StoreError("which library is yours is damaged on the server's disk", hint=hint)
        return Library(self, row[0]) if row else None

    def opened(self, visitor: str) -> "Library":
        """Return a visitor's library; a new one where there is none."""
        return self.of(visitor) or self._given(visitor, secrets.token_urlsafe(16))

    def adopted(self, visitor: str, key: str) -> "Library":
        """Let a visitor use the library of another browser, whose key it has been given."""
        if self._base().execute("SELECT 1 FROM visitors WHERE library = ?", (key,)).fetchone() is None:
            raise NotFoundError("there is no library with this key", hint="copy it whole from the other browser")
        return self._given(visitor, key)

    def _given(self, visitor: str, key: str) -> "Library":
        with self._write() as base:
            base.execute("INSERT OR REPLACE INTO visitors VALUES (?,?,?)", (visitor, key, row_digest(visitor, key)))
        return Library(self, key)

    def damaged(self) -> Iterator[tuple[str, str]]:
        """Yield what is damaged in the file and why."""
        base, why = self._base(), "it is not what was stored"
        yield from ((str(self.path), text) for (text,) in base.execute("PRAGMA integrity_check(100)") if text != "ok")
        for table, place in (("visitors", 0), ("records", 1)):
            for *row, digest in base.execute(f"SELECT * FROM {table}"):
                if digest != row_digest(*row):
                    yield (f"{row[1]} {row[2]!r}" if place else "a visitor's library"), why
        own = "SELECT COUNT(*) FROM records WHERE library = counts.library AND kind = counts.kind"
        for kind, n, there in base.execute(f"SELECT kind, n, ({own}) FROM counts"):
            if n != there:
                yield f"records of the kind {kind}", f"there are {there:,} in place of {n:,}"


@dataclass
class Library:
    """One library: its players, and what is kept of them."""

    libraries: Libraries
    key: str  # who has it can use the library: it is shown to its owner alone
    _lost: dict[str, int] = field(default_factory=dict)

    @contextlib.contextmanager
    def _changed(self, *kinds: str) -> Iterator[sqlite3.Connection]:
        """Give the connection for changes of these kinds, and keep how many records there are: a lost row is missed."""
        count = "SELECT COUNT(*) FROM records WHERE library = ? AND kind = ?"
        with self.libraries._write() as base:
            before = {kind: base.execute(count, (self.key, kind)).fetchone()[0] for kind in dict.fromkeys(kinds)}
            yield base
            for kind, n in before.items():
                more = base.execute(count, (self.key, kind)).fetchone()[0] - n
                base.execute("INSERT OR IGNORE INTO counts VALUES (?,?,0)", (self.key, kind))
                base.execute("UPDATE counts SET n = n + ? WHERE library = ? AND kind = ?", (more, self.key, kind))

    def put(self, *records: Record) -> None:
        """Keep records, in place of those of the same kind and name."""
        rows = [(self.key, one.kind, one.name, json_text(asdict(one))) for one in records]
        with self._changed(*(one.kind for one in records)) as base:
            base.executemany(
                "INSERT OR REPLACE INTO records VALUES (?,?,?,?,?)", [(*row, row_digest(*row)) for row in rows]
            )

    def records(self, what: type[R], begin: str = "") -> list[R]:
        """Return the records of a kind whose names begin with a text, in the order of their names."""
        query, own = "FROM {} WHERE library = ? AND kind = ?", (self.key, what.kind)
        base = self.libraries._base()
        rows = base.execute(f"SELECT library, kind, name, body, digest {query.format('records')} ORDER BY name", own)
        # A damaged index may lead to rows of another kind, or to one row twice.
        sound = [row for row in dict.fromkeys(rows) if row[:2] == own and row[-1] == row_digest(*row[:-1])]
        kept = base.execute(f"SELECT n {query.format('counts')}", own).fetchone()
        self._lost[what.kind] = (kept[0] if kept else 0) - len(sound)
        return [typed(what, json.loads(row[3])) for row in sound if row[2].startswith(begin)]

    @property
    def lost(self) -> int:
        """How many records of the kinds that were looked at are damaged or missing."""
        return sum(map(abs, self._lost.values()))

    def record(self, what: type[R], name: str) -> R | None:
        """Return one record; None where there is none."""
        return next((one for one in self.records(what, name) if one.name == name), None)

    def take_out(self, what: type[Record], begin: str) -> None:
        """Remove the records of a kind whose names begin with a text."""
        with self._changed(what.kind) as base:
            base.execute(
                "DELETE FROM records WHERE library = ? AND kind = ? AND substr(name, 1, ?) = ?",
                (self.key, what.kind, len(begin), begin),
            )

    def forget(self) -> None:
        """Remove the library with all that is in it."""
        with self.libraries._write() as base:
            base.execute("DELETE FROM records WHERE library = ?", (self.key,))
            base.execute("DELETE FROM counts WHERE library = ?", (self.key,))
            base.execute("DELETE FROM visitors WHERE library = ?", (self.key,))
        self.libraries._base().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def players(self) -> list[Player]:
        """Return the players, the owner first."""
        return sorted(self.records(Player), key=lambda one: not one.me)

    def player(self, number: int) -> Player:
        """Return a player by number."""
        found = self.record(Player, f"{number:05d}")
        if found is None:
            raise NotFoundError(f"the library has no player {number}")
        return found

    def called(self, name: str) -> Player | None:
        """Return the player who has a name; None where nobody does."""
        return next((one for one in self.records(Player) if one.is_called(name)), None)

    def add_player(self, name: str) -> Player:
        """Return the player of a name, who is added where nobody has it; the first one is taken for the owner."""
        if found := self.called(name):
            return found
        known = self.records(Player)
        if len(known) >= MOST_NAMES or not letters(name):
            raise InputError("there is no room for this player", hint=f"a name, and at most {MOST_NAMES} players")
        number = max((one.number for one in known), default=0) + 1
        self.put(found := Player(number, name, me=not known, since=now()))
        return found

    def set_me(self, number: int) -> None:
        """Say which player is the owner of the library."""
        self.player(number)
        self.put(*(replace(one, me=one.number == number) for one in self.records(Player)))

    def add_alias(self, number: int, name: str) -> Player:
        """Give a player another name; a player who has it becomes one with this one."""
        with self.libraries._write():
            own, other = self.player(number), self.called(name)
            if not letters(name) or len(own.aliases) >= MOST_NAMES:
                raise InputError("this is no further name", hint=f"letters, and at most {MOST_NAMES} names")
            if other is None:
                own = replace(own, aliases=(*own.aliases, name))
            elif other.number != number:
                own = replace(own, aliases=(*own.aliases, *other.names), me=own.me or other.me)
                old = [one for what in (Mistake, Review) for one in self.records(what, other.name)]
                moved = [replace(one, player=number) for one in old]
                self._take_out_all(other)
                self.put(*moved)
            self.put(own)
        return own

    def drop_alias(self, number: int, name: str) -> Player:
        """Take a name from a player."""
        own = self.player(number)
        own = replace(own, aliases=tuple(alias for alias in own.aliases if alias != name))
        self.put(own)
        return own

    def remove_player(self, number: int) -> None:
        """Remove a player with mistakes, estimates, and the games that no other player of the library played."""
        with self.libraries._write():
            self._take_out_all(self.player(number))
            others = self.records(Player)
            for game in self.records(KeptGame):
                if not any(side_of(game, one) for one in others):
                    self.take_out(KeptGame, game.key)
                    self.take_out(GameText, game.key)

    def _take_out_all(self, player: Player) -> None:
        for what in (Mistake, Drill, Review, Snapshot, PlayerStudy, Player):
            self.take_out(what, player.name)

    def games(self, player: Player | None = None) -> list[KeptGame]:
        """Return the games, all or a player's, the newest first."""
        found = [one for one in self.records(KeptGame) if player is None or side_of(one, player)]
        return sorted(found, key=lambda one: (one.date or "", one.key), reverse=True)

    def pgn(self, games: Sequence[KeptGame]) -> str:
        """Return the text of games, in their order."""
        texts = {one.key: one.pgn for one in self.records(GameText)}
        return "".join(texts.get(one.key, "") for one in games)

    def mistakes(self, player: Player) -> list[Mistake]:
        """Return a player's confirmed mistakes, the costliest first."""
        return sorted(self.records(Mistake, player.name), key=lambda one: -one.cost)

    def snapshots(self, player: Player) -> list[Snapshot]:
        """Return a player's estimates in the order in which they were made."""
        return sorted(self.records(Snapshot, player.name), key=lambda one: one.at)
