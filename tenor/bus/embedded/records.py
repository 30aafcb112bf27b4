"""Records in the bus file: appending, reading, and forgetting what is older than its topic keeps."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tenor.bus.embedded.schema import LAST_OFFSET, offset_at, place_of, slot_of

READ_BYTES = 16 * 1024 * 1024
"""A read stops here, so that large events do not fill the memory."""
SWEEP_RECORDS = 1000
"""Records one sweep forgets at most: a transaction of a few milliseconds."""
VACUUM_PAGES = 256
SPARE_PAGES = 1024
"""Free pages the file keeps for the next events; a live bus fills them again."""


class NewRecord(NamedTuple):
    slot: int
    key: str
    value: bytes


class RecordRow(NamedTuple):
    offset: int
    at: float
    key: str
    value: bytes


class ReadRequest(NamedTuple):
    slot: int
    position: int


class ReadResult(NamedTuple):
    """What a slot had to give: rows, and where to read on."""

    slot: int
    rows: list[RecordRow]
    position: int


def append(db: sqlite3.Connection, new: Sequence[NewRecord]) -> tuple[list[int], dict[int, int]]:
    """The offsets the records got, and the new heads of their slots."""
    now = time.time()
    heads: dict[int, int] = {}
    offsets = []
    rows = []
    for slot, key, value in new:
        offset = heads[slot] if slot in heads else head(db, slot)
        heads[slot] = offset + 1
        offsets.append(offset)
        rows.append((place_of(slot, offset), now, key, value))
    db.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
    db.executemany(
        "INSERT INTO heads VALUES (?, ?) ON CONFLICT (slot) DO UPDATE SET next = excluded.next", heads.items()
    )
    return offsets, heads


def head(db: sqlite3.Connection, slot: int) -> int:
    row = db.execute("SELECT next FROM heads WHERE slot = ?", (slot,)).fetchone()
    return int(row[0]) if row else 0


def bounds(db: sqlite3.Connection, slot: int) -> tuple[int, int]:
    """Oldest offset kept, next offset."""
    (place,) = db.execute(
        "SELECT min(place) FROM records WHERE place BETWEEN ? AND ?",
        (place_of(slot, 0), place_of(slot, LAST_OFFSET)),
    ).fetchone()
    following = head(db, slot)
    return (following if place is None else offset_at(place)), following


def read(db: sqlite3.Connection, wants: Sequence[ReadRequest], max_records: int) -> list[ReadResult]:
    """From each slot in turn, at most its share of `max_records`, so that a busy one does not starve the rest."""
    found = []
    left, room = max_records, READ_BYTES
    for index, (slot, position) in enumerate(wants):
        share = -(-left // (len(wants) - index))
        rows = []
        # The head first, in the same snapshot: a slot that gives less than asked is read up to it.
        end = head(db, slot)
        cursor = db.execute(
            "SELECT place, at, key, value FROM records WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
            (place_of(slot, position), place_of(slot, LAST_OFFSET), share),
        )
        for place, at, key, value in cursor:
            rows.append(RecordRow(offset_at(place), at, key, value))
            room -= len(value)
            if room <= 0:
                cursor.close()
                break
        complete = room > 0 and len(rows) < share
        found.append(ReadResult(slot, rows, max(end, position) if complete else rows[-1].offset + 1))
        left -= len(rows)
        if left <= 0 or room <= 0:
            break
    return found


class ExpiredRange(NamedTuple):
    first: int
    last: int


def expired(db: sqlite3.Connection, partitions: int) -> list[ExpiredRange]:
    """Ranges of places that are older than their topic keeps; as much as one sweep takes."""
    now = time.time()
    ranges: list[ExpiredRange] = []
    left = SWEEP_RECORDS
    for topic, retention_s in db.execute("SELECT id, retention_s FROM topics").fetchall():
        for number in range(partitions):
            slot = slot_of(topic, number)
            old = []
            rows = db.execute(
                "SELECT place, at FROM records WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
                (place_of(slot, 0), place_of(slot, LAST_OFFSET), left),
            )
            for place, at in rows:
                if at >= now - retention_s:
                    rows.close()
                    break
                old.append(place)
            if old:
                ranges.append(ExpiredRange(old[0], old[-1]))
                left -= len(old)
                if not left:
                    return ranges
    return ranges


def forget(db: sqlite3.Connection, ranges: Iterable[ExpiredRange]) -> None:
    db.executemany("DELETE FROM records WHERE place BETWEEN ? AND ?", ranges)


def erase(db: sqlite3.Connection, key: str, partition: int) -> int:
    """Delete some of a key's records, overwritten on the disk; how many. 0: there are none left.

    Offsets of others stay as they are. A group that waited for nothing but these has read all there is."""
    deleted = 0
    db.execute("PRAGMA secure_delete = ON")
    try:
        for (topic,) in db.execute("SELECT id FROM topics").fetchall():
            slot = slot_of(topic, partition)
            first, last = place_of(slot, 0), place_of(slot, LAST_OFFSET)
            deleted += db.execute(
                "DELETE FROM records WHERE place IN"
                " (SELECT place FROM records WHERE place BETWEEN ? AND ? AND key = ? LIMIT ?)",
                (first, last, key, SWEEP_RECORDS - deleted),
            ).rowcount
            db.execute(
                "UPDATE commits SET offset = coalesce((SELECT next FROM heads WHERE slot = ?1), offset)"
                " WHERE slot = ?1 AND NOT EXISTS"
                " (SELECT 1 FROM records WHERE place BETWEEN ?2 + commits.offset AND ?3)",
                (slot, first, last),
            )
    finally:
        db.execute("PRAGMA secure_delete = OFF")
    return deleted


def spare_pages(db: sqlite3.Connection) -> int:
    """Free pages beyond what is worth keeping."""
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    return int(free) - max(SPARE_PAGES, (int(pages) - int(free)) // 4)


def give_back(db: sqlite3.Connection) -> None:
    """Cut some free pages off the file."""
    for _ in range(VACUUM_PAGES):
        db.execute("PRAGMA incremental_vacuum(1)")  # Python's module takes one step of it, whatever the number
