"""Rows as parquet, the same bytes for the same rows: a blob that did not change has the hash it had."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tenor.errors import BadInput

TEXT, WHOLE, FLOAT = pa.string(), pa.int64(), pa.float64()
SENTENCES = pa.schema(
    [
        *((name, TEXT) for name in ("id", "call", "customer", "agent", "queue", "site", "medium", "role")),
        *((name, WHOLE) for name in ("channel", "start_ms", "end_ms")),
        ("spoken_at", FLOAT),
        *((name, TEXT) for name in ("text", "sentiment", "sentiment_scores", "intent")),
        ("intent_score", FLOAT),
        *((name, TEXT) for name in ("slots", "models")),
        ("sample", pa.bool_()),
    ]
)
LABELS = pa.schema(
    [
        *((name, TEXT) for name in ("sentence", "turn", "call", "kind", "value", "predicted", "author", "author_role")),
        ("at", FLOAT),
        ("seconds", FLOAT),
        *((name, TEXT) for name in ("where", "why", "model")),
        ("held", pa.bool_()),
        ("sample", pa.bool_()),
    ]
)
TURNS = pa.schema(
    [
        ("call", TEXT),
        ("turn", WHOLE),
        ("at", FLOAT),
        *((name, TEXT) for name in ("input", "intent")),
        ("intent_score", FLOAT),
        *((name, TEXT) for name in ("slots", "state", "actions", "replies", "cause", "tags")),
        ("sample", pa.bool_()),
    ]
)
AUDIO = pa.schema(
    [
        ("call", TEXT),
        ("channel", WHOLE),
        *((name, TEXT) for name in ("role", "sha256", "codec", "recording")),
        *((name, WHOLE) for name in ("bytes", "rate", "frames")),
        ("sample", pa.bool_()),
    ]
)
SCHEMAS = {"sentences": SENTENCES, "labels": LABELS, "turns": TURNS, "audio": AUDIO}
ROW_GROUP = 131_072
REPEATED = ("call", "customer", "agent", "queue", "site", "medium", "role", "sentiment", "intent", "models")


def to_bytes(table: pa.Table) -> bytes:
    out = io.BytesIO()
    repeated = [name for name in table.schema.names if name in REPEATED or name in ("kind", "author", "author_role")]
    pq.write_table(
        table,
        out,
        compression="zstd",
        compression_level=3,
        row_group_size=ROW_GROUP,
        use_dictionary=repeated,
        write_statistics=False,
        store_schema=False,
    )
    return out.getvalue()


def from_bytes(content: bytes, columns: list[str] | None = None) -> pa.Table:
    try:
        return pq.read_table(pa.BufferReader(content), columns=columns)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"this is no table of the archive: {str(error).splitlines()[0]}") from None


def of_rows(rows: Iterable[Iterable[object]], schema: pa.Schema) -> pa.Table:
    """Rows with their values in the order of the schema."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(map(bool, values) if field.type == pa.bool_() else values, field.type)  # SQLite's are 0 and 1
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def texts(values: Iterable[str]) -> pa.Array:
    return pa.array(sorted(values), TEXT)


def without(table: pa.Table, calls: Iterable[str]) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table["call"], texts(calls))))


def calls_in(table: pa.Table) -> set[str]:
    return set(pc.unique(table["call"]).to_pylist())
