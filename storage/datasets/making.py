"""A search, frozen: the sentences it finds now, with the labels they have now, split so that nothing leaks."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import select
from sqlmodel import Session, col

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.archive.lock import changing
from storage.archive.parts import Part
from storage.datasets.manifest import DatasetVersion, checked_name, content_hash, find, save, versions
from storage.datasets.splits import SplitRow, assign, group_of, plain_words
from storage.datasets.trust import KINDS, TrustedLabel, balanced_weights, trusted_labels
from storage.datasets.versions import counts_of, labels_of, rows_table
from storage.db.engine import Database
from storage.place import Place
from storage.search import SearchQuery, sentence_ids
from storage.search.text import known_values, query_from_text
from storage.snapshots.manifest import Snapshot
from storage.snapshots.manifest import find as find_snapshot
from storage.tables import Audit, Call, Sentence
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.settings import Settings

TEXT = "text"
"""The kind of a label that puts the words right: a recogniser learns from it."""
NEEDED = ["id", "call", "customer", "agent", "spoken_at", "start_ms", "text"]


def make(
    database: Database,
    settings: Settings,
    name: str,
    search: str,
    *,
    snapshot: str,
    by: str,
    viewer: Viewer = HOUSE,
    unlabelled: bool = False,
    samples: bool = True,
    frozen: Collection[str] = (),
) -> DatasetVersion:
    """The next version of a dataset: what `search` finds, as the snapshot holds it. `unlabelled`: also sentences that
    nobody labelled; `samples`: also calls that were made up; `frozen`: sentences to measure with, as plain words, which
    are never trained on. The newest version, if nothing has changed."""
    query = check_search(database, settings, name, search, viewer)
    with database.session() as session:
        ids = sentence_ids(session, viewer, query)
        if not samples:
            ids -= made_up_sentences(session)
    with changing(settings) as place:
        taken = find_snapshot(place, snapshot)
        experts = settings.learn.experts
        found = _rows(place, taken, ids, unlabelled=unlabelled, frozen=frozen, experts=experts)
        if not found.rows:
            hint = "label some on Review, or take all with --all" if ids else "try the search on the Search page"
            raise BadInput(f"no sentence that the search finds has a label ({len(ids)} found)", hint)
        blobs = BlobStore(place)
        table = rows_table(found.rows)
        rows = blobs.put(blobs.table_bytes(table))
        there = versions(place, name)
        hashed = content_hash(rows, found.parts)
        if there and (newest := find(place, f"{name}@{there[-1]}")).hash == hashed:
            return newest
        made = DatasetVersion(
            name=name,
            version=there[-1] + 1 if there else 1,
            parent=there[-1] if there else None,
            made_at=time.time(),
            by=by,
            source="search",
            query=search,
            snapshot=snapshot,
            hash=hashed,
            rows=rows,
            parts=found.parts,
            counts=counts_of(table),
            left_out=found.left_out,
            labels=labels_of(table),
            bytes=sum(part.bytes + part.below for part in found.parts),
        )
        save(place, made)
    with database.begin() as session:
        detail = {"dataset": made.reference, "rows": table.num_rows}
        session.add(Audit(at=made.made_at, who=by, action="dataset.made", subject=made.reference, detail=detail))
    return made


def check_search(database: Database, settings: Settings, name: str, search: str, viewer: Viewer = HOUSE) -> SearchQuery:
    """What can be wrong before anything is read or archived; BadInput tells it."""
    viewer.must_train("make datasets")
    checked_name(name)
    with database.session() as session:
        return query_from_text(search, known_values(session, settings))


def made_up_sentences(session: Session) -> set[str]:
    """Of sample calls, whose labels are nobody's."""
    of_calls = select(col(Sentence.id)).join(Call, col(Call.id) == col(Sentence.call))
    return set(session.scalars(of_calls.where(col(Call.sample))))


class _FrozenRows(msgspec.Struct):
    rows: list[dict[str, Any]]
    parts: tuple[Part, ...]
    left_out: dict[str, int]


def _rows(
    place: Place,
    snapshot: Snapshot,
    ids: set[str],
    *,
    unlabelled: bool,
    frozen: Collection[str],
    experts: Collection[str],
) -> _FrozenRows:
    blobs = BlobStore(place)
    wanted = tables.texts(ids)
    said = list(_sentences(blobs, snapshot.parts, wanted))
    agents = {row["id"]: row["agent"] for _, row in said}
    label_parts = [part for part in snapshot.parts if part.kind == "labels"]
    labelled = {part.place: list(_labels(blobs, part, wanted)) for part in label_parts}
    labels = trusted_labels((row for own in labelled.values() for row in own), agents, experts)
    texts = {
        place: {row["sentence"] for row in own if row["kind"] == TEXT and not row["held"]}
        for place, own in labelled.items()
    }
    corrected = set().union(*texts.values())
    kept = [(day, row, _of(labels, row["id"])) for day, row in said]
    kept = [one for one in kept if unlabelled or one[2] or one[1]["id"] in corrected]
    began = {row["call"]: row["spoken_at"] - row["start_ms"] / 1000 for _, row in said}
    result = assign(
        [
            SplitRow(
                call=row["call"],
                group=group_of(row["customer"], row["call"]),
                at=round(began[row["call"]], 3),
                words=plain_words(row["text"]),
                trusted=any(label.measures for label in own.values()),
            )
            for _, row, own in kept
        ],
        frozen,
    )
    weights = balanced_weights([_weight(own) for _, _, own in kept])
    rows, days = [], set()
    for (day, row, own), split, weight in zip(kept, result.splits, weights, strict=True):
        if split:
            days.add(day)
            rows.append(_row(row, own, split, weight, round(began[row["call"]], 3)))
    rows.sort(key=lambda row: (row["at"], row["id"]))
    parts = tuple(
        msgspec.structs.replace(part, stamp="")
        for part in snapshot.parts
        if (part.kind in ("sentences", "audio") and part.key in days) or texts.get(part.place)
    )
    return _FrozenRows(rows, parts, result.left_out)


def _row(row: dict[str, Any], own: dict[str, TrustedLabel], split: str, weight: float, at: float) -> dict[str, Any]:
    measured = {kind: label for kind, label in own.items() if split != "holdout" or label.measures}
    return {
        "id": row["id"],
        "call": row["call"],
        "group": group_of(row["customer"], row["call"]),
        "split": split,
        **{column: measured[kind].value if kind in measured else None for kind, column in KINDS.items()},
        "why": next((label.why for label in measured.values()), ""),
        "people": max((label.people for label in measured.values()), default=0),
        "weight": weight,
        "at": at,
    }


def _weight(own: dict[str, TrustedLabel]) -> tuple[float, tuple[str, ...]]:
    """As far as people agree, and who they are."""
    share = min((label.sure for label in own.values()), default=1.0)
    return share, tuple(sorted({author for label in own.values() for author in label.authors}))


def _of(labels: dict[tuple[str, str], TrustedLabel], sentence: str) -> dict[str, TrustedLabel]:
    return {kind: labels[sentence, kind] for kind in KINDS if (sentence, kind) in labels}


def _sentences(blobs: BlobStore, parts: tuple[Part, ...], ids: pa.Array) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in parts:
        if part.kind == "sentences":
            table = blobs.table(part.sha256, NEEDED)
            for row in table.filter(pc.is_in(table["id"], ids)).to_pylist():
                yield part.key, row


def _labels(blobs: BlobStore, part: Part, ids: pa.Array) -> Iterator[dict[str, Any]]:
    table = blobs.table(part.sha256)
    yield from table.filter(pc.is_in(table["sentence"], ids)).to_pylist()
