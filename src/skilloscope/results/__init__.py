"""Results of games between players: tables of any source, as columns, cut into rating periods."""

from skilloscope.results.periods import Calendar as Calendar
from skilloscope.results.periods import PeriodGames as PeriodGames
from skilloscope.results.reading import read_results as read_results
from skilloscope.results.table import Results as Results
