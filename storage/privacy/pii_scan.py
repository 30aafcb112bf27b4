"""Going over everything that is kept for personal data that should not be there, and masking it in place."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator

from sqlalchemy import func, select, update
from sqlmodel import col

from storage.db.engine import Database
from storage.privacy.call_text import PiiFindings, read
from storage.privacy.erasure import UNFINISHED
from storage.privacy.scan_report import ScanTotals
from storage.tables import Audit, Call
from tenor.redaction import KINDS, Redactor

PIECE = 20
"""Calls that are in memory at the same time."""

Advance = Callable[[int], None]


def count(database: Database, since: float = 0.0) -> int:
    """Calls that there are to look at."""
    with database.session() as session:
        query = select(func.count()).select_from(Call).where(col(Call.started_at) >= since)
        return int(session.execute(query).scalar_one())


def scan(
    database: Database,
    redactor: Redactor,
    *,
    kinds: Container[str] = KINDS,
    since: float = 0.0,
    prevented: frozenset[str] = frozenset(),
    advance: Advance = lambda _: None,
) -> ScanTotals:
    """Look for these kinds in the calls begun `since` then. `prevented`: kinds that redaction takes out where it is
    on."""
    totals = ScanTotals(prevented)
    for ids in _pieces(database, since):
        with database.session() as session:
            for call_text in read(session, ids):
                totals.add(call_text, call_text.found(redactor, kinds))
        advance(len(ids))
    return totals


class MaskResult:
    """What was done."""

    def __init__(self) -> None:
        self.calls = 0
        self.rows: Counter[str] = Counter()
        self.left: list[str] = []
        """Calls that are not over: the stages may still write them anew."""


def mask(
    database: Database,
    redactor: Redactor,
    totals: ScanTotals,
    *,
    by: str,
    kinds: Container[str] = KINDS,
    advance: Advance = lambda _: None,
) -> MaskResult:
    """Mask what was found, call by call; each is masked as a whole or not at all, with a line in the audit trail.

    The bytes are gone after `vacuum.compact`."""
    masked = MaskResult()
    for call in totals.affected_calls():
        with database.session() as session:
            texts = list(read(session, [call]))
        for call_text in texts:  # none if it was erased meanwhile
            if call_text.call.state in UNFINISHED:
                masked.left.append(call)
                continue
            rows = _write(database, call, call_text.found(redactor, kinds), by)
            masked.calls += bool(rows)
            masked.rows.update(rows)
        advance(1)
    return masked


def _write(database: Database, call: str, found: PiiFindings, by: str) -> Counter[str]:
    """A row that somebody else changed in the meantime is left for the next time."""
    rows: Counter[str] = Counter()
    with database.begin() as session:
        for table, row, guard, values in found.changes:
            there = update(table).where(table.c.id == row)
            done = session.execute((there if guard is None else there.where(guard)).values(**values))
            rows[table.name] += done.rowcount  # type: ignore[attr-defined]
        if +rows:
            kinds: Counter[str] = Counter()
            for (_, kind), number in found.finds.items():
                kinds[kind] += number
            detail = {"rows": dict(+rows), "found": dict(+kinds)}
            session.add(Audit(at=time.time(), who=by, action="call.redacted", subject=call, detail=detail))
    return +rows


def _pieces(database: Database, since: float) -> Iterator[list[str]]:
    last = ""
    while True:
        query = select(col(Call.id)).where(col(Call.id) > last, col(Call.started_at) >= since)
        with database.session() as session:
            ids = list(session.scalars(query.order_by(col(Call.id)).limit(PIECE)))
        if not ids:
            return
        yield ids
        last = ids[-1]
