"""pandas and polars frames at the edge: Arrow tables inside, frames where somebody wants them."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa

from skilloscope.core.errors import MissingExtraError


def arrow_from_frame(frame: Any) -> pa.Table:
    """Return a pandas or polars frame as an Arrow table; a table stays as it is."""
    if isinstance(frame, pa.Table):
        return frame
    return frame.to_arrow() if hasattr(frame, "to_arrow") else pa.Table.from_pandas(frame, preserve_index=False)


def to_pandas(table: pa.Table) -> Any:
    """Return a table as a pandas frame."""
    _need("pandas")
    return table.to_pandas()


def to_polars(table: pa.Table) -> Any:
    """Return a table as a polars frame."""
    return _need("polars").from_arrow(table)


def _need(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(f"{package} is not installed", hint="pip install 'skilloscope[frames]'") from error
