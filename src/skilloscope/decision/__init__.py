"""Decisions and losses: the columnar batches that every method reads, and their forms on disk."""

from skilloscope.decision.decisions import UNLISTED, Decisions
from skilloscope.decision.losses import Losses

__all__ = ["UNLISTED", "Decisions", "Losses"]
