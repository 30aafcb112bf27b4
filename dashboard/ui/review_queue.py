"""A reviewer's desk: what waits, what was skipped, and what can be taken back. One a person, session and kind."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from storage import review
from storage.database import Database
from storage.review import Answered, Chosen, Kind, Looked
from storage.viewer import Viewer

REFILL = 20


@dataclass(slots=True)
class Given:
    """An answer, for as long as it can be taken back."""

    chosen: Chosen
    value: str
    answered: Answered


@dataclass(slots=True)
class Desk:
    kind: Kind
    waiting: deque[Chosen] = field(default_factory=deque)
    put_aside: set[str] = field(default_factory=set)
    """Sentences skipped, and those answered: not to be offered again."""
    given: list[Given] = field(default_factory=list)
    shown: str = ""
    shown_at: float = 0.0

    def current(self, database: Database, viewer: Viewer) -> tuple[Chosen, Looked] | None:
        """The sentence to look at now; None when there is none left."""
        with database.session() as session:
            while True:
                if not self.waiting:
                    self.waiting.extend(review.queue(session, viewer, self.kind, REFILL, self.put_aside))
                if not self.waiting:
                    return None
                chosen = self.waiting[0]
                looked = review.look(session, viewer, chosen.sentence)
                if looked is not None:
                    break
                self.skip()  # erased meanwhile
        if self.shown != chosen.sentence:
            self.shown, self.shown_at = chosen.sentence, time.monotonic()
        return chosen, looked

    def answer(self, database: Database, viewer: Viewer, value: str) -> None:
        chosen = self.waiting[0]
        with database.session() as session:
            took = time.monotonic() - self.shown_at
            answered = review.answer(session, viewer, chosen.sentence, self.kind, value, took)
        self.given.append(Given(chosen, value, answered))
        self.skip()

    def skip(self) -> None:
        self.put_aside.add(self.waiting.popleft().sentence)

    def undo(self, database: Database, viewer: Viewer) -> None:
        """Take the last answer back and look at its sentence again."""
        if not self.given:
            return
        last = self.given.pop()
        with database.session() as session:
            review.undo(session, viewer, last.answered.label)
        self.put_aside.discard(last.chosen.sentence)
        self.waiting.appendleft(last.chosen)
