"""What a browser starts from: the calls of now, or one call with all that belongs to it, as JSON."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from storage import calls, people
from storage.database import Database
from storage.live import live_calls
from storage.tables import Alert, Call, Label, Note, Sentence
from storage.viewer import Viewer


def of_live_calls(database: Database, viewer: Viewer, _: str = "") -> bytes:
    """Every call of now with what its tile shows."""
    with database.session() as session:
        calls, names = live_calls(session, viewer), people.agent_names(session, viewer)
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
            "labels": [label_of(label) for labels in whole.labels.values() for label in labels],
            "names": names,
        }
    )


def agent_of(database: Database, viewer: Viewer, call: str) -> str | None:
    """Whose call it is, if there is such a call for this viewer."""
    with database.session() as session:
        found = calls.find(session, viewer, call)
    return found.agent if found else None


def label_of(label: Label) -> dict[str, Any]:
    return {name: getattr(label, name) for name in ("call", "sentence", "kind", "value", "predicted", "author", "at")}


CALL = (
    *("medium", "source", "site", "queue", "agent", "customer", "language", "roles", "swapped", "started_at"),
    *("ended_at", "duration_ms", "state", "state_at", "reason", "task", "task_score", "metrics"),
    *("sample", "attributes"),
)
SENTENCE = (
    *("call", "channel", "role", "revision", "start_ms", "end_ms", "text", "sentiment", "sentiment_scores", "mood"),
    *("intent", "intent_score", "slots", "labels", "language", "times", "latency_ms"),
)
ALERT = ("call", "rule", "severity", "text", "at_ms", "at", "escalation", "sentence")
NOTE = ("call", "author", "text", "at", "sentence", "acknowledged_by", "acknowledged_at")


def _call(row: Call) -> dict[str, Any]:
    return {"id": row.id, "recorded": bool(row.recording), **{name: getattr(row, name) for name in CALL}}


def _as_event(row: Sentence | Alert | Note, id_name: str, fields: tuple[str, ...]) -> dict[str, Any]:
    """As the bus has it, so that the page reads both the same way."""
    return {id_name: row.id, **{name: getattr(row, name) for name in fields}}
