"""What people say of a sentence: the sentiment, intent, slots, text or speaker it should have had, which side is whose,
and what the intent and slots of a turn of the assistant should have been.

A label says who and when and never overwrites: neither the models' answer nor an earlier label. Every label is written
here, with its line in the audit trail and its event for the bus, in the caller's transaction; publisher.py tells the
bus afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from storage.labels.effective import side
from storage.labels.tags import check_tags, tags_of_values, write_tags
from storage.labels.trust.holds import HELD_KINDS, is_held
from storage.labels.why import Why
from storage.privacy import tombstones
from storage.tables import Audit, Call, Label, Outbox, Sentence, Turn
from storage.viewer import Role, Viewer
from storage.writer import call_aggregates
from tenor import events
from tenor.errors import BadInput, Refused
from tenor.events import LABELS
from tenor.taxonomy.assistant import routed_intent
from tenor.taxonomy.in_force import NamesInForce
from tenor.yaml.nodes import meant

KINDS = ("sentiment", "intent", "slots", "text", "role")
OF_TURNS = ("intent", "slots")
LONGEST = {"text": 10_000, "slots": 100_000}
"""Characters of a value; 100 for the others."""
SWAPS: tuple[Role, ...] = ("manager", "analyst", "administrator")
"""Who may turn the sides of a call round."""


def correct(
    session: Session,
    viewer: Viewer,
    sentence_id: str,
    kind: str,
    value: str,
    *,
    names: NamesInForce,
    seconds: float | None = None,
    where: str = "call",
    why: Why = "call",
) -> Label:
    """Keep what `viewer` says of a sentence. `names`: the sentiments, intents and slots there are, `seconds`: how long
    they looked, `where`: the page they were on, `why` they were asked. BadInput says what cannot be."""
    value = _fitting(kind, value, KINDS, "sentence")
    _in_force(kind, value, names)
    tombstones.hold_off(session)
    sentence, call = _seen(session, viewer, sentence_id)
    if kind == "role" and value not in {"caller", "agent", *call.roles}:
        raise BadInput(f"nobody on this call is {value!r}", f"one of {', '.join(call.roles)}")
    if kind == "slots":
        value = write_tags(check_tags(value, sentence.text, names.slots))
        predicted = write_tags(tags_of_values(sentence.text, sentence.slots))
    else:
        predicted = side(sentence.role, call.swapped) if kind == "role" else getattr(sentence, kind)
    about = {"sentence": sentence.id, "predicted": predicted, "model": str(sentence.models.get(kind, ""))}
    return _write(session, viewer, call, kind, value, **about, seconds=seconds, where=where, why=why)


def correct_turn(
    session: Session,
    viewer: Viewer,
    turn_id: str,
    kind: str,
    value: str,
    *,
    names: NamesInForce,
    seconds: float | None = None,
    where: str = "review",
    why: Why = "sample",
) -> Label:
    """Keep what `viewer` says of a turn of the assistant: its intent, or its slots as tags; the rest as in `correct`.
    `names` are those of turns (allowed.py)."""
    value = _fitting(kind, value, OF_TURNS, "turn")
    if kind == "intent":
        value = routed_intent(value)
    _in_force(kind, value, names)
    tombstones.hold_off(session)
    of_viewer = select(Turn, Call).join(Call, col(Call.id) == col(Turn.call)).where(viewer.clause())
    found = session.execute(of_viewer.where(col(Turn.id) == turn_id)).one_or_none()
    if found is None or tombstones.is_erased(session, found[1].id):
        raise BadInput(f"there is no turn {turn_id!r}")
    turn, call = found
    if kind == "slots":
        value = write_tags(check_tags(value, turn.input, names.slots))
    predicted = write_tags(turn.tags) if kind == "slots" else turn.intent
    about = {"turn": turn.id, "predicted": predicted, "model": turn.model}
    return _write(session, viewer, call, kind, value, **about, seconds=seconds, where=where, why=why)


def _write(session: Session, viewer: Viewer, call: Call, kind: str, value: str, **about: Any) -> Label:
    """With its line in the audit trail and its event."""
    made = Label(
        call=call.id,
        kind=kind,
        value=value,
        author=viewer.name,
        author_role=viewer.role,
        at=time.time(),
        held=kind in HELD_KINDS and is_held(session, viewer.name),
        sample=call.sample,
        **about,
    )
    session.add(made)
    _note(session, viewer, "label.made", call.id, kind)
    _tell(session, _event(made, viewer))
    session.flush()
    return made


def withdraw(session: Session, viewer: Viewer, label_id: int) -> Label | None:
    """Take back a label of one's own; None when there is none."""
    label = session.get(Label, label_id)
    if label is None or label.author != viewer.name:
        return None
    session.delete(label)
    _note(session, viewer, "label.undone", label.call, label.kind)
    _tell(session, _event(label, viewer, withdrawn=True))
    session.flush()
    return label


def swap_sides(session: Session, viewer: Viewer, call_id: str) -> Call:
    """Turn the sides of a call round, or back. What the platform told stays as it was."""
    if viewer.role not in SWAPS:
        raise Refused(f"your role, {viewer.role}, does not turn the sides round")
    tombstones.hold_off(session)
    call = session.scalars(select(Call).where(col(Call.id) == call_id, viewer.clause())).one_or_none()
    if call is None or tombstones.is_erased(session, call_id):
        raise BadInput(f"there is no call {call_id!r}")
    call.swapped = not call.swapped
    session.add(call)
    _note(session, viewer, "call.swapped", call_id)
    turned = events.Label(
        call=call_id,
        kind="sides",
        value="swapped" if call.swapped else "told",
        author=viewer.name,
        author_role=viewer.role,
        at=time.time(),
        predicted="told",
        where="call",
        sample=call.sample,
    )
    _tell(session, turned)
    session.flush()
    call_aggregates.refresh(session, [call_id])
    session.refresh(call)
    return call


def keep(session: Session, labels: Iterable[Label]) -> None:
    """Labels that were made elsewhere and come with their call: kept as they are, and told where they were made."""
    session.add_all(labels)
    session.flush()


def _fitting(kind: str, value: str, kinds: tuple[str, ...], what: str) -> str:
    value = value.strip()
    if kind not in kinds:
        raise BadInput(f"a {what} has no {kind!r} to label", f"one of {', '.join(kinds)}")
    if not value or len(value) > LONGEST.get(kind, 100) or "\x00" in value:
        raise BadInput(f"{value[:50]!r} cannot be the {kind} of a {what}")
    return value


def _in_force(kind: str, value: str, names: NamesInForce) -> None:
    there = {"sentiment": names.sentiments, "intent": names.intents}.get(kind)
    if there is not None and value not in there:
        raise BadInput(f"there is no {kind} {value[:50]!r} in force{meant(value, there)}", f"one of {', '.join(there)}")


def _seen(session: Session, viewer: Viewer, sentence_id: str) -> tuple[Sentence, Call]:
    of_viewer = select(Sentence, Call).join(Call, col(Call.id) == col(Sentence.call)).where(viewer.clause())
    found = session.execute(of_viewer.where(col(Sentence.id) == sentence_id)).one_or_none()
    if found is None or tombstones.is_erased(session, found[1].id):
        raise BadInput(f"there is no sentence {sentence_id!r}")
    return found[0], found[1]


def _note(session: Session, viewer: Viewer, action: str, call: str, kind: str = "") -> None:
    detail = {"kind": kind} if kind else {}
    session.add(Audit(at=time.time(), who=viewer.name, action=action, subject=call, detail=detail))


def _event(label: Label, viewer: Viewer, *, withdrawn: bool = False) -> events.Label:
    assert label.kind in KINDS
    return events.Label(
        call=label.call,
        kind=label.kind,  # type: ignore[arg-type]
        value=label.value,
        author=label.author,
        author_role=viewer.role,
        at=label.at,
        sentence=label.sentence or "",
        predicted=label.predicted,
        where=label.where,
        withdrawn=withdrawn,
        sample=label.sample,
        turn=label.turn or "",
        seconds=label.seconds,
        why=label.why,
        model=label.model,
        held=label.held,
    )


def _tell(session: Session, event: events.Label) -> None:
    session.add(Outbox(call=event.call, event=LABELS.encode(event).decode(), at=time.time()))
