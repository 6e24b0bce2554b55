"""Games of uploads that go into a library: which are whose, and which are there already.

In: games as they were read, the text of each, and a library. Out: the games of its players in the library, each once.

Two copies are one game where moves, start and players are the same and the dates allow it: by the rule of
chess/pgn/games.py, and for games of fewer than MOST_SHORT plies, which that rule never takes for the same, where both
have the same day and no addresses that differ. The copy with more evaluations and clocks is kept.
"""

import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b

import numpy as np

from skilloscope.chess.pgn.facts import pool_of
from skilloscope.chess.pgn.games import MOST_SHORT, Games
from skilloscope.chess.pgn.text import RawGame, split_games
from skilloscope.core.errors import InputError
from skilloscope.core.files import as_text
from skilloscope.core.text import json_text
from skilloscope.web.library.players import KINDS, MOST_GAMES, Library
from skilloscope.web.library.records import GameText, KeptGame, Player, letters, side_of

PERSONAL_SHARE, PERSONAL_GAMES = 0.8, 3
"""An upload is a person's own when so large a share of its games, and so many, are that person's."""


@dataclass(frozen=True)
class Kept:
    """What an upload added to a library."""

    players: list[Player]  # those of the library who played in it
    keys: dict[int, str]  # the key of each game of theirs, by row
    new: int
    again: int  # how many were there already
    richer: int  # how many of these took the place of a copy with fewer evaluations and clocks
    unkept: int  # how many could not be kept, as the upload has no text of their own for them


def person_of(games: Games) -> str | None:
    """Return whose export these games are; None where nobody played most of them."""
    sides = (games.headers[side].to_pylist() for side in ("white", "black"))
    (name, most), *_ = Counter(name for side in sides for name in side if name).most_common(1) or [("", 0)]
    return name if most >= max(PERSONAL_GAMES, PERSONAL_SHARE * len(games)) else None


def keep_games(
    library: Library, games: Games, uploads: Iterable[tuple[str, bytes]], job: str, numbers: Mapping[str, int]
) -> Kept:
    """Put the games of a library's players into it, each once, and the owner of a personal export among its players.

    `numbers` are those of the job's pages, by the id of the game.
    """
    known, keys = {one.key: one for one in library.games()}, dict[int, str]()
    if person := person_of(games):
        library.add_player(person)
    players, texts = library.players(), game_texts(games, uploads)
    changed, counts, found = list[KeptGame | GameText](), Counter(new=0, again=0, richer=0, unkept=0), set[int]()
    for row, one in enumerate(_as_kept(games, job, numbers)):
        own, text = [player.number for player in players if side_of(one, player)], texts.get(row)
        if not own or text is None:
            counts["unkept"] += bool(own)
            continue
        found.update(own)
        key, old = _place(known, one)
        one = replace(one, key=key)
        counts["new" if old is None or old.first_job == job else "again"] += 1
        if old is None or one.richness > old.richness:
            counts["richer"] += old is not None
            changed.append(GameText(key, text))
        if old is not None:
            one = replace(one, richness=max(one.richness, old.richness), source=old.source, first_job=old.first_job)
        known[key] = one
        keys[row] = key
        changed.append(one)
    if len(known) > MOST_GAMES:
        raise InputError(f"a library holds {MOST_GAMES:,} games", hint="export it, and remove players you do not need")
    library.put(*changed)
    return Kept([one for one in players if one.number in found], keys, **counts)


def _as_kept(games: Games, job: str, numbers: Mapping[str, int]) -> list[KeptGame]:
    """Return the games as a library knows them; of their keys only the part that moves, start and players make."""
    values = np.isfinite(games.eval_values()).astype(np.int64) + np.isfinite(games.clocks)
    sums, found = np.concatenate([[0], np.cumsum(values)]), list[KeptGame]()
    names = ["white", "black", "white_elo", "black_elo", "date", "time_control", "result", "site"]
    for row, header in enumerate(games.headers.to_pylist()):
        first, last = games.offsets[row : row + 2].tolist()
        same = blake2b(games.moves[first:last].astype("<u2").tobytes(), digest_size=12)
        same.update("\n".join([header["start_fen"] or "", letters(header["white"]), letters(header["black"])]).encode())
        tags = (header[name] for name in ("site", "event", "time_control", "start_fen", "date"))
        found.append(KeptGame(
            same.hexdigest(), **{name: header[name] for name in names}, pool=pool_of(*tags) or "", plies=last - first,
            richness=int(sums[last] - sums[first]), source=header["file"], first_job=job, job=job,
            number=numbers.get(header["game"], 0),
        ))  # fmt: skip
    return found


def _place(known: dict[str, KeptGame], game: KeptGame) -> tuple[str, KeptGame | None]:
    """Return the key that a game has in the library, and the copy of it that is there."""
    key, number = game.key, 1
    while (old := known.get(key)) is not None and not same_game(old, game):
        number += 1
        key = f"{game.key}-{number}"
    return key, old


def same_game(one: KeptGame, two: KeptGame) -> bool:
    """Return whether two games of the same moves, start and players are one."""
    if one.plies >= MOST_SHORT:
        years = [(game.date or "")[:4] for game in (one, two)]
        return years[0] == years[1] or not all(year.isdecimal() for year in years)
    addresses = {game.site for game in (one, two) if "/" in (game.site or "").partition("://")[2]}
    return one.date == two.date and len(addresses) < 2


def game_texts(games: Games, uploads: Iterable[tuple[str, bytes]]) -> dict[int, str]:
    """Return the PGN of each game, by row, as it was uploaded; none where the text does not say who played."""
    places = dict(
        zip(
            zip(*(games.headers[name].to_pylist() for name in ("file", "index")), strict=True),
            range(len(games)),
            strict=True,
        )
    )
    names = [[letters(name) for name in games.headers[side].to_pylist()] for side in ("white", "black")]
    found = {}
    for name, body in uploads:
        for at, raw in enumerate(split_games(io.StringIO(as_text(body))), start=1):
            row = places.get((name, at))
            tags = [letters(raw.tags.get(side)) for side in ("White", "Black")]
            if row is not None and all(own[row] in ("", tag) for own, tag in zip(names, tags, strict=True)):
                found[row] = pgn_text(raw)
    return found


def pgn_text(raw: RawGame) -> str:
    """Return a game as PGN.

    >>> pgn_text(RawGame({"White": "Ann"}, ["1. e4 *"]))
    '[White "Ann"]\\n\\n1. e4 *\\n\\n'
    """
    escaped = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in raw.tags.items()}
    tags = "".join(f'[{name} "{value}"]\n' for name, value in escaped.items())
    return "\n".join([tags, *(line for line in raw.movetext if line)]) + "\n\n"


def exported(library: Library) -> bytes:
    """Return a ZIP archive of all games as PGN, and of everything else as JSON."""
    records = {f"{one.kind}s": [asdict(record) for record in library.records(one)] for one in KINDS}
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("games.pgn", library.pgn(library.games()))
        archive.writestr("library.json", json_text({"schema": 1, **records}, indent=1))
    return packed.getvalue()
