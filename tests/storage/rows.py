"""Rows for tests that read: a call and its sentences, with everything that does not matter filled in."""

from __future__ import annotations

from typing import Any

from storage.db.engine import Database
from storage.tables import Alert, Call, Sentence
from storage.viewer import Viewer
from storage.writer import call_aggregates

MANAGER = Viewer("maria", "manager")
AMIR = Viewer("amir", "agent")


def call(name: str, **fields: Any) -> Call:
    return Call(**{"id": name, "roles": ["caller", "agent"], "started_at": 1_700_000_000.0, "state": "live", **fields})


def sentence(of: str, start_ms: int, role: str = "caller", mood: float = 0.0, **fields: Any) -> Sentence:
    channel = 0 if role == "caller" else 1
    usual = {
        "id": f"{of}/{channel}/{start_ms}",
        "call": of,
        "channel": channel,
        "role": role,
        "start_ms": start_ms,
        "end_ms": start_ms + 900,
        "spoken_at": 1_700_000_000 + start_ms / 1000,
        "text": f"words at {start_ms}",
        "sentiment": "negative" if mood < -0.3 else "positive" if mood > 0.3 else "neutral",
        "mood": mood,
        "intent": "unknown",
        "intent_score": 0.5,
    }
    return Sentence(**{**usual, **fields})


def alert(of: str, at_ms: int, **fields: Any) -> Alert:
    usual = {"id": f"{of}/rule/{at_ms}", "call": of, "rule": "rule", "severity": "warning", "text": "!", "at_ms": at_ms}
    return Alert(**{**usual, "at": 1_700_000_000 + at_ms / 1000, **fields})


def store(database: Database, *rows: Any) -> None:
    """Keep the rows, calls first, and have the calls' sums worked out."""
    with database.begin() as session:
        session.add_all([row for row in rows if isinstance(row, Call)])
        session.flush()
        session.add_all([row for row in rows if not isinstance(row, Call)])
        session.flush()
        call_aggregates.refresh(session, [row.id for row in rows if isinstance(row, Call)])
