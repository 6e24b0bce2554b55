"""Decisions and losses: the columnar batches that every method reads, and their forms on disk."""

from skilloscope.decision.decisions import UNLISTED as UNLISTED
from skilloscope.decision.decisions import Decisions as Decisions
from skilloscope.decision.losses import Losses as Losses
