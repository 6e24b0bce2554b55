"""Results of games between players: tables of any source, as columns, cut into rating periods."""

from skilloscope.results.calendar import Calendar
from skilloscope.results.period_games import PeriodGames
from skilloscope.results.reading import read_results
from skilloscope.results.table import Results

__all__ = ["Calendar", "PeriodGames", "Results", "read_results"]
