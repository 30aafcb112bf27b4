"""What goes wrong with a database: what passes if one waits, what a record is to blame for, and the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError, StatementError

from tenor.errors import BadInput, Refused, TenorError, Unavailable
from tenor.sqlite import sqlite_code

FORMS = "sqlite:///relative/tenor.db, sqlite:////absolute/tenor.db or postgresql://user:password@host:5432/name"
CHOOSE = "name another file with `storage.url`, such as sqlite:///.tenor/tenor.db"

_BLAME_SQLITE = {sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}
_BLAME_POSTGRES = {"22", "23", "54"}
"""Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded."""


@contextmanager
def explaining(url: URL) -> Iterator[None]:
    """Turns what the database says inside the block into what a person understands."""
    try:
        yield
    except SQLAlchemyError as error:
        raise explained(error, url) from error


def shown(url: URL) -> str:
    """The address without its password."""
    return url.render_as_string(hide_password=True)


def blames_data(error: Exception) -> bool:
    """Whether what was to be written is at fault. Anything else is the database's trouble, and may pass."""
    cause = error.orig if isinstance(error, StatementError) else error
    if isinstance(cause, sqlite3.Error):
        return sqlite_code(cause) in _BLAME_SQLITE
    if isinstance(cause, psycopg.Error):
        # Without a state it never reached the server: psycopg refuses NUL in a text, say.
        state = cause.sqlstate
        return state[:2] in _BLAME_POSTGRES if state else isinstance(cause, psycopg.DataError)
    return not isinstance(cause, SQLAlchemyError | OSError)


def explained(error: Exception, url: URL) -> TenorError:
    """What went wrong, and what to do about it."""
    if isinstance(error, TenorError):
        return error
    cause = error.orig if isinstance(error, StatementError) else error
    if isinstance(cause, sqlite3.Error):
        return _explained_sqlite(cause, url)
    if isinstance(cause, psycopg.Error):
        return _explained_postgres(cause, url)
    return Unavailable(f"the database {shown(url)} cannot be used: {cause}")


def _explained_sqlite(error: sqlite3.Error, url: URL) -> TenorError:
    file = url.database
    match sqlite_code(error):
        case sqlite3.SQLITE_NOTADB:
            return BadInput(f"{file} is not a database of Tenor, nor any SQLite file", CHOOSE)
        case sqlite3.SQLITE_CORRUPT:
            return BadInput(
                f"the database {file} is damaged",
                f"stop Tenor and bring it back from a copy; `sqlite3 {file} .recover` saves what can be saved",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return BadInput(f"cannot write the database {file}", f"make the file and its folder writable, or {CHOOSE}")
        case sqlite3.SQLITE_FULL:
            return Unavailable(f"no space left for the database {file}", "free some space on its disk")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Unavailable(
                f"the database {file} is locked by another process",
                "a process that uses it may be stopped (Ctrl-Z) or another program may have it open",
            )
    return Unavailable(f"the database {file} cannot be used: {error}", "check the disk it is on")


def _explained_postgres(error: psycopg.Error, url: URL) -> TenorError:
    state, place = error.sqlstate or "", shown(url)
    said = " ".join(str(error).split())
    user, name = url.username or "(yours)", url.database or "(the user's)"
    if state.startswith("28") or "authentication failed" in said or "no password supplied" in said:
        return Refused(f"PostgreSQL does not let {user!r} in at {place}", "check user and password in `storage.url`")
    if state == "3D000" or ("database" in said and "does not exist" in said):
        return Refused(f"PostgreSQL has no database {name!r} at {place}", f"make it: createdb {name}")
    if "role" in said and "does not exist" in said:
        return Refused(f"PostgreSQL knows no user {user!r} at {place}", f"make one: createuser {user}")
    if state == "42501":
        return Refused(f"{user!r} may not do this in {place}: {said}", f"let {user!r} own the database {name!r}")
    if state == "53100":
        return Unavailable(f"PostgreSQL at {place} has no space left", "free some space on its disk")
    if state == "25006":
        return Refused(f"{place} can only be read", "name the primary server in `storage.url`")
    if isinstance(error, psycopg.OperationalError) and state[:2] in ("", "08", "57"):
        return Unavailable(
            f"no PostgreSQL answers at {place}: {said.rpartition('failed: ')[2][:200]}",
            "start it, or say where it is with `storage.url`",
        )
    return Unavailable(f"the database {place} cannot be used: {said[:300]}")
