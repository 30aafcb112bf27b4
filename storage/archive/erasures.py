"""Erasing calls from a place: every blob that holds one is rewritten without it, once for all who name the blob.

    1  tables that hold the calls are written anew without them
    2  `erasures.jsonl` says which blob stands in the place of which, for the second place to follow
    3  the archive's state, snapshots and datasets name the new blobs; what they named stays on record as an amendment
    4  the day's tables of turns are written anew
    5  blobs that nobody names any more are deleted

Killed in between, doing it again completes it: the same rows make the same blobs.

Where nothing can be rewritten, the calls' keys were deleted before: here is only counted what can no longer be read.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
import pyarrow.compute as pc

from storage.archive import references, tables, turn_days
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.parts import FOLDER as STATES
from storage.archive.parts import Amendment, newest
from storage.archive.sealing.tables import blocks_of, is_sealed
from storage.place import Place
from tenor.errors import BadInput

LOG = "erasures.jsonl"
ROWS = "rows"
"""The kind of a dataset's own table."""


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """One blob in the place of another."""

    receipt: str
    at: float
    kind: str
    old: str
    new: str
    bytes: int
    rows: int
    calls: int
    below: int
    removed: int


class PlaceErasure(msgspec.Struct, kw_only=True):
    """What was done at one place."""

    rows: int = 0
    audio: int = 0
    """Channels of recordings."""
    datasets: list[str] = []
    """Those that held one of the calls: NAME@N."""
    readable: int = 0
    """Tables that hold one of the calls unsealed, where nothing can be rewritten."""


def erase_at(place: Place, calls: Collection[str], receipt: str, keys: Collection[str] = ()) -> PlaceErasure:
    """For who holds the lock. A blob that is damaged is told by name when all others are done: what it holds cannot be
    known. `keys`: the ids of the calls' keys, which are deleted already."""
    done = PlaceErasure()
    blobs = BlobStore(place)
    replaced: dict[str, Replacement] = {}
    sealed: set[str] = set()
    damaged: list[str] = []
    for sha256, kind in sorted(tables_at(place).items()):
        if not blobs.has(sha256):
            continue
        try:
            content = blobs.get(sha256)
        except BadInput:
            damaged.append(sha256)
            continue
        if is_sealed(content):
            found = blocks_of(content)
            rows = pc.sum(found.filter(pc.is_in(found["key"], tables.texts(keys)))["rows"]).as_py() or 0
            _count(done, kind, rows)
            sealed |= {sha256} if rows else set()
            continue
        if not pc.any(pc.is_in(tables.from_bytes(content, ["call"])["call"], tables.texts(calls))).as_py():
            continue
        if place.worm:
            done.readable += 1
            continue
        whole = tables.from_bytes(content)
        left = tables.without(whole, calls)
        made = tables.to_bytes(left)
        removed = whole.num_rows - left.num_rows
        replaced[sha256] = Replacement(
            receipt=receipt, at=time.time(), kind=kind, old=sha256, new=blobs.put(made), bytes=len(made),
            rows=left.num_rows, calls=len(tables.calls_in(left)), removed=removed,
            below=sum(left["bytes"].to_pylist()) if kind == "audio" else 0,
        )  # fmt: skip
        _count(done, kind, removed)
    if replaced:
        _log(place, replaced.values())
        done.datasets = follow(place, replaced)
    done.datasets += [_reference(name) for name, names in references.manifests(place) if names.rows in sealed]
    if damaged:
        raise BadInput(
            f"blob {damaged[0]} at {place.url} is damaged, so what it holds of the call is not known",
            f"bring it back from the second place or a backup, or delete {blob_name(damaged[0])}; then erase again",
        )
    if place.worm:
        return done
    for name in place.names(turn_days.FOLDER):  # also one that a kill left behind its blob
        _rewrite_day(place, name, blobs)
    references.sweep(place)
    return done


def follow(place: Place, replaced: dict[str, Replacement]) -> list[str]:
    """Have all manifests name the new blobs; the datasets among them."""
    datasets = []
    for name, names in references.manifests(place):
        wanted = {part.sha256 for part in names.parts} | {names.rows}
        if not wanted & replaced.keys():
            continue
        manifest: dict[str, Any] = msgspec.json.decode(place.read(name))
        amendments = [_amended(part, replaced) for part in manifest.get("parts", ()) if part["sha256"] in replaced]
        if names.rows in replaced:
            new = replaced[names.rows]
            amendments.append(_amendment(new, ROWS, ""))
            manifest["rows"] = new.new
            datasets.append(_reference(name))
        if not name.startswith(f"{STATES}/"):
            manifest.setdefault("amendments", []).extend(msgspec.to_builtins(amendments))
        place.write(name, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return datasets


def resolved(replaced: dict[str, Replacement]) -> dict[str, Replacement]:
    """With what finally stands in the place of each, where one was replaced again."""
    final = {}
    for old, step in replaced.items():
        removed = step.removed
        while step.new in replaced and step.new != step.old:
            step = replaced[step.new]
            removed += step.removed
        final[old] = msgspec.structs.replace(step, old=old, removed=removed)
    return final


def logged(place: Place) -> list[Replacement]:
    """All replacements that were ever made there, oldest first."""
    try:
        lines = place.read(LOG).splitlines()
    except FileNotFoundError:
        return []
    try:
        return [msgspec.json.decode(line, type=Replacement) for line in lines if line.strip()]
    except msgspec.MsgspecError as error:
        raise BadInput(f"{LOG} at {place.url} cannot be read: {error}") from None


def log_all(place: Place, all_of_them: Iterable[Replacement]) -> None:
    place.write(LOG, b"".join(msgspec.json.encode(one) + b"\n" for one in all_of_them))


def _log(place: Place, new: Iterable[Replacement]) -> None:
    log_all(place, [*logged(place), *new])


def tables_at(place: Place) -> dict[str, str]:
    """Blobs that are tables with a column of calls, and of which kind."""
    found: dict[str, str] = {}
    for _, names in references.manifests(place):
        found |= {part.sha256: part.kind for part in names.parts if part.kind in tables.SCHEMAS}
        found |= {names.rows: ROWS} if names.rows else {}
    return found


def _count(done: PlaceErasure, kind: str, rows: int) -> None:
    done.rows += rows if kind not in ("audio", ROWS) else 0
    done.audio += rows if kind == "audio" else 0


def _reference(name: str) -> str:
    """Of a dataset, by the name of its file."""
    return name.removeprefix("datasets/").removesuffix(".json").replace("/", "@")


def _amended(part: dict[str, Any], replaced: dict[str, Replacement]) -> Amendment:
    new = replaced[part["sha256"]]
    part.update(sha256=new.new, bytes=new.bytes, rows=new.rows, calls=new.calls, below=new.below)
    return _amendment(new, part["kind"], part["key"])


def _amendment(new: Replacement, kind: str, key: str) -> Amendment:
    return Amendment(receipt=new.receipt, at=new.at, kind=kind, key=key, old=new.old, new=new.new, rows=new.removed)


def _rewrite_day(place: Place, name: str, blobs: BlobStore) -> None:
    day = name.rpartition("/")[2].removesuffix(".csv")
    part = next((part for part in newest(place).parts if part.place == ("turns", day)), None)
    empty = tables.TURNS.empty_table()
    rows = tables.from_bytes(blobs.get(part.sha256)) if part and blobs.has(part.sha256) else empty
    turn_days.write_day(place, day, rows)
