"""The alerts that were raised, of all calls, newest first, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, tuple_
from sqlmodel import Session, col

from storage.tables import Alert, Call
from storage.viewer import Viewer
from tenor.errors import BadInput

LIMIT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFilter:
    """Which alerts; what is empty or None does not matter."""

    rule: str = ""
    severity: str = ""
    escalation: bool | None = None
    agent: str = ""
    queue: str = ""
    site: str = ""
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class AlertPage:
    alerts: list[tuple[Alert, Call]]
    """Each with the call it was raised in."""
    after: str
    """Give this to get the page that follows; empty: there is none."""


def page(
    session: Session, viewer: Viewer, wanted: AlertFilter | None = None, *, after: str = "", limit: int = 50
) -> AlertPage:
    limit = max(1, min(limit, LIMIT))
    place = (col(Alert.at), col(Alert.id))
    query = select(Alert, Call).join(Call, col(Call.id) == col(Alert.call)).where(viewer.clause())
    query = query.where(*_clauses(wanted or AlertFilter()))
    if after:
        query = query.where(tuple_(*place) < tuple_(*_place(after)))
    rows = session.execute(query.order_by(*(column.desc() for column in place)).limit(limit + 1)).all()
    found = [(row[0], row[1]) for row in rows[:limit]]
    return AlertPage(found, f"{found[-1][0].at!r}/{found[-1][0].id}" if len(rows) > limit else "")


def _clauses(wanted: AlertFilter) -> list[Any]:
    given: list[Any] = [
        col(getattr(table, name)) == getattr(wanted, name)
        for table, names in ((Alert, ("rule", "severity")), (Call, ("agent", "queue", "site")))
        for name in names
        if getattr(wanted, name)
    ]
    if wanted.escalation is not None:
        given.append(col(Alert.escalation) == wanted.escalation)
    if wanted.since is not None:
        given.append(col(Alert.at) >= wanted.since)
    if wanted.until is not None:
        given.append(col(Alert.at) < wanted.until)
    return given


def _place(after: str) -> tuple[float, str]:
    at, _, alert = after.partition("/")
    try:
        return float(at), alert
    except ValueError:
        raise BadInput(f"{after!r} is not the end of a page of alerts", "leave `after` empty at first") from None
