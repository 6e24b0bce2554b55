"""Results in the folder of real data, brought to the form that GLI99's tables need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skilloscope.core.errors import InputError, Tally
from skilloscope.results.csv_text import read_csv
from skilloscope.results.reading import read_results, results_from_arrow
from skilloscope.results.table import Results

_NO_POINTS = ("D", "F")  # Davis Cup and tour finals gave no ATP points
_SPELLINGS = {"nimzovitch": "nimzowitsch"}


def great_players(data: Path) -> Results:
    """Return the games between great chess players, 1857 to 1991, without those of plain namesakes."""
    columns = {"player_1": "white", "player_2": "black", "score": "white_score"}
    return without_namesakes(read_results(data / "results" / "chess_great_players_1857_1991.csv", columns=columns))


def without_namesakes(results: Results, years: int = 40) -> Results:
    """Return results where nobody comes back after so many years; the smaller part is somebody else's, and counted.

    The collection calls players by surname and initial: a Fischer R of 1885 is not the one of 1956.

    >>> dates = ["1885-01-01", "1956-01-01", "1957-01-01"]
    >>> print(without_namesakes(Results.from_columns(["Fischer R"] * 3, ["A", "B", "B"], [0, 1, 1], date=dates)).tally)
    1 namesake, 40 years and more apart
    """
    year = results.date.astype("datetime64[Y]").astype(np.int64)
    kept = np.ones(len(results), dtype=bool)
    for code in range(len(results.players)):
        games = np.flatnonzero((results.player_1 == code) | (results.player_2 == code))
        games = games[np.argsort(year[games], kind="stable")]
        parts = np.split(games, 1 + np.flatnonzero(np.diff(year[games]) >= years))
        largest = max(parts, key=len)
        kept[games] &= np.isin(games, largest)
    reason = f"namesake, {years} years and more apart"
    counts = {reason: int((~kept).sum())} if not kept.all() else {}
    return replace(results.select(kept), tally=results.tally + Tally(counts))


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
