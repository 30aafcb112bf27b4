"""A call that was understood as a whole, into the tables at once: all of it, or none.

Understood again, with another model or other rules, it takes the place of what was there. What people said stays:
notes, labels, turned sides, and a sentence that somebody labelled even where the models no longer hear it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, update
from sqlmodel import Session, col

from storage.queries.calls import find
from storage.tables import Alert, Call, Label, Sentence
from storage.viewer import HOUSE
from storage.writer.event_batch import EventBatch
from tenor.events import Event

AT_ONCE = 10_000
"""Events of a call that are written together: a book has hundreds of thousands."""
REPLACEABLE = -1
"""Revision of a sentence that any other replaces."""


def reopen(session: Session, call: str) -> None:
    """A call that is about to be understood: recorded before, it is recorded again, for it may be redacted now."""
    session.execute(update(Call).where(col(Call.id) == call).values(recorded=False))


def store(session: Session, call: str, events: Sequence[Event], at: float, *, failed: bool = False) -> bool:
    """Write all events of a call, known since `at`; False when it was erased here. One that failed does not replace
    one that was understood."""
    known = find(session, HOUSE, call)
    if known is not None:
        if failed and known.state == "analysed":
            return True
        _clear(session, call)
    gone = 0
    for first in range(0, len(events), AT_ONCE):
        gone += EventBatch((event, at) for event in events[first : first + AT_ONCE]).write(session)
    return not gone


def _clear(session: Session, call: str) -> None:
    """As if nothing of the call had been heard yet."""
    session.execute(delete(Alert).where(col(Alert.call) == call))
    labelled = select(col(Label.sentence)).where(col(Label.call) == call, col(Label.sentence).is_not(None))
    sentences = col(Sentence.call) == call
    session.execute(delete(Sentence).where(sentences, col(Sentence.id).not_in(labelled)))
    session.execute(update(Sentence).where(sentences).values(revision=REPLACEABLE))
    fresh = Call(id=call)
    unheard = ("source", "state", "reason", "ended_at", "task", "task_score", "metrics", "metrics_ms")
    values = {name: getattr(fresh, name) for name in (*unheard, "scorecard", "summary", "written_summary")}
    session.execute(update(Call).where(col(Call.id) == call).values(values))
