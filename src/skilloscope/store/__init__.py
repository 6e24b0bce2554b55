"""The store of analyses: one SQLite file, and the claims of those who work on it together."""

from skilloscope.store.claims import Claims as Claims
from skilloscope.store.store import SCHEMA as SCHEMA
from skilloscope.store.store import Store as Store
from skilloscope.store.store import StoredAnalysis as StoredAnalysis
from skilloscope.store.store import settings_digest as settings_digest
