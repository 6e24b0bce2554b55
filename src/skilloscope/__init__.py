"""skilloscope estimates how well people decide, from the decisions themselves, on one Elo axis.

The names in `__init__.pyi` are the library's face. They are loaded when first used, so that `import skilloscope` costs
nothing.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", _STUB, re.MULTILINE)}
__all__ = sorted(_HOMES)


class _Package(ModuleType):
    """The package: `skilloscope.report` and `skilloscope.results` are functions, and folders of its modules too."""

    # The functions are given also where modules of the folders have been imported, which sets these names.
    report = property(lambda self: __getattr__("report"), lambda self, folder: None)
    results = property(lambda self: __getattr__("results"), lambda self, folder: None)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'skilloscope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
