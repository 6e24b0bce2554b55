"""The papers' tables beside ours: printed · ours · difference · within tolerance.

Each paper has a module with its entries; `ENTRIES` lists them in the order of printing. What has not been computed
is shown as –, never as the paper's figure.
"""

from skilloscope.studies.reproduction.choices import DFH13_CHOICES_ENTRIES
from skilloscope.studies.reproduction.dfh13 import DFH13_ENTRIES
from skilloscope.studies.reproduction.dfh13_profiles import DFH13_PROFILE_ENTRIES
from skilloscope.studies.reproduction.dfh13_within import DFH13_WITHIN_ENTRIES
from skilloscope.studies.reproduction.dfhr09 import DFHR09_ENTRIES
from skilloscope.studies.reproduction.fer12 import FER12_ENTRIES
from skilloscope.studies.reproduction.gli99 import GLI99_ENTRIES
from skilloscope.studies.reproduction.harness import Entry, Printed, Row, printed, reproduce
from skilloscope.studies.reproduction.rh11 import RH11_ENTRIES

ENTRIES: tuple[Entry, ...] = (
    *DFHR09_ENTRIES,
    *DFH13_CHOICES_ENTRIES,
    *DFH13_ENTRIES,
    *DFH13_PROFILE_ENTRIES,
    *DFH13_WITHIN_ENTRIES,
    *RH11_ENTRIES,
    *FER12_ENTRIES,
    *GLI99_ENTRIES,
)

__all__ = ["ENTRIES", "Entry", "Printed", "Row", "printed", "reproduce"]
