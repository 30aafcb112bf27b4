"""What the embedded bus and the database share of SQLite: the kinds of its errors, and the switch to WAL mode."""

from __future__ import annotations

import random
import sqlite3
import time


def sqlite_code(error: BaseException | None) -> int:
    """The primary result code, such as sqlite3.SQLITE_BUSY; 0 for what is no error of SQLite."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def switch_to_wal(connection: sqlite3.Connection, patience_s: float) -> None:
    """The switch wants the file for itself and does not wait for it, so processes that start at once try again."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if sqlite_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.002, 0.02))
