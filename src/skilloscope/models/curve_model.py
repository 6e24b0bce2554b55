"""A model of [RH11] as a whole: the mapping, the curve, the evaluation scaling, and the rule for unlisted alternatives.

In: decisions. Out: columns that the fits, predictions and simulations read, and what must be said beside each estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from skilloscope.core.errors import InputError, OptionError, Tally
from skilloscope.decision import Decisions, Losses
from skilloscope.models.choice_sets import RULES, Bucket, choice_sets, fit_bucket
from skilloscope.models.curves import curve
from skilloscope.models.kernels.curves import CurveColumns
from skilloscope.models.mappings import mapping
from skilloscope.models.scaling import scaled_decisions


@dataclass(frozen=True)
class CurveModel:
    """Shares, powers or the third model with one of the five curves. The paper's own choice is shares and invexp.

    >>> CurveModel(mapping="powers").warnings()[0]
    'powers needs every alternative: under the rule listed it describes a choice among the listed alone'
    """

    mapping: str = "shares"
    curve: str = "invexp"
    rule: str = "listed"
    scaling: float = 1.0
    """a of ℓ(z) = 1/(1 + a|z|); 0 is none."""
    bucket: Bucket | None = None

    def __post_init__(self) -> None:
        mapping(self.mapping)
        curve(self.curve)
        if self.rule not in RULES:
            raise OptionError(f"no choice-set rule {self.rule!r}", hint=f"the rules: {', '.join(RULES)}")

    @property
    def name(self) -> str:
        """The mapping and the curve."""
        return f"{self.mapping} {self.curve}"

    def prepared(self, decisions: Decisions) -> CurveModel:
        """Return the model with everything fitted that its rule needs from these decisions."""
        if self.rule == "bucket" and self.bucket is None:
            return replace(self, bucket=fit_bucket(scaled_decisions(decisions, self.scaling)))
        return self

    def columns(self, decisions: Decisions | Losses) -> tuple[CurveColumns, Tally]:
        """Return the decisions as the fits read them, and what the rule leaves out."""
        if isinstance(decisions, Losses):
            raise InputError(
                "losses are two numbers a move, not choice sets: the curves cannot read them",
                hint="analyse the games so that every alternative has a value, or use the single-PV control",
            )
        flat = decisions if decisions.values.ndim == 1 else decisions.at_depths()
        sets = choice_sets(scaled_decisions(flat, self.scaling), self.rule, bucket=self.bucket)
        return CurveColumns.from_sets(sets, flat.chosen == 0), sets.tally

    def warnings(self) -> list[str]:
        """Return what must be said of the mapping under the rule."""
        if mapping(self.mapping).independent or self.rule == "full":
            return []
        what = "describes a choice among the listed alone" if self.rule == "listed" else "is an approximation"
        return [f"{self.mapping} needs every alternative: under the rule {self.rule} it {what}"]

    def about(self) -> dict[str, Any]:
        """Return what must be said beside every estimate of this model."""
        bucket = {} if self.bucket is None else {"bucket": asdict(self.bucket)}
        named = {"mapping": self.mapping, "curve": self.curve, "scaling": self.scaling, "rule": self.rule}
        return {"model": "curves", **named, **bucket}

    @classmethod
    def from_about(cls, about: Mapping[str, Any]) -> CurveModel:
        """Return the model that `about` describes."""
        bucket = Bucket(**about["bucket"]) if "bucket" in about else None
        return cls(about["mapping"], about["curve"], about["rule"], about["scaling"], bucket)
