"""A reviewer's queue: what waits, what was skipped, and what can be taken back. One per person, session and kind."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from storage.db.engine import Database
from storage.labels import review
from storage.labels.review import Kind, ReviewedLabel, ReviewItem, SentenceInContext
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.taxonomy.in_force import NamesInForce

REFILL = 20


@dataclass(slots=True)
class GivenAnswer:
    """An answer, for as long as it can be taken back."""

    chosen: ReviewItem
    value: str
    answered: ReviewedLabel


@dataclass(slots=True)
class ReviewQueue:
    kind: Kind
    experts: tuple[str, ...] = ()
    waiting: deque[ReviewItem] = field(default_factory=deque)
    put_aside: set[str] = field(default_factory=set)
    """Sentences skipped, and those answered: not to be offered again."""
    given: list[GivenAnswer] = field(default_factory=list)
    shown: str = ""
    shown_at: float = 0.0
    refused: str = ""
    """Why the last answer was not taken, if it was not."""

    def current(self, database: Database, viewer: Viewer) -> tuple[ReviewItem, SentenceInContext] | None:
        """The sentence to look at now; None when there is none left."""
        with database.session() as session:
            while True:
                if not self.waiting:
                    self.waiting.extend(review.queue(session, viewer, self.kind, REFILL, self.put_aside, self.experts))
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

    def answer(self, database: Database, viewer: Viewer, names: NamesInForce, value: str) -> None:
        chosen = self.waiting[0]
        took = time.monotonic() - self.shown_at
        try:
            with database.session() as session:
                answered = review.answer(
                    session,
                    viewer,
                    chosen.sentence,
                    self.kind,
                    value,
                    took,
                    names=names,
                    why=chosen.why,
                    experts=self.experts,
                )
        except BadInput as error:
            self.refused = error.message
            return
        self.given.append(GivenAnswer(chosen, value, answered))
        self.skip()

    def skip(self) -> None:
        self.refused = ""
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
