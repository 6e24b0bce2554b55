"""The papers' tables beside ours: printed · ours · difference · within tolerance.

Each paper has a module with its entries; `ENTRIES` lists them in the order of printing. What has not been computed
is shown as –, never as the paper's figure.
"""

from skilloscope.studies.reproduction.dfh13 import DFH13_ENTRIES
from skilloscope.studies.reproduction.fer12 import FER12_ENTRIES
from skilloscope.studies.reproduction.harness import Entry, Printed, Row, printed, reproduce
from skilloscope.studies.reproduction.rh11 import RH11_ENTRIES

ENTRIES: tuple[Entry, ...] = (*DFH13_ENTRIES, *FER12_ENTRIES, *RH11_ENTRIES)

__all__ = ["ENTRIES", "Entry", "Printed", "Row", "printed", "reproduce"]
