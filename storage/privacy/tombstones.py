"""Calls that were erased for good. The bus may still hold their events for days: whoever writes asks here first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sqlalchemy import bindparam, func, select
from sqlmodel import Session, col

from storage.tables import Tombstone

LOCK = 0x6572617365  # "erase": PostgreSQL's lock between those who write calls and those who erase them

_MARKED = select(col(Tombstone.fingerprint)).where(col(Tombstone.fingerprint).in_(bindparam("marks", expanding=True)))


def fingerprint(call: str) -> str:
    """What is kept of an erased call: enough to know its id again, not enough to tell it."""
    return hashlib.sha256(call.encode("utf-8", "surrogatepass")).hexdigest()


def is_erased(session: Session, call: str) -> bool:
    return session.get(Tombstone, fingerprint(call)) is not None


def which(session: Session, calls: Iterable[str]) -> set[str]:
    """Those of the calls that were erased."""
    by_mark = {fingerprint(call): call for call in calls}
    found = session.connection().execute(_MARKED, {"marks": list(by_mark)}).scalars()
    return {by_mark[mark] for mark in found}


def hold_off(session: Session) -> None:
    """Who writes calls: nothing is erased until this transaction ends. SQLite has one writer at a time anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock_shared(LOCK)))


def mark(session: Session, call: str, at: float) -> None:
    """Who erases a call: in the transaction that deletes its rows, before it does. Waits for those who write."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(LOCK)))
    if not is_erased(session, call):
        session.add(Tombstone(fingerprint=fingerprint(call), erased_at=at))
        session.flush()
