"""Adapters: files of other domains as decisions. Each module describes its format and counts what it leaves out."""

from skilloscope.decision.domains.convert import DOMAINS, conversion_report, converted

__all__ = ["DOMAINS", "conversion_report", "converted"]
