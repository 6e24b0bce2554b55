"""Ratings and fits: from results by rating periods, from gains, and of RH11's curves.

`Estimator` is what scikit-learn expects of an estimator: a subclass is a dataclass, whose constructor takes keywords
alone and only stores them; `fit` checks them, learns, and returns itself. Then `clone`, `Pipeline` parameters and
searches over parameters work, and scikit-learn is not needed.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

from skilloscope.core.errors import OptionError


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator:
    """Parameters by name, and a repr that shows those which were set."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` is there because scikit-learn asks with it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise OptionError(f"no parameter is called {name!r}", hint=", ".join(known))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        own = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        given = ", ".join(f"{name}={value!r}" for name, value, default in own if value != default)
        return f"{type(self).__name__}({given})"
