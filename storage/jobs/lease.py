"""One runner per machine: who holds the row of the host, and renews it, starts jobs there."""

from __future__ import annotations

import time
import uuid

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from storage.db.engine import Database
from storage.tables import JobRunner

LEASE_S = 15.0
"""After so long without a word a runner is taken to be dead."""


class RunnerLease:
    """The right to start jobs on this machine. Only processes of one machine compete, so that they have one clock."""

    def __init__(self, database: Database, host: str, capacity: int, lease_s: float = LEASE_S) -> None:
        self._database, self._host, self._capacity, self._lease_s = database, host, capacity, lease_s
        self._holder = uuid.uuid4().hex

    def renew(self) -> bool:
        """Take it, or keep it. False: another runner has it."""
        now = time.time()
        values = {"holder": self._holder, "capacity": self._capacity, "until": now + self._lease_s}
        mine_or_free = (col(JobRunner.holder) == self._holder) | (col(JobRunner.until) < now)
        own = col(JobRunner.host) == self._host
        try:
            with self._database.begin() as session:
                taken = session.execute(update(JobRunner).where(own, mine_or_free).values(**values))
                if taken.rowcount:  # type: ignore[attr-defined]
                    return True
                if session.scalar(select(col(JobRunner.holder)).where(own)) is None:
                    session.execute(insert(JobRunner).values(host=self._host, **values))
                    return True
        except IntegrityError:  # another one was first
            pass
        return False

    def release(self) -> None:
        with self._database.begin() as session:
            own = (col(JobRunner.host) == self._host, col(JobRunner.holder) == self._holder)
            session.execute(delete(JobRunner).where(*own))
