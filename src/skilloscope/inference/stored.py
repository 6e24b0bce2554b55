"""Stored evidence: a table of curves as one Parquet file, so that regrouping never needs the decisions again.

A row is a group: its label (one column, or several where labels are tuples), how many decisions made it, and its curve
at the nodes of the grid. Grid, model, tally and schema stand in the file's metadata.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from skilloscope.core.errors import InputError, Tally
from skilloscope.core.parquet import read_checked, write_checked
from skilloscope.core.records import read_object
from skilloscope.inference.evidence import EvidenceTable
from skilloscope.inference.grid import Grid

SCHEMA = 1
_KEY = b"skilloscope_evidence"


def write_evidence(table: EvidenceTable, path: str | os.PathLike[str]) -> None:
    """Write a table of evidence as Parquet; curves are not rounded."""
    labels = _label_columns(table.labels)
    flat = pa.array(np.ascontiguousarray(table.curves).ravel())
    columns = {
        **labels,
        "decisions": pa.array(table.decisions),
        "curve": pa.FixedSizeListArray.from_arrays(flat, table.grid.size),
    }
    about = {
        "schema": SCHEMA,
        "grid": asdict(table.grid),
        "about": dict(table.about),
        "skipped": table.tally.as_dict(),
        "tuples": "label_0" in labels,
    }
    arrow = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    # The digits of a curve are noise to a packer: without packing and dictionaries reading is several times faster.
    write_checked(arrow, path, compression="none", use_dictionary=[*labels], write_statistics=False)


def read_evidence(path: str | os.PathLike[str]) -> EvidenceTable:
    """Read a table of evidence that `write_evidence` wrote."""
    arrow = read_checked(path, memory_map=True)
    raw = (arrow.schema.metadata or {}).get(_KEY)
    if raw is None:
        raise InputError(f"{path} holds no evidence", hint="write_evidence writes such files")
    about = read_object(raw)
    if about.get("schema") != SCHEMA:
        raise InputError(f"{path}: evidence of schema {about.get('schema')}, this version reads {SCHEMA}")
    try:
        return _table(arrow, about)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, pa.ArrowException) as error:
        raise InputError(f"{path} holds no evidence that can be read ({error})") from error


def _table(arrow: pa.Table, about: Mapping[str, Any]) -> EvidenceTable:
    grid = Grid(**about["grid"])
    curves = arrow.column("curve").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    names = [name for name in arrow.column_names if name.startswith("label")]
    labels = [arrow.column(name).to_pylist() for name in names]
    return EvidenceTable(
        grid,
        list(zip(*labels, strict=True)) if about["tuples"] else labels[0],
        curves.reshape(len(arrow), grid.size),
        arrow.column("decisions").to_numpy().astype(np.int64),
        Tally.from_dict(about["skipped"]),
        about["about"],
    )


def _label_columns(labels: Sequence[Any]) -> dict[str, pa.Array]:
    if len(labels) and all(isinstance(label, tuple) for label in labels):
        return {f"label_{i}": pa.array(part) for i, part in enumerate(zip(*labels, strict=True))}
    return {"label": pa.array(list(labels))}
