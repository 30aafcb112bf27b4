"""What a browser starts from: the calls of now, or one call with all that belongs to it, as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import msgspec
from sqlmodel import Session, col, select

from storage.db.engine import Database
from storage.labels.effective import effective_labels, effective_values, sides
from storage.queries import calls, people
from storage.queries.live import live_calls
from storage.scorecards.confirming import card_of
from storage.tables import Alert, Call, Label, Note, Sentence, Turn
from storage.viewer import Viewer
from tenor import events
from tenor.assistant.handover import Handover, read_handover


def of_live_calls(database: Database, viewer: Viewer, _: str = "") -> bytes:
    """Every call of now with what its tile shows."""
    with database.session() as session:
        calls = live_calls(session, viewer)
        names = people.names_on(session, viewer, calls)
    return msgspec.json.encode({"at": time.time(), "calls": calls, "names": names})


def of_call(database: Database, viewer: Viewer, call: str) -> bytes:
    """One call whole; `{"call": null}` when there is none, or none that this viewer may see."""
    with database.session() as session:
        whole = calls.whole(session, viewer, call)
        names = people.names_on(session, viewer, [whole.call]) if whole else {}
    if whole is None:
        return msgspec.json.encode({"at": time.time(), "call": None})
    return msgspec.json.encode(
        {
            "at": time.time(),
            "call": _call(whole.call),
            "sentences": [_as_event(row, "sentence", SENTENCE) for row in whole.sentences],
            "alerts": [_as_event(row, "alert", ALERT) for row in whole.alerts],
            "notes": [_as_event(row, "note", NOTE) for row in whole.notes],
            "turns": [turn_of(row) for row in whole.turns],
            "labels": [label_of(label) for labels in whole.labels.values() for label in labels],
            "effective": {sentence: _effective(labels, whole.call.agent) for sentence, labels in whole.labels.items()},
            "names": names,
            "scorecard": card_of(whole.call, whole.scores),
        }
    )


def agent_of(database: Database, viewer: Viewer, call: str) -> str | None:
    """Whose call it is, if there is such a call for this viewer."""
    with database.session() as session:
        found = calls.find(session, viewer, call)
    return found.agent if found else None


def whose(database: Database, viewer: Viewer, call: str) -> tuple[str, Handover] | None:
    """Whose call it is, and whether it waits for a person."""
    with database.session() as session:
        found = calls.find(session, viewer, call)
    return (found.agent, read_handover(found.handover)) if found else None


def corrected(database: Database, viewer: Viewer, sentence: str) -> dict[str, Any] | None:
    """A sentence that was labelled, as people left it, with the labels that count; None when it is gone."""
    with database.session() as session:
        return corrected_in(session, sentence)


def corrected_in(session: Session, sentence: str) -> dict[str, Any] | None:
    row = session.get(Sentence, sentence)
    call = session.get(Call, row.call) if row else None
    if row is None or call is None:
        return None
    labels = session.exec(select(Label).where(col(Label.sentence) == sentence)).all()
    left = effective_values(row, call, labels)
    return {"call": call.id, "sentence": row.id, "effective": _effective(labels, call.agent), "as_left": left}


def named(database: Database, customer: str) -> dict[str, str]:
    """What this customer is called, by id; nothing where nobody has told."""
    with database.session() as session:
        return people.customer_names(session, [customer])


def sides_of(database: Database, viewer: Viewer, call: str) -> dict[str, Any] | None:
    """Who is who in a call; None when it is gone."""
    with database.session() as session:
        found = calls.find(session, viewer, call)
    return turned(found) if found else None


def turned(call: Call) -> dict[str, Any]:
    return {"call": call.id, "swapped": call.swapped, "sides": sides(call.swapped)}


def label_of(label: Label) -> dict[str, Any]:
    return {name: getattr(label, name) for name in ("call", "sentence", "kind", "value", "predicted", "author", "at")}


def turn_of(turn: Turn | events.Turn) -> dict[str, Any]:
    """What a page shows of a turn with the assistant; everything else is on Flows."""
    actions = [action["name"] if isinstance(action, dict) else action.name for action in turn.actions]
    return {name: getattr(turn, name) for name in TURN} | {"actions": actions}


def handover_of(call: str, handover: Handover) -> dict[str, Any]:
    return {"call": call, "state": "", "agent": "", **msgspec.to_builtins(handover)}


CALL = (
    *("medium", "source", "site", "queue", "agent", "customer", "language", "roles", "swapped", "started_at"),
    *("ended_at", "duration_ms", "state", "state_at", "reason", "task", "task_score", "metrics"),
    *("sample", "attributes", "handover", "summary", "mended", "wrap_up", "written_summary"),
)
TURN = ("call", "turn", "event", "cause", "at", "at_ms", "intent", "slots", "state", "handover", "mood", "ended")
NOT_SHOWN = ("id", "spoken_at", "models", "novelty", "confidence")
SENTENCE = tuple(name for name in Sentence.model_fields if name not in NOT_SHOWN)
"""All but which models said it, how new it was to them, and when in the day: the page counts from the beginning of the
call."""
ALERT = ("call", "rule", "severity", "text", "at_ms", "at", "escalation", "sentence")
NOTE = ("call", "author", "text", "at", "sentence", "acknowledged_by", "acknowledged_at")


def _effective(labels: Iterable[Label], agent: str) -> dict[str, dict[str, Any]]:
    return {kind: label_of(label) for kind, label in effective_labels(labels, agent).items()}


def _call(row: Call) -> dict[str, Any]:
    about = {"id": row.id, "recorded": bool(row.recording), "sides": sides(row.swapped)}
    return about | {name: getattr(row, name) for name in CALL}


def _as_event(row: Sentence | Alert | Note, id_name: str, fields: tuple[str, ...]) -> dict[str, Any]:
    """As the bus has it, so that the page reads both the same way."""
    return {id_name: row.id, **{name: getattr(row, name) for name in fields}}
