"""Compacting the database, so that what was deleted is gone from its files and not only from its tables."""

from __future__ import annotations

import sqlite3

import structlog
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from storage.db.engine import Database
from storage.db.errors import explained
from storage.search import index
from tenor.errors import Unavailable

log = structlog.get_logger(__name__)

TABLES = (
    *("calls", "sentences", "fts_documents", "alerts", "notes", "labels", "scores", "turns"),
    *("customers", "searches", "dead_letters", "audit"),
)


def compact(database: Database) -> list[str]:
    """Rewrite the files without what was deleted. What is beyond our reach comes back as notes for the receipt."""
    try:
        return _compact_postgres(database) if database.is_postgres else _compact_sqlite(database)
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise explained(error, database.engine.url) from error


def _compact_sqlite(database: Database) -> list[str]:
    raw = database.engine.raw_connection()
    try:
        connection = raw.driver_connection
        assert connection is not None
        connection.isolation_level = None  # VACUUM is none of a transaction's business
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("INSERT INTO fts_index (fts_index) VALUES ('rebuild')")
        connection.execute("VACUUM")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()  # waits for those who read
    finally:
        raw.invalidate()  # with its settings
    if busy:
        raise Unavailable(
            f"{database.name} could not be compacted: others are reading it",
            "`tenor erase --compact` does it later, when fewer processes use the database",
        )
    return []


def _compact_postgres(database: Database) -> list[str]:
    notes = ["PostgreSQL's write-ahead log, replicas and backups hold what was deleted until they are recycled"]
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in TABLES:  # FULL writes table and indexes anew; ANALYZE forgets the commonest values it had noted
            connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
        index.rebuild(connection)
        for statement, what in (
            ("VACUUM FULL pg_catalog.pg_statistic", "its old statistics until the server's own vacuum"),
            ("CHECKPOINT", "old files until its next checkpoint"),
        ):
            try:
                connection.exec_driver_sql(statement)
            except DBAPIError as error:  # needs the database's owner, or a superuser
                log.info("not compacted", statement=statement, reason=type(error.orig).__name__)
                notes.append(f"PostgreSQL keeps {what}: {statement} is not ours to say")
    return notes
