"""A reviewer's queue of turns: what waits, how far the one at hand has been mended, and what can be taken back."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from storage.db.engine import Database
from storage.labels import turn_review
from storage.labels.review import ReviewItem
from storage.labels.turn_review import ReviewedTurn, TurnInContext
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.taxonomy.in_force import NamesInForce

REFILL = 20


@dataclass(slots=True)
class GivenTurn:
    """An answer, for as long as it can be taken back."""

    chosen: ReviewItem
    intent: str
    answered: ReviewedTurn


@dataclass(slots=True)
class TurnQueue:
    waiting: deque[ReviewItem] = field(default_factory=deque)
    put_aside: set[str] = field(default_factory=set)
    given: list[GivenTurn] = field(default_factory=list)
    shown: str = ""
    shown_at: float = 0.0
    intent: str = ""
    """What will be kept: the model's answer, or what the person has chosen since; empty: nothing is said of it,"""
    tags: list[str] = field(default_factory=list)
    """and of each word its tag."""
    picked: set[int] = field(default_factory=set)
    """Words that the next slot is for."""
    times_tagged: int = 0
    """How often slots were given: the list of slots begins anew after each."""
    refused: str = ""

    def current(self, database: Database, viewer: Viewer) -> tuple[ReviewItem, TurnInContext] | None:
        """The turn to look at now; None when there is none left."""
        with database.session() as session:
            while True:
                if not self.waiting:
                    self.waiting.extend(turn_review.turn_queue(session, viewer, REFILL, self.put_aside))
                if not self.waiting:
                    return None
                looked = turn_review.look(session, viewer, self.waiting[0].sentence)
                if looked is not None:
                    break
                self.skip()  # erased meanwhile
        chosen = self.waiting[0]
        if self.shown != chosen.sentence:
            self.shown, self.shown_at = chosen.sentence, time.monotonic()
            self.intent, self.tags, self.picked = looked.intent, looked.tags, set()
        return chosen, looked

    # A key or click that comes late, for a turn that is gone already, does nothing: each names its turn.

    def choose_intent(self, turn: str, intent: str | None) -> None:
        if intent is not None and self._waits(turn):
            self.intent = intent

    def pick(self, turn: str, word: int) -> None:
        if self._waits(turn):
            self.picked ^= {word}

    def tag(self, turn: str, slot: str) -> None:
        """Give the picked words a slot; an empty one takes theirs away."""
        if not self._waits(turn):
            return
        self.tags = turn_review.tagged(self.tags, self.picked, slot)
        self.picked = set()
        self.times_tagged += 1

    def answer(self, database: Database, viewer: Viewer, names: NamesInForce, turn: str) -> None:
        if not self._waits(turn):
            return
        chosen, took = self.waiting[0], time.monotonic() - self.shown_at
        try:
            with database.session() as session:
                answered = turn_review.answer(
                    session, viewer, chosen.sentence, self.intent, self.tags, took, names=names, why=chosen.why
                )
        except BadInput as error:
            self.refused = error.message
            return
        self.given.append(GivenTurn(chosen, self.intent, answered))
        self.skip()

    def skip_turn(self, turn: str) -> None:
        if self._waits(turn):
            self.skip()

    def _waits(self, turn: str) -> bool:
        return bool(self.waiting) and self.waiting[0].sentence == turn

    def skip(self) -> None:
        self.refused = ""
        self.put_aside.add(self.waiting.popleft().sentence)

    def undo(self, database: Database, viewer: Viewer) -> None:
        if not self.given:
            return
        last = self.given.pop()
        with database.session() as session:
            turn_review.undo(session, viewer, last.answered)
        self.put_aside.discard(last.chosen.sentence)
        self.waiting.appendleft(last.chosen)
        self.shown = ""  # from the model's answer again
