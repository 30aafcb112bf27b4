"""Rows of a dataset with what the archive holds of them: words, speakers, times, audio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storage.archive.blobs import BlobStore
from storage.archive.parts import Part
from storage.archive.tables import TEXT, WHOLE
from storage.datasets.manifest import ROWS, DatasetVersion
from storage.place import Place

FROM_SENTENCE = ("text", "role", "queue", "site", "medium", "agent", "channel", "start_ms", "end_ms")
JOINED = pa.schema(
    [
        *ROWS,
        *(
            (name, TEXT)
            for name in ("text", "recognised", "before", "role", "queue", "site", "medium", "codec", "audio")
        ),
        *((name, WHOLE) for name in ("start_ms", "end_ms", "rate")),
    ]
)
"""`audio` is the blob of the channel; empty: there is none. `recognised` is empty where people wrote the words down."""


def joined(place: Place, version: DatasetVersion) -> pa.Table:
    """In the order of the dataset's rows. A row whose sentence was erased is not in it."""
    blobs = BlobStore(place)
    rows = blobs.table(version.rows)
    wanted = rows["id"].combine_chunks()
    sentences = {
        row["id"]: row
        for part in version.parts
        if part.kind == "sentences"
        for row in sentences_of(blobs, part, wanted).to_pylist()
    }
    corrected = _corrected_texts(blobs, version.parts, sentences)
    audio = {(row["call"], row["channel"]): row for row in _rows(blobs, version.parts, "audio")}
    found = []
    for row in rows.to_pylist():
        sentence = sentences.get(row["id"])
        if sentence is None:
            continue
        # Two voices that share a channel of audio are both on the first.
        sound = audio.get((row["call"], sentence["channel"])) or audio.get((row["call"], 0), {})
        found.append(
            {
                **row,
                **{
                    name: sentence[name] for name in ("role", "queue", "site", "medium", "start_ms", "end_ms", "before")
                },
                "text": corrected.get(row["id"], sentence["text"]),
                "recognised": "" if version.source == "import" else sentence["text"],
                "codec": sound.get("codec", ""),
                "rate": sound.get("rate", 0),
                "audio": sound.get("sha256", ""),
            }
        )
    return pa.Table.from_pylist(found, JOINED)


def sentences_of(blobs: BlobStore, part: Part, ids: pa.Array) -> pa.Table:
    """Those of a part's sentences that are wanted, each with the one before it in its call."""
    table = blobs.table(part.sha256)
    return with_before(table).filter(pc.is_in(table["id"], ids))


def with_before(table: pa.Table) -> pa.Table:
    """Sentences of a call stand in the order in which they were said."""
    if not table.num_rows:
        return table.append_column("before", pa.array([], TEXT))
    calls, texts = (table[name].combine_chunks() for name in ("call", "text"))
    same = pc.equal(calls.slice(1), calls.slice(0, len(calls) - 1))
    before = pc.if_else(same, texts.slice(0, len(texts) - 1), pa.scalar(None, TEXT))
    return table.append_column("before", pa.chunked_array([pa.nulls(1, TEXT), before]))


def _corrected_texts(blobs: BlobStore, parts: Iterable[Part], sentences: dict[str, Any]) -> dict[str, str]:
    """The words as people put them right: the newest label; one by the call's own agent only where nobody else made
    one."""
    best: dict[str, tuple[bool, float, str]] = {}
    for row in _rows(blobs, parts, "labels"):
        sentence = sentences.get(row["sentence"])
        if sentence is not None and row["kind"] == "text" and not row["held"]:
            rank = (row["author"] != sentence["agent"], row["at"], row["value"])
            best[row["sentence"]] = max(rank, best.get(row["sentence"], rank))
    return {sentence: value for sentence, (_, _, value) in best.items()}


def _rows(blobs: BlobStore, parts: Iterable[Part], kind: str) -> Iterator[dict[str, Any]]:
    for part in parts:
        if part.kind == kind:
            yield from blobs.table(part.sha256).to_pylist()
