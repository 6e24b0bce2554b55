"""From decisions to what they say: evidence (before any prior), priors by name, posteriors with honest intervals."""

from skilloscope.inference.evidence import Evidence, EvidenceTable, evidence
from skilloscope.inference.grid import Grid
from skilloscope.inference.posterior import EdgePosterior, Posterior
from skilloscope.inference.priors import Normal, Prior, Uniform, prior_from_text

__all__ = [
    "EdgePosterior",
    "Evidence",
    "EvidenceTable",
    "Grid",
    "Normal",
    "Posterior",
    "Prior",
    "Uniform",
    "evidence",
    "prior_from_text",
]
