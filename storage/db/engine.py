"""The database: one engine a process, SQLite or PostgreSQL by URL, at the newest schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from psycopg.abc import Buffer
from psycopg.types.string import StrDumperUnknown
from sqlalchemy import URL, Connection, Engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlmodel import Session, create_engine

from storage.db import schema
from storage.db.errors import CHOOSE, FORMS, explaining, shown
from tenor.errors import BadInput, TenorError
from tenor.settings import Settings
from tenor.sqlite import switch_to_wal

BUSY_MS = 10_000
"""How long SQLite waits for another process that writes."""
WRITES = {"tenor_writes": True}


class Database:
    """`with database.session() as session:` reads; `with database.begin() as session:` writes, all or nothing."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @property
    def name(self) -> str:
        """The address, without its password."""
        return shown(self.engine.url)

    @property
    def missing(self) -> bool:
        """There is no file yet; asking anything of it would make one."""
        return not self.is_postgres and not Path(self.engine.url.database or "").exists()

    def session(self) -> Session:
        return Session(self.engine, expire_on_commit=False)

    @contextmanager
    def begin(self) -> Iterator[Session]:
        """A transaction that means to write: what it reads stays as it is until it ends (on SQLite because it waits for
        its turn at once, on PostgreSQL as far as it locks)."""
        bound = self.engine.execution_options(**WRITES)
        with Session(bound, expire_on_commit=False) as session, session.begin():
            yield session

    def fault(self) -> str:
        """Why it does not answer; empty: it does."""
        try:
            with explaining(self.engine.url), self.engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except TenorError as error:
            return error.message
        return ""

    def close(self) -> None:
        self.engine.dispose()


def open_database(settings: Settings, *, upgrade: bool = True) -> Database:
    """The database of the settings, made or brought to the newest schema if need be.

    `upgrade=False` leaves it as it is, for those who only want to know how it is."""
    url = _url(settings.storage_url)
    engine = _engine(url)
    try:
        if upgrade:
            _make_folder(url)
            with explaining(url):
                schema.upgrade(engine)
    except BaseException:
        engine.dispose()
        raise
    return Database(engine)


@contextmanager
def using(settings: Settings) -> Iterator[Database]:
    """The database for the length of a command; what goes wrong with it is told as people understand it."""
    database = open_database(settings)
    try:
        with explaining(database.engine.url):
            yield database
    finally:
        database.close()


def _url(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise BadInput("storage.url is no address of a database", f"storage.url is {FORMS}") from None
    backend = url.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise BadInput(f"a database cannot be reached by {backend}://", f"storage.url is {FORMS}")
    if not url.database or url.database == ":memory:":
        raise BadInput(f"{address!r} names no file", f"storage.url is {FORMS}")
    return url.set(drivername="sqlite")


def _make_folder(url: URL) -> None:
    if url.get_backend_name() == "postgresql":
        return
    folder = Path(url.database or "").parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {folder} for the database: {error.strerror}", CHOOSE) from None


def _engine(url: URL) -> Engine:
    """Nothing is connected yet."""
    options: dict[str, Any] = {
        "json_serializer": _to_json,
        "json_deserializer": msgspec.json.decode,
        "hide_parameters": True,  # callers' words do not belong in error messages
    }
    if url.get_backend_name() == "postgresql":
        about = {"connect_timeout": 10, "application_name": "tenor"}
        engine = create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20, connect_args=about, **options)
        event.listen(engine, "connect", _take_any_text)
        return engine
    file = Path(url.database or "")
    if file.is_dir():
        raise BadInput(f"the database {file} is a folder", CHOOSE)
    about = {"timeout": BUSY_MS / 1000, "isolation_level": "IMMEDIATE"}
    engine = create_engine(url, connect_args=about, **options)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class _TextDumper(StrDumperUnknown):
    """PostgreSQL has no character zero: what is asked for with one is nowhere, and what is written has another."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _take_any_text(connection: Any, _: Any) -> None:
    connection.adapters.register_dumper(str, _TextDumper)


def _prepare(connection: Any, _: Any) -> None:
    switch_to_wal(connection, BUSY_MS / 1000)
    for pragma in ("synchronous=NORMAL", "foreign_keys=ON", "journal_size_limit=67108864", "cache_size=-32000"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """What reads needs no transaction: the driver opens one when a session writes after all, and waits for its turn."""
    if connection.get_execution_options().get("tenor_writes"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
