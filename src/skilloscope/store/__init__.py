"""The store of analyses: one SQLite file, and the claims of those who work on it together."""

from skilloscope.store.claims import Claims
from skilloscope.store.store import SCHEMA, Store, StoredAnalysis, settings_digest

__all__ = ["SCHEMA", "Claims", "Store", "StoredAnalysis", "settings_digest"]
