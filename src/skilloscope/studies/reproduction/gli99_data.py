"""Results in the folder of real data, brought to the form that GLI99's tables need."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.errors import InputError
from skilloscope.results.csv_text import read_csv
from skilloscope.results.reading import read_results, results_from_arrow
from skilloscope.results.table import Results

__all__ = ["great_players", "surname", "tennis"]

_NO_POINTS = ("D", "F")  # Davis Cup and tour finals gave no ATP points
_SPELLINGS = {"nimzovitch": "nimzowitsch"}


def great_players(data: Path) -> Results:
    """Return the games between great chess players, 1857 to 1991."""
    columns = {"player_1": "white", "player_2": "black", "score": "white_score"}
    return read_results(data / "results" / "chess_great_players_1857_1991.csv", columns=columns)


def surname(player: str) -> str:
    """Return a surname by which the printed table and the collection agree.

    >>> surname("Aron Nimzovitch"), surname("Nimzowitsch A"), surname("Lasker E")
    ('nimzowitsch', 'nimzowitsch', 'lasker e')
    """
    words = player.split()
    given_last = len(words) > 1 and len(words[-1]) <= 2
    family, given = (words[0], words[-1]) if given_last else (words[-1], words[0])
    word = _SPELLINGS.get(family.lower(), family.lower())
    return f"{word} {given[0].lower()}" if word == "lasker" else word  # Emanuel and Edward


def tennis(data: Path, *, walkovers: bool) -> Results:
    """Return the matches of the ATP tour 1986 to 1995 that gave points; walkovers count as wins, or not at all."""
    files = sorted((data / "tennis").glob("atp_matches_*.csv.gz"))
    if not files:
        raise InputError(f"{data}: no tennis matches there", hint="tennis/atp_matches_YEAR.csv.gz are read")
    columns = ("tourney_date", "tourney_level", "winner_name", "loser_name", "score")
    parts = [pa.table({name: read_csv(file)[0].column(name).cast(pa.string()) for name in columns}) for file in files]
    matches = pa.concat_tables(parts)
    matches = matches.filter(pc.invert(pc.is_in(matches["tourney_level"], pa.array(_NO_POINTS))))
    score = pc.if_else(pc.match_substring(matches["score"], "W/O"), "1" if walkovers else "W/O", "1")
    table = pa.table(
        {
            "date": matches["tourney_date"],
            "player_1": matches["winner_name"],
            "player_2": matches["loser_name"],
            "score": score,
        }
    )
    return results_from_arrow(table, name="tennis")
