"""The database: one engine a process, SQLite or PostgreSQL by URL."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url
from sqlmodel import Session, SQLModel, create_engine

from tenor.settings import Settings


class Database:
    """Open, at the newest schema. `with database.session() as session:` reads; `database.begin()` writes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    def session(self) -> Session:
        return Session(self.engine, expire_on_commit=False)

    def close(self) -> None:
        self.engine.dispose()


def open_database(settings: Settings) -> Database:
    """The database of the settings, made or brought to the newest schema if need be."""
    url = make_url(settings.storage_url)
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare)
    SQLModel.metadata.create_all(engine)
    return Database(engine)


def _prepare(connection: object, _: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]
