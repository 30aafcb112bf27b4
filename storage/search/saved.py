"""Searches people keep: each belongs to its owner and has a name."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from sqlalchemy import delete, select
from sqlmodel import Session

from storage.search.query import SearchQuery, checked, from_dict, to_dict
from storage.tables import SavedSearch
from tenor.errors import BadInput

SEARCH = SavedSearch.__table__  # type: ignore[attr-defined]
LONGEST_NAME = 100


class SavedQuery(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    name: str
    query: SearchQuery
    days: int
    """Of how many last days it looks for sentences, from the day it is used; 0: of all."""
    at: float


def save(session: Session, owner: str, name: str, query: SearchQuery, days: int = 0) -> SavedQuery:
    """Keep it under the name; one of that name is replaced."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadInput(f"a saved search needs a name of at most {LONGEST_NAME} characters")
    checked(query)
    session.execute(delete(SEARCH).where(SEARCH.c.owner == owner, SEARCH.c.name == name))
    row = SavedSearch(owner=owner, name=name, query=to_dict(query) | ({"days": days} if days else {}), at=time.time())
    session.add(row)
    session.commit()
    assert row.id is not None
    return SavedQuery(id=row.id, name=name, query=query, days=days, at=row.at)


def saved(session: Session, owner: str) -> list[SavedQuery]:
    """The owner's, by name."""
    rows = session.execute(select(SEARCH).where(SEARCH.c.owner == owner).order_by(SEARCH.c.name))
    return [_read(row) for row in rows]


def forget(session: Session, owner: str, id: int) -> bool:  # noqa: A002
    """Whether there was one of that number, of that owner."""
    gone = session.execute(delete(SEARCH).where(SEARCH.c.owner == owner, SEARCH.c.id == id))
    session.commit()
    return bool(gone.rowcount)  # type: ignore[attr-defined]


def _read(row: Any) -> SavedQuery:
    query = dict(row.query)
    days = query.pop("days", 0)
    return SavedQuery(id=row.id, name=row.name, query=from_dict(query), days=days, at=row.at)
