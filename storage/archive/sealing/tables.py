"""A table of the archive as one block per call. Without keys it tells how many rows a block has, and which recordings
belong to it: enough to verify and copy it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Collection, Mapping
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.archive import tables
from storage.archive.sealing.blocks import seal, unseal
from storage.archive.sealing.keys import CallKey
from tenor.errors import BadInput

SEALED = pa.schema(
    [
        ("key", pa.string()),
        ("rows", pa.int64()),
        ("block", pa.binary()),
        ("blobs", pa.list_(pa.string())),
        ("bytes", pa.list_(pa.int64())),
    ]
)
"""`blobs` are those of recordings, with their sizes."""
COLUMNS = b"tenor.columns"
"""Where the file says which columns are in its blocks."""
TYPES: Mapping[str, pa.DataType] = {str(one): one for one in (pa.string(), pa.int64(), pa.float64(), pa.bool_())}
LARGEST_BLOCK = 1 << 30
"""Bytes of a call's rows; a small block must not fill the memory."""

Columns = list[tuple[str, str]]


def sealed_bytes(table: pa.Table, keys: Mapping[str, CallKey]) -> bytes:
    """Rows of a call are one block, with their places in the table."""
    order = pc.sort_indices(table["call"]) if table.num_rows else pa.array([], pa.uint64())
    ordered = table.take(order)
    places = np.asarray(order, np.int64)
    calls = ordered["call"].to_numpy(zero_copy_only=False)
    starts = [at for at in range(len(calls)) if at == 0 or calls[at] != calls[at - 1]]
    blocks = []
    for start, end in zip(starts, [*starts[1:], len(calls)], strict=True):
        rows = ordered.slice(start, end - start)
        key = keys[calls[start]]
        values = [places[start:end].tolist(), *(column.to_pylist() for column in rows.columns)]
        sound = "sha256" in rows.schema.names
        blocks.append(
            {
                "key": key.id,
                "rows": end - start,
                "block": seal(key.secret, zlib.compress(msgspec.msgpack.encode(values))),
                "blobs": rows["sha256"].to_pylist() if sound else [],
                "bytes": rows["bytes"].to_pylist() if sound else [],
            }
        )
    blocks.sort(key=lambda block: block["key"])
    columns: Columns = [(field.name, str(field.type)) for field in table.schema]
    schema = SEALED.with_metadata({COLUMNS: msgspec.json.encode(columns)})
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(blocks, schema), out, compression="zstd", write_statistics=False)
    return out.getvalue()


def is_sealed(content: bytes) -> bool:
    """By the columns of the file; what is no table at all is told by who reads it."""
    try:
        return bool(pq.read_schema(pa.BufferReader(content)).names == SEALED.names)
    except (pa.ArrowException, OSError):
        return False


def blocks_of(content: bytes, columns: Collection[str] = ("key", "rows")) -> pa.Table:
    """What a sealed table tells without keys."""
    return tables.from_bytes(content, list(columns))


def unsealed(content: bytes, secrets: Mapping[str, bytes], columns: Collection[str] | None = None) -> pa.Table:
    """The table, without the calls whose key is gone."""
    schema = _schema(content)
    values: list[list[Any]] = [[] for _ in range(len(schema) + 1)]
    for row in tables.from_bytes(content, ["key", "block"]).to_pylist():
        secret = secrets.get(row["key"])
        if secret is not None:
            for all_of_them, own in zip(values, _values(unseal(secret, row["block"]), len(values)), strict=True):
                all_of_them += own
    places, *rest = values
    arrays = [pa.array(one, field.type) for one, field in zip(rest, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    ordered = table.take(np.argsort(np.array(places, np.int64), kind="stable"))
    return ordered if columns is None else ordered.select(list(columns))


def _values(content: bytes, count: int) -> list[list[Any]]:
    unpacker = zlib.decompressobj()
    try:
        packed = unpacker.decompress(content, LARGEST_BLOCK)
        if unpacker.unconsumed_tail:
            raise BadInput("a sealed block of the archive would fill the memory")
        found = msgspec.msgpack.decode(packed, type=list[list[Any]])
    except (zlib.error, msgspec.MsgspecError):
        raise BadInput("a sealed block of the archive holds no rows") from None
    if len(found) != count:
        raise BadInput("a sealed block of the archive holds other columns than its table")
    return found


def _schema(content: bytes) -> pa.Schema:
    told = (pq.read_schema(pa.BufferReader(content)).metadata or {}).get(COLUMNS, b"")
    try:
        return pa.schema([(name, TYPES[kind]) for name, kind in msgspec.json.decode(told, type=Columns)])
    except (msgspec.MsgspecError, KeyError):
        raise BadInput("a sealed table of the archive does not say which columns it has") from None
