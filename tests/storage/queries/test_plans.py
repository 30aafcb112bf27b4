"""What pages ask of a large database goes through indexes, by the plans that its real statistics lead to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from storage.db.engine import Database
from storage.labels import review
from storage.queries import alerts, operations
from storage.viewer import HOUSE
from tests.storage.rows import alert, call, sentence, store

pytestmark = pytest.mark.slow

START = 1_700_000_000.0
RECENT = START + 60 * 295


def test_alerts_operations_and_review_read_only_what_is_new(database: Database) -> None:
    rows: list[Any] = []
    for number in range(300):
        name, at = f"call {number}", START + 60 * number
        rows.append(call(name, state="failed" if number % 60 == 0 else "analysed", started_at=at))
        rows += [sentence(name, 1000 * n, spoken_at=at + n, latency_ms=500.0) for n in range(30)]
        rows += [alert(name, 1000 * n, at=at + n) for n in range(20)]
    store(database, *rows)
    plans: list[str] = []

    def explain(connection: Connection, _: Any, statement: str, given: Any, *__: Any) -> None:
        if not statement.startswith(("EXPLAIN", "ANALYZE")):
            how, column = ("EXPLAIN", 0) if database.is_postgres else ("EXPLAIN QUERY PLAN", 3)
            plans.append("\n".join(row[column] for row in connection.exec_driver_sql(f"{how} {statement}", given)))

    with database.session() as session:
        session.execute(text("ANALYZE"))
        event.listen(session.connection(), "before_cursor_execute", explain)
        first = alerts.page(session, HOUSE)
        second = alerts.page(session, HOUSE, after=first.after)
        assert first.alerts[-1][0].at > second.alerts[0][0].at
        assert operations.latency(session, HOUSE, RECENT).sentences == 150
        assert sum(times for _, times in operations.throughput(session, HOUSE, RECENT, 60)) == 150
        assert len(operations.failed(session, HOUSE, START)) == 5
        assert operations.dead_letters(session, HOUSE, RECENT) == []
        assert review.look(session, HOUSE, "call 7/0/3000") is not None
    assert len(plans) >= 8
    for plan in plans:
        assert not re.search(r"Seq Scan on (sentences|alerts)|SCAN (sentences|alerts)$", plan, re.MULTILINE), plan
