"""The schema's version: which a database has, which we know, and the way from one to the other.

Migrations are the files of storage/db/migrations/versions, in the order of their numbers; a version is such a number.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, Engine, inspect, text

from storage.db.errors import shown
from storage.tables import Call
from tenor.errors import BadInput, Refused

log = structlog.get_logger(__name__)

FOLDER = Path(__file__).parent / "migrations"
LOCK = 0x74656E6F72  # "tenor": the advisory lock under which PostgreSQL's schema is changed
TABLE = "alembic_version"


class Version(NamedTuple):
    """`found` is empty when there is nothing of ours in the database."""

    found: str
    newest: str

    @property
    def current(self) -> bool:
        return self.found == self.newest


def known() -> list[str]:
    """The versions there are, oldest first."""
    return sorted(path.name.partition("_")[0] for path in (FOLDER / "versions").glob("[0-9]*_*.py"))


def version(engine: Engine) -> Version:
    """Refuses a database that a newer Tenor made, and one that is somebody else's."""
    with engine.connect() as connection:
        return _version(connection)


def upgrade(engine: Engine) -> Version:
    """Bring the database to the newest schema. Of several processes that start at once, one does it."""
    before = version(engine)
    if before.current:
        return before
    with engine.execution_options(tenor_writes=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        before = _version(connection)  # again: another process may have been faster
        if not before.current:
            _migrate(connection)
            log.info("database upgraded", database=shown(engine.url), found=before.found, now=before.newest)
    return before


def _version(connection: Connection) -> Version:
    versions = known()
    look = inspect(connection)
    name = shown(connection.engine.url)
    used = look.has_table(
        str(Call.__tablename__)
    )  # before the version: both come at once when another process is faster
    if not look.has_table(TABLE):
        if used:
            raise BadInput(
                f"{name} has a table `{Call.__tablename__}`, but not one of Tenor",
                "name a database of its own with `storage.url`",
            )
        return Version("", versions[-1])
    found = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar() or ""
    if found and found not in versions:
        raise Refused(
            f"the database {name} was made by a newer Tenor: its schema is {found}, we know those up to {versions[-1]}",
            "use that newer version, or name another database with `storage.url`",
        )
    return Version(found, versions[-1])


def _migrate(connection: Connection) -> None:
    from alembic import command  # takes a while to import, and is seldom needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
