"""The papers' tables beside ours: printed · ours · difference · within tolerance.

Each paper has a module with its entries; `ENTRIES` lists them in the order of printing. What has not been computed
is shown as –, never as the paper's figure.
"""

from skilloscope.studies.reproduction.choices import CHOICES_ENTRY
from skilloscope.studies.reproduction.dfh13 import DFH13_ENTRIES
from skilloscope.studies.reproduction.dfhr09 import DFHR09_ENTRIES
from skilloscope.studies.reproduction.fer12 import FER12_ENTRIES
from skilloscope.studies.reproduction.harness import Entry, Printed, Row, printed, reproduce

ENTRIES: tuple[Entry, ...] = (*DFHR09_ENTRIES, *DFH13_ENTRIES, CHOICES_ENTRY, *FER12_ENTRIES)

__all__ = ["ENTRIES", "Entry", "Printed", "Row", "printed", "reproduce"]
