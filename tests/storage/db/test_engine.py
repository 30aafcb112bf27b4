"""Reading and writing at once: nobody is turned away, nothing is half written."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select
from sqlmodel import col

from storage.db.engine import Database
from storage.tables import Agent, Audit
from tests.storage.writing import rows


def test_who_read_first_may_write_later(database: Database) -> None:
    """Somebody else wrote in between."""
    with database.session() as slow:
        assert slow.execute(select(func.count()).select_from(Audit)).scalar_one() == 0
        with database.begin() as quick:
            quick.add(Audit(at=1.0, who="quick", action="x"))
        slow.add(Audit(at=2.0, who="slow", action="x"))
        slow.commit()
    assert {row["who"] for row in rows(database, "audit")["audit"].values()} == {"quick", "slow"}


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    def breaks_off() -> None:
        with database.begin() as session:
            session.add(Audit(at=1.0, who="a", action="x"))
            session.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        breaks_off()
    with database.session() as session:
        session.add(Audit(at=1.0, who="b", action="x"))
        session.flush()
        session.rollback()
    assert rows(database, "audit")["audit"] == {}


def test_many_write_at_once(database: Database) -> None:
    """What one reads in its transaction no other changes."""
    with database.begin() as session:
        session.add(Agent(name="count", display_name="0"))

    def count() -> None:
        for _ in range(20):
            with database.begin() as session:
                agent = session.scalars(select(Agent).where(col(Agent.name) == "count").with_for_update()).one()
                agent.display_name = str(int(agent.display_name) + 1)
                session.add(agent)

    threads = [threading.Thread(target=count) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(database, "agents")["agents"]["count"]["display_name"] == "100"
