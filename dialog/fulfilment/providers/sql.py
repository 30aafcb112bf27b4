"""Any SQL database: an action is a query with parameters, which only reads."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import re
import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from dialog.fulfilment import shapes
from dialog.fulfilment.providers import parameters
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult
from tenor.errors import BadInput

MOST_ROWS = 200
LONGEST_S = 10.0
"""A query that runs longer is stopped in the database, too; the shopper was told before."""
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)", re.IGNORECASE)
_READS = re.compile(r"\s*(?:--[^\n]*\n\s*)*(select|with)\b", re.IGNORECASE)
_STRINGS = re.compile(r"'(?:[^']|'')*'|--[^\n]*")
_WRITES = re.compile(r"\b(insert|update|delete|merge|truncate|drop|alter|create|grant)\b", re.IGNORECASE)


def query_fault(query: str) -> str | None:
    """Why a query cannot be one of an action; the database itself is asked to refuse writing as well."""
    plain = _STRINGS.sub("''", query)
    if ";" in plain.rstrip().rstrip(";"):
        return "one statement, without `;` inside"
    if not _READS.match(query):
        return "a query begins with SELECT or WITH"
    if found := _WRITES.search(plain):
        return f"a query only reads; {found[1].upper()} writes"
    return None


def query_parameters(query: str) -> list[str]:
    return _PARAMETER.findall(_STRINGS.sub("''", query))


class SqlDatabase:
    """One database, with a few connections, shared by its actions."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        try:
            address = make_url(url)
            if address.drivername == "postgresql":
                address = address.set(drivername="postgresql+psycopg")
            self._engine = create_engine(address, pool_pre_ping=True)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            raise BadInput(
                f"provider {name!r}: no database can be reached by this url ({type(error).__name__})",
                "sqlite:///path or postgresql://user@host/name; other databases need their driver installed",
            ) from None
        _read_only(self._engine)

    def rows(self, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Blocks: to be called in a thread."""
        with self._engine.connect() as connection:
            self._guard(connection)
            found = connection.execute(text(query), values)
            return [{name: _plain(value) for name, value in row._mapping.items()} for row in found.fetchmany(MOST_ROWS)]

    def _guard(self, connection: Connection) -> None:
        match self._engine.dialect.name:
            case "postgresql":
                connection.execute(text("SET TRANSACTION READ ONLY"))
                connection.execute(text(f"SET LOCAL statement_timeout = {int(LONGEST_S * 1000)}"))
            case "sqlite":
                until = time.monotonic() + LONGEST_S
                driver: Any = connection.connection.driver_connection
                driver.set_progress_handler(lambda: time.monotonic() > until, 10_000)

    def close(self) -> None:
        self._engine.dispose()


def _read_only(engine: Engine) -> None:
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def connected(driver: Any, _: Any) -> None:
            driver.execute("PRAGMA query_only = ON")


class SqlAction:
    """One query. Its columns are the fields of the result's rows, by their own names or by `fields`."""

    def __init__(self, database: SqlDatabase, action: str, query: str, fields: Mapping[str, str]) -> None:
        self._action = action
        self.source = database.name
        self._database = database
        self._query = query.rstrip().rstrip(";")
        self._parameters = query_parameters(self._query)
        self._fields = dict(fields)

    async def run(self, call: ActionCall) -> ActionResult:
        values = parameters.of(call)
        given = {name: values.get(name) for name in self._parameters}
        try:
            rows = await asyncio.to_thread(self._database.rows, self._query, given)
        except SQLAlchemyError as error:
            raise ActionFailed(f"{self.source}: {type(error).__name__}", retry=True) from None
        named = [{**row, **{name: row.get(column) for name, column in self._fields.items()}} for row in rows]
        return ActionResult(result=shapes.result_of(self._action, call, named), source=self.source)

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)
