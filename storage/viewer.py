"""Who looks: every query about calls takes a viewer, so that what may not be seen is never read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import ColumnElement, and_, or_, text, true
from sqlmodel import col

from storage.tables import LIVE, Call
from tenor.errors import Refused

Role = Literal["agent", "manager", "analyst", "administrator"]
ROLES: tuple[Role, ...] = ("agent", "manager", "analyst", "administrator")


TRAINS: tuple[Role, ...] = ("analyst", "administrator")
"""Who may take snapshots, make datasets and train."""


@dataclass(frozen=True, slots=True)
class Viewer:
    name: str
    role: Role
    session: str = field(default="", compare=False)
    """In which they signed in, where that can be ended."""

    @property
    def sees_all(self) -> bool:
        """An agent sees only their own calls, and those of the assistant that wait for a person."""
        return self.role != "agent"

    @property
    def takes_calls(self) -> bool:
        """Whether they may speak to a shopper in place of the assistant. An analyst only looks."""
        return self.role != "analyst"

    def may_see(self, agent: str, *, waiting: bool = False) -> bool:
        """Whether a call of that agent, or one that waits for any, is this viewer's to see."""
        return self.sees_all or agent == self.name or waiting

    def must_export(self) -> None:
        """Refused to agents: what callers said leaves the house by those who answer for it."""
        if not self.sees_all:
            raise Refused(f"your role, {self.role}, does not export calls")

    def must_erase(self) -> None:
        if self.role != "administrator":
            raise Refused(f"your role, {self.role}, does not erase calls", "ask an administrator")

    def must_train(self, what: str) -> None:
        """Refused, unless this viewer may do what training needs."""
        if self.role not in TRAINS:
            raise Refused(f"your role, {self.role}, does not {what}", f"ask one of these: {', '.join(TRAINS)}")

    def clause(self) -> ColumnElement[bool]:
        """For the WHERE of a query that reads `calls`."""
        return true() if self.sees_all else Call.agent == self.name  # type: ignore[return-value]

    def clause_now(self) -> ColumnElement[bool]:
        """As `clause`, with the calls that wait for a person now."""
        return or_(self.clause(), and_(col(Call.waiting), text(LIVE)))


HOUSE = Viewer("", "administrator")
"""The house itself: commands on this machine."""
