"""The papers' tables beside ours: printed · ours · difference · within tolerance.

Each paper has a module with its entries; `ENTRIES` lists them in the order of printing. What has not been computed
is shown as –, never as the paper's figure.
"""

from skilloscope.papers.dfh.choices import DFH13_CHOICES_ENTRIES
from skilloscope.papers.dfh.dfh13 import DFH13_ENTRIES
from skilloscope.papers.dfh.dfhr09 import DFHR09_ENTRIES
from skilloscope.papers.dfh.own_engine import OWN_ENGINE_ENTRIES
from skilloscope.papers.dfh.profiles import DFH13_PROFILE_ENTRIES
from skilloscope.papers.dfh.within import DFH13_WITHIN_ENTRIES
from skilloscope.papers.fer12.fer12 import FER12_ENTRIES
from skilloscope.papers.gli99.gli99 import GLI99_ENTRIES
from skilloscope.papers.harness import Entry as Entry
from skilloscope.papers.harness import Printed as Printed
from skilloscope.papers.harness import Row as Row
from skilloscope.papers.harness import printed as printed
from skilloscope.papers.harness import reproduce as reproduce
from skilloscope.papers.rh11 import RH11_ENTRIES

ENTRIES: tuple[Entry, ...] = (
    *DFHR09_ENTRIES,
    *DFH13_CHOICES_ENTRIES,
    *DFH13_ENTRIES,
    *DFH13_PROFILE_ENTRIES,
    *OWN_ENGINE_ENTRIES,
    *DFH13_WITHIN_ENTRIES,
    *RH11_ENTRIES,
    *FER12_ENTRIES,
    *GLI99_ENTRIES,
)
