"""What scikit-learn asks of an estimator that is none of its own: parameters in the constructor, kept as they came.

A subclass's constructor takes keywords alone and does nothing but keep them; `fit` says what cannot be, learns, and
returns itself. Then `clone`, `Pipeline` parameters and searches over parameters work, and scikit-learn is not needed.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

from skilloscope.core.errors import OptionError


class Estimator:
    """Parameters by name, and a repr that shows those which were set."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` is there because scikit-learn asks with it."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        known = _defaults(type(self))
        for name, value in parameters.items():
            if name not in known:
                raise OptionError(f"no parameter is called {name!r}", hint=", ".join(known))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        own = {name: value for name, value in self.get_params().items() if value != _defaults(type(self))[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in own.items())})"


def _defaults(kind: type[Estimator]) -> dict[str, Any]:
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return {one.name: one.default for one in parameters}
