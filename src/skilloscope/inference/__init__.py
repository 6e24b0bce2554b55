"""From decisions to what they say: evidence (before any prior), priors by name, posteriors with honest intervals."""

from skilloscope.inference.evidence import Evidence as Evidence
from skilloscope.inference.evidence import EvidenceTable as EvidenceTable
from skilloscope.inference.evidence import evidence as evidence
from skilloscope.inference.grid import Grid as Grid
from skilloscope.inference.posterior import EdgePosterior as EdgePosterior
from skilloscope.inference.posterior import Posterior as Posterior
from skilloscope.inference.priors import Normal as Normal
from skilloscope.inference.priors import Prior as Prior
from skilloscope.inference.priors import Uniform as Uniform
from skilloscope.inference.priors import prior_from_text as prior_from_text
