"""Rows of generated calls, written in bulk."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, select
from sqlmodel import SQLModel

from storage.tables import Agent, Customer

BATCH = 2000


def insert(connection: Connection, kind: type[SQLModel], rows: list[dict[str, Any]]) -> None:
    """What a row does not say is as the table has it by default."""
    fields = {name: field for name, field in kind.model_fields.items() if not field.is_required() and name != "id"}
    usual = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    for start in range(0, len(rows), BATCH):
        connection.execute(table_of(kind).insert(), [usual | row for row in rows[start : start + BATCH]])


def insert_people(connection: Connection, agents: list[dict[str, Any]], customers: list[dict[str, Any]]) -> None:
    """Those who are not there yet."""
    kinds: list[tuple[type[SQLModel], str, list[dict[str, Any]]]] = [
        (Agent, "name", agents),
        (Customer, "id", customers),
    ]
    for kind, key, people in kinds:
        known = set(connection.scalars(select(table_of(kind).c[key])))
        insert(connection, kind, [person for person in people if person[key] not in known])


def _insert_new(connection: Connection, kind: type[SQLModel], key: str, people: list[dict[str, Any]]) -> None:
    known = set(connection.scalars(select(table_of(kind).c[key])))
    insert(connection, kind, [person for person in people if person[key] not in known])


def table_of(kind: type[SQLModel]) -> Table:
    return kind.__table__  # type: ignore[attr-defined,no-any-return]
