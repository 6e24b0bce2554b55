"""From decisions to what they say: evidence (before any prior), priors by name, posteriors with honest intervals."""

from skilloscope.evidence.posterior import EdgePosterior as EdgePosterior
from skilloscope.evidence.posterior import Normal as Normal
from skilloscope.evidence.posterior import Posterior as Posterior
from skilloscope.evidence.posterior import Prior as Prior
from skilloscope.evidence.posterior import Uniform as Uniform
from skilloscope.evidence.posterior import prior_from_text as prior_from_text
from skilloscope.evidence.sources.agent import agent_evidence as agent_evidence
from skilloscope.evidence.table import Evidence as Evidence
from skilloscope.evidence.table import EvidenceTable as EvidenceTable
from skilloscope.evidence.table import Grid as Grid
