"""Tables of the embedded bus, how the file is opened, and what its errors mean.

A record's row id is its place: topic, partition and offset packed in 63 bits, so the table is its own
index and reading a partition is one range scan. Topic and partition together are a slot.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenor.errors import BadInput, TenorError, Unavailable
from tenor.sqlite import sqlite_code, switch_to_wal

APPLICATION_ID = 0x74656E62  # "tenb": tells our files from other people's databases
FORMAT = 1

OFFSET_BITS = 40
PARTITION_BITS = 10
LAST_OFFSET = (1 << OFFSET_BITS) - 1

TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, retention_s INTEGER NOT NULL);
CREATE TABLE heads (slot INTEGER PRIMARY KEY, next INTEGER NOT NULL);
CREATE TABLE records (place INTEGER PRIMARY KEY, at REAL NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL);
CREATE TABLE groups (name TEXT PRIMARY KEY, generation INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE members (
    id TEXT PRIMARY KEY, grp TEXT NOT NULL, topics TEXT NOT NULL, beat REAL NOT NULL, lease_s REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE leases (
    grp TEXT NOT NULL, slot INTEGER NOT NULL, owner TEXT, target TEXT, PRIMARY KEY (grp, slot)
) WITHOUT ROWID;
CREATE TABLE commits (
    grp TEXT NOT NULL, slot INTEGER NOT NULL, offset INTEGER NOT NULL, note TEXT NOT NULL,
    PRIMARY KEY (grp, slot)
) WITHOUT ROWID;
"""


def slot_of(topic: int, partition: int) -> int:
    return topic << PARTITION_BITS | partition


def topic_of(slot: int) -> int:
    return slot >> PARTITION_BITS


def partition_in(slot: int) -> int:
    return slot & ((1 << PARTITION_BITS) - 1)


def place_of(slot: int, offset: int) -> int:
    return slot << OFFSET_BITS | offset


def offset_at(place: int) -> int:
    return place & LAST_OFFSET


def connect(path: Path, timeout_s: float) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA cache_size = -8000")
    db.execute("PRAGMA journal_size_limit = 16777216")  # a burst leaves no big log behind
    return db


def prepare(path: Path, partitions: int, patience_s: float) -> int:
    """Make the file if it is not there; the number of partitions it has."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {path.parent} for the bus: {error.strerror}", CHOOSE) from None
    if path.is_dir():
        raise BadInput(f"the bus file {path} is a folder", CHOOSE)
    db = sqlite3.connect(path, timeout=patience_s, isolation_level=None)
    try:
        # In this order: a process that is making the tables right now sets both in one transaction.
        (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (found,) = db.execute("PRAGMA application_id").fetchone()
        if tables == 0:
            # Both must come before the first table is made, outside of a transaction.
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            switch_to_wal(db, patience_s)
        elif found != APPLICATION_ID:
            raise BadInput(f"{path} is a database, but not a bus of Tenor", CHOOSE)
        db.execute("BEGIN IMMEDIATE")
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):  # nobody was faster
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            db.execute("INSERT INTO settings VALUES ('partitions', ?)", (partitions,))
        db.execute("COMMIT")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise BadInput(f"{path} was written by another version of Tenor (format {version})", CHOOSE)
        (kept,) = db.execute("SELECT value FROM settings WHERE name = 'partitions'").fetchone()
        return int(kept)
    finally:
        db.close()


def topic(db: sqlite3.Connection, name: str, retention_s: int) -> int:
    """The number of a topic, made if it is new; whoever names it last says how long it is kept."""
    db.execute(
        "INSERT INTO topics (name, retention_s) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET retention_s = excluded.retention_s",
        (name, retention_s),
    )
    return topic_number(db, name)


def topic_number(db: sqlite3.Connection, name: str) -> int:
    """The number of a topic, -1 when it is not known."""
    row = db.execute("SELECT id FROM topics WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else -1


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Everything read inside sees the file at one moment."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def state(db: sqlite3.Connection) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Next offset of every slot, generation of every group."""
    heads = db.execute("SELECT slot, next FROM heads").fetchall()
    return heads, db.execute("SELECT name, generation FROM groups").fetchall()


CHOOSE = "name another file with `bus.url`, such as sqlite:///.tenor/bus.db"


def passing(error: sqlite3.Error) -> float | None:
    """How long to wait before trying again, when that can help."""
    match sqlite_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return 0.002
        case sqlite3.SQLITE_FULL:
            return 0.5
    return None


def explained(error: sqlite3.Error, path: Path) -> TenorError:
    """What went wrong with the file, and the way out."""
    match sqlite_code(error):
        case sqlite3.SQLITE_NOTADB:
            return BadInput(f"{path} is not a bus of Tenor, nor any SQLite file", CHOOSE)
        case sqlite3.SQLITE_CORRUPT:
            return BadInput(
                f"the bus file {path} is damaged",
                f"stop Tenor, move {path.name}, {path.name}-wal and {path.name}-shm away and start again; "
                "events not yet handled are lost, what is stored is not",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return BadInput(
                f"cannot write the bus file {path}", f"make {path.parent} and the file writable, or {CHOOSE}"
            )
        case sqlite3.SQLITE_FULL:
            return Unavailable(f"no space left for the bus file {path}", "free some space on its disk")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Unavailable(
                f"the bus file {path} is locked by another process",
                "a process that uses it may be stopped (Ctrl-Z) or another program may have it open",
            )
    return Unavailable(f"the bus file {path} cannot be used: {error}", "check the disk it is on")
