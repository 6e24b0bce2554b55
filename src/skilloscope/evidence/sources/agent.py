"""The papers' agent as a source of evidence: what choices among valued alternatives say about competence c.

[DFHR09 III, DFH13 (3)]: p(choice | c) of every decision, as a log-likelihood curve over c for each group of decisions.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skilloscope.core.errors import InputError, Tally
from skilloscope.decision import Decisions, Losses
from skilloscope.decision.arrow import as_decisions
from skilloscope.evidence.table import EvidenceTable, Grid
from skilloscope.models.agent import Agent
from skilloscope.models.kernels.choices import add_curves

_TOLERANCE = 1e-9  # error of a curve between its nodes, per decision, at which no more nodes are added
_WORST = 1e-5  # error per decision beyond which a curve is refused
_MOST_NODES = 768
_BATCH = 100_000  # decisions whose losses are held at once: memory is that of the decisions, not a multiple of it
_LARGEST = 1e307  # of loss/k: a little below what a float holds


def agent_evidence(
    decisions: Decisions | Losses,
    model: Agent | None = None,
    grid: Grid | None = None,
    *,
    by: str | Sequence[str] = "decider",
    span: tuple[float, float] = (0.0, 4.0),
) -> EvidenceTable:
    """Return the evidence of each group of decisions about the model's parameter.

    Without a grid the range `span` is taken, with as many nodes as these decisions need; give one where evidence of
    several batches is to be added.

    >>> batch = Decisions.from_lists(["Ann"] * 3, [[0.0, -0.1], [0.0, -0.9], [0.0, -0.5]], [0, 0, 1])
    >>> table = agent_evidence(batch, Agent(k=0.1))
    >>> round(table["Ann"].posterior().mean, 3)
    0.855
    """
    if isinstance(decisions, Losses):
        raise InputError(
            "losses are two numbers a move, not choice sets: the agent cannot read them",
            hint="analyse the games so that every alternative has a value, or ask for gain statistics",
        )
    decisions = decisions if isinstance(decisions, Decisions) else as_decisions(decisions)
    chosen, (labels, codes) = grid or Grid(*span), decisions.groups(by)
    bare = replace(decisions, context=None, tally=Tally())
    model = (model or Agent()).prepared(decisions)
    about = model.about()
    while True:
        curves = np.zeros((len(labels), chosen.size))
        counts = np.zeros(len(labels), dtype=np.int64)
        tally = Tally()
        for start in range(0, len(bare), _BATCH):
            sets = model.choice_sets(bare if len(bare) <= _BATCH else bare.select(slice(start, start + _BATCH)))
            largest = float(sets.losses.max(initial=0.0))
            if not largest < _LARGEST * min(model.k, 1.0):
                raise InputError(
                    f"a loss of {largest:.3g} is more than {_LARGEST:g} times k = {model.k:g}: their ratio overflows",
                    hint="k scales with the utilities: use a larger one, or give the utilities in a larger unit",
                )
            groups = codes[start + sets.row]
            add_curves(sets, groups, chosen.nodes, curves, k=model.k)
            counts += np.bincount(groups, minlength=len(labels))
            tally = tally + sets.tally
        error = chosen.tail(curves.sum(axis=0)) / max(int(counts.sum()), 1)
        if grid or chosen.size >= _MOST_NODES or error <= _TOLERANCE:
            break
        chosen = chosen.doubled()
    if not error <= _WORST:  # NaN is refused too
        raise InputError(
            f"the log-likelihood cannot be carried by {chosen}: losses are too large for this k and range",
            hint="use a larger k (it scales with the utilities) or a smaller range",
        )
    return EvidenceTable(chosen, labels, curves, counts, decisions.tally + tally, about)
