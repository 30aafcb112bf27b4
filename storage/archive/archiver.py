"""Bringing the archive up to date: each day that changed is written anew, in one step that a kill cannot tear apart.

    for every kind and day whose stamp in the database is not the one of the archive's part:
        rows of the day from the database + rows of calls that the database no longer has
        -> blob (nothing to do, if those bytes are there)  -> the archive's next state
    blobs that nobody names any more are deleted

Killed in between, the next run finds the stamp of the day before and does it again, with the same bytes.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlmodel import Session

from storage.archive import days, tables
from storage.archive.audio import audio_table
from storage.archive.blobs import BlobStore
from storage.archive.expiry import expire
from storage.archive.lock import changing
from storage.archive.parts import ArchiveState, Kind, Part, in_order, newest, publish
from storage.archive.references import sweep
from storage.archive.sealing.place import ArchivePlace
from storage.archive.turn_days import write_day
from storage.db.engine import Database
from storage.place import Place
from storage.recorder.store import RecordingStore
from tenor.errors import BadInput
from tenor.settings import Settings

Progress = Callable[[int, int, str], None]
"""Days done, days to do, and what is being written."""


class ArchiveCounts(msgspec.Struct, kw_only=True):
    """What one run did, and what the archive holds after it."""

    changed_days: int = 0
    new_blobs: int = 0
    new_bytes: int = 0
    deleted_blobs: int = 0
    expired_calls: int = 0
    """Past `learn.keep_days`, and taken out."""
    faults: list[str] = []
    """Days that were left as they are, since a blob of theirs is damaged or missing."""
    calls: int = 0
    sentences: int = 0
    labels: int = 0
    turns: int = 0
    audio: int = 0
    """Channels of recorded calls."""
    bytes: int = 0


def archive(database: Database, settings: Settings, progress: Progress = lambda *_: None) -> ArchiveCounts:
    """Write what changed since last time. Can be killed at any moment, and done again."""
    counts = ArchiveCounts()
    _check_sealing(settings)
    with database.session() as session:
        wanted = days.stamps(session, audio=settings.learn.audio)
        known = {part.place: part for part in newest(Place(settings.learn_url)).parts}
        changed = [place for place in sorted(wanted) if place not in known or known[place].stamp != wanted[place]]
        # Days of which the database has nothing any more: their calls may have been erased, or were made-up ones.
        changed += [place for place in sorted(known) if place not in wanted and known[place].stamp]
        for number, (kind, day) in enumerate(changed):
            progress(number, len(changed), f"{kind} of {day}")
            with changing(settings) as place:  # of one day only: an erasure need not wait for all of them
                try:
                    _step(session, settings, place, kind, day, wanted.get((kind, day), ""), counts)  # type: ignore[arg-type]
                except BadInput as error:
                    counts.faults.append(f"{kind} of {day}: {error.message}; {error.hint}")
            session.rollback()  # the next day is read as it is then
        progress(len(changed), len(changed), "")
    if changed:
        with changing(settings) as place:
            counts.deleted_blobs = sweep(place)
    try:
        counts.expired_calls = expire(settings)
    except BadInput as error:
        counts.faults.append(f"calls past their time: {error.message}; {error.hint}")
    counts.changed_days = len({day for _, day in changed})
    _total(counts, newest(Place(settings.learn_url)))
    return counts


def _step(
    session: Session, settings: Settings, place: ArchivePlace, kind: Kind, day: str, stamp: str, counts: ArchiveCounts
) -> None:
    state = newest(place)
    blobs = BlobStore(place)
    before = next((part for part in state.parts if part.place == (kind, day)), None)
    kept = blobs.table(before.sha256) if before else tables.SCHEMAS[kind].empty_table()
    if kind == "audio":
        calls = days.recorded_calls(session, day)
        _, erased = days.calls_there(session, {call.id for call in calls})
        fresh = audio_table(
            [call for call in calls if call.id not in erased], kept, RecordingStore(settings), blobs, lambda: None
        )
    else:
        fresh = {"sentences": days.sentences_of, "labels": days.labels_of, "turns": days.turns_of}[kind](session, day)
    rows = joined(session, fresh, kept)
    parts = {part.place: part for part in state.parts}
    if rows.num_rows or stamp:
        content = blobs.table_bytes(rows)
        parts[kind, day] = Part(
            kind=kind,
            key=day,
            sha256=blobs.put(content),
            bytes=len(content),
            rows=rows.num_rows,
            calls=len(tables.calls_in(rows)),
            below=sum(rows["bytes"].to_pylist()) if kind == "audio" else 0,
            stamp=stamp,
        )
    else:
        parts.pop((kind, day), None)
    if kind == "turns" and not place.worm:  # words that anybody can read could not be erased there
        write_day(place, day, rows)
    publish(
        place,
        ArchiveState(
            number=state.number + 1, origin=state.origin or secrets.token_hex(8), at=time.time(),
            parts=in_order(parts.values()), sealed=place.worm,
        ),
    )  # fmt: skip
    counts.new_blobs += blobs.counts.added
    counts.new_bytes += blobs.counts.added_bytes


def _check_sealing(settings: Settings) -> None:
    """An archive is sealed from its beginning, or not at all: what was written before could not be erased."""
    state = newest(Place(settings.learn_url))
    if state.number and state.sealed != settings.learn.worm:
        began = "sealed, for a place where nothing can be rewritten" if state.sealed else "begun without learn.worm"
        way_out = "set learn.worm" if state.sealed else "name an empty place with learn.url"
        raise BadInput(f"the archive at {settings.learn_url} is {began}", way_out)


def joined(session: Session, fresh: pa.Table, kept: pa.Table) -> pa.Table:
    """What the database says of the calls that it has; of those that are past their time there, what was archived.
    Erased calls are in neither, nor are made-up ones that were removed."""
    there, erased = days.calls_there(session, tables.calls_in(kept) | tables.calls_in(fresh))
    fresh = tables.without(fresh, erased) if erased else fresh
    old = tables.without(kept, there | erased)
    old = old.filter(pc.invert(old["sample"]))
    return pa.concat_tables([fresh, old]) if old.num_rows else fresh


def _total(counts: ArchiveCounts, state: ArchiveState) -> None:
    counts.calls = sum(part.calls for part in state.parts if part.kind == "sentences")
    counts.sentences, counts.labels, counts.turns, counts.audio = (
        sum(part.rows for part in state.parts if part.kind == kind)
        for kind in ("sentences", "labels", "turns", "audio")
    )
    counts.bytes = sum(part.bytes + part.below for part in state.parts)
