"""Adapters: files of other domains as decisions. Each module describes its format and counts what it leaves out."""

from skilloscope.decision.domains.convert import DOMAINS as DOMAINS
from skilloscope.decision.domains.convert import conversion_report as conversion_report
from skilloscope.decision.domains.convert import converted as converted
