"""Where something of a person is kept: one list, for those who delete it and for those who hand it out.

A table with a column `call` belongs to its call. The others are named here, with what of them is about these calls or
this customer. Beside the tables there are recordings, the archive with its snapshots and datasets, and the bus.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import ColumnElement, String, Table, cast, or_, select
from sqlmodel import Session, SQLModel, col

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.archive.erasures import tables_at
from storage.archive.sealing.place import ArchivePlace
from storage.place import Place
from storage.recorder.store import SUFFIX, recording_name
from storage.tables import ArchiveKey, Audit, Call, Customer, SavedSearch
from tenor.bus import Bus, Partition
from tenor.errors import BadInput
from tenor.events import AUDIO, TOPICS, AudioChunk, Event, Unreadable
from tenor.settings import Settings


def tables_of_calls() -> list[Table]:
    """Those whose rows belong to a call, but for the keys that seal the archive: they are no data, and go with its
    part."""
    every = SQLModel.metadata.sorted_tables
    return [table for table in every if "call" in table.c and table.name != ArchiveKey.__tablename__]


def about(session: Session, calls: Collection[str], customer: str = "") -> dict[str, ColumnElement[bool]]:
    """By table, which rows are about these calls, or about the customer whose calls these are."""
    customers = {customer} if customer else customers_of(session, calls)
    trail = [audit_of(call) for call in calls] + ([col(Audit.subject) == customer] if customer else [])
    found: dict[str, ColumnElement[bool]] = {table.name: table.c.call.in_(calls) for table in tables_of_calls()}
    found["calls"] = col(Call.id).in_(calls)
    found["customers"] = col(Customer.id).in_(customers)
    found["searches"] = col(SavedSearch.id).in_([one.id for one in searches_about(session, {*calls, *customers})])
    found["audit"] = or_(*trail)
    return found


def customers_of(session: Session, calls: Collection[str]) -> set[str]:
    return set(session.scalars(select(col(Call.customer)).where(col(Call.id).in_(calls)))) - {""}


def audit_of(call: str) -> ColumnElement[bool]:
    """Lines of the audit trail about a call."""
    subject, detail = col(Audit.subject), cast(col(Audit.detail), String)
    quoted = msgspec.json.encode(call).decode()[1:-1]
    of_call = subject.startswith(f"{call}/", autoescape=True)
    return or_(subject == call, of_call, detail.contains(quoted, autoescape=True))


def searches_about(session: Session, ids: Collection[str]) -> list[SavedSearch]:
    """Saved searches that ask for one of these calls or customers, or say who they are."""
    names = set(session.scalars(select(col(Customer.display_name)).where(col(Customer.id).in_(ids))))
    words = sorted({*ids, *names} - {""})
    if not words:
        return []
    said = re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in words), re.I)
    return [
        search
        for search in session.scalars(select(SavedSearch))
        if {*search.query.get("call", ()), *search.query.get("customer", ())} & set(ids)
        or said.search(f"{search.name}\n{search.query.get('words', '')}")
    ]


def recording_files(calls: Collection[str], named: Collection[str]) -> list[str]:
    """The files that rows name, and those that a recorder may have made without coming to say so."""
    made = {recording_name(call, form) for call in calls for form in SUFFIX}
    return sorted({*named, *made} - {""})


def archived(settings: Settings, calls: Collection[str]) -> dict[str, pa.Table]:
    """Rows of the archive, its snapshots and its datasets that are of these calls, by kind; each once."""
    folder = Place(settings.learn_url).folder
    if folder is not None and not folder.is_dir():
        return {}  # nothing was ever archived
    place = ArchivePlace(settings)
    blobs = BlobStore(place)
    found: dict[str, dict[str, pa.Table]] = {}
    for sha256, kind in sorted(tables_at(place).items()):
        if not blobs.has(sha256):
            continue
        rows = blobs.table(sha256)
        rows = rows.filter(pc.is_in(rows["call"], tables.texts(calls)))
        if rows.num_rows:
            found.setdefault(kind, {})[sha256] = rows
    return {
        kind: _each_once(pa.concat_tables(parts.values(), promote_options="default")) for kind, parts in found.items()
    }


def sounds(settings: Settings, audio: pa.Table) -> Iterator[tuple[str, bytes]]:
    """The channels of recordings that the archive keeps, as files."""
    blobs = BlobStore(ArchivePlace(settings))
    for row in audio.to_pylist():
        try:
            with blobs.sound(row["sha256"]) as file:
                yield f"{row['call']}-channel-{row['channel']}.flac", file.read()
        except BadInput:
            continue  # its recording was deleted: a snapshot still names it


async def on_the_bus(bus: Bus, calls: Collection[str]) -> dict[str, list[Event]]:
    """What the bus still holds of these calls, by topic. Of raw audio only how much there is: it is in the recording,
    and gone within hours."""
    wanted, found = set(calls), dict[str, list[Event]]()
    for topic in TOPICS:
        for number in range(await bus.partitions(topic)):
            partition = Partition(topic.name, number)
            offset, end = await bus.bounds(partition)
            while offset < end and (records := await bus.fetch(partition, offset)):
                offset = records[-1].offset + 1
                for record in records:
                    if record.key in wanted:
                        try:
                            event = topic.decode(record.value)
                        except Unreadable:
                            continue
                        if topic is AUDIO and isinstance(event, AudioChunk):
                            event = msgspec.structs.replace(event, pcm=b"")
                        found.setdefault(topic.name, []).append(event)
    return found


def _each_once(rows: pa.Table) -> pa.Table:
    seen: set[bytes] = set()
    kept = []
    for row in rows.to_pylist():
        key = msgspec.json.encode(row)
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return pa.Table.from_pylist(kept, rows.schema)
