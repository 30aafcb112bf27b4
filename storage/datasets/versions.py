"""Rows of a version, what is in them, and how two versions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from storage.archive.blobs import BlobStore
from storage.datasets.manifest import ROWS, DatasetVersion
from storage.place import Place

KINDS = ("sentiment", "intent")


def rows_table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), ROWS)


def rows_of(place: Place, version: DatasetVersion) -> pa.Table:
    return BlobStore(place).table(version.rows)


def counts_of(table: pa.Table) -> dict[str, int]:
    return dict(sorted(Counter(table["split"].to_pylist()).items()))


def labels_of(table: pa.Table) -> dict[str, dict[str, int]]:
    found = {}
    for kind in KINDS:
        values = Counter(value for value in table[kind].to_pylist() if value is not None)
        if values:
            found[kind] = dict(sorted(values.items()))
    if tagged := sum(value is not None for value in table["tags"].to_pylist()):
        found["slots"] = {"tagged": tagged}
    return found


class VersionDiff(NamedTuple):
    added: list[str]
    removed: list[str]
    relabelled: list[str]
    moved: list[str]
    """To another split."""


def diff(place: Place, before: DatasetVersion, after: DatasetVersion) -> VersionDiff:
    """By the ids of rows."""
    old, new = ({row["id"]: row for row in rows_of(place, one).to_pylist()} for one in (before, after))
    both = sorted(old.keys() & new.keys())
    labels = (*KINDS, "tags")
    return VersionDiff(
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
        relabelled=[one for one in both if any(old[one][kind] != new[one][kind] for kind in labels)],
        moved=[one for one in both if old[one]["split"] != new[one]["split"]],
    )
