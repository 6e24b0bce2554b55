"""The papers' tables next to ours: printed · ours · difference · within tolerance.

Each paper has a module with its entries, whose titles and notes are in data/papers/entries.csv; `ENTRIES` lists them in
the order of printing. What has not been computed is shown as –, never as the paper's figure.
"""

from skilloscope.papers.dfh13 import DFH13_ENTRIES, DFHR09_ENTRIES, OWN_ENGINE_ENTRIES
from skilloscope.papers.dfh13_choices import DFH13_CHOICES
from skilloscope.papers.dfh13_profiles import DFH13_PROFILE_ENTRIES, DFH13_WITHIN_ENTRIES
from skilloscope.papers.fer12 import FER12_ENTRIES
from skilloscope.papers.gli99 import GLI99_ENTRIES
from skilloscope.papers.harness import Entry as Entry
from skilloscope.papers.harness import Printed as Printed
from skilloscope.papers.harness import Row as Row
from skilloscope.papers.harness import printed as printed
from skilloscope.papers.harness import reproduce as reproduce
from skilloscope.papers.rh11 import RH11_ENTRIES

ENTRIES: tuple[Entry, ...] = (
    *DFHR09_ENTRIES, *DFH13_CHOICES, *DFH13_ENTRIES, *DFH13_PROFILE_ENTRIES, *OWN_ENGINE_ENTRIES, *DFH13_WITHIN_ENTRIES,
    *RH11_ENTRIES, *FER12_ENTRIES, *GLI99_ENTRIES,
)  # fmt: skip
