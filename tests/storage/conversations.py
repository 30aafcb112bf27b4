"""Calls to fill a database with, said in one line each."""

from __future__ import annotations

from typing import Any

from sqlmodel import Session

from storage.tables import Alert, Call, Label, Note, Sentence
from tenor.settings import LanguageSettings
from tenor.taxonomy.in_force import names_in_force

START = 1_790_000_000.0
NAMES = names_in_force(LanguageSettings())
"""The sentiments and intents that ship."""


def add_call(
    session: Session, name: str, *lines: str, sentences: dict[int, dict[str, Any]] | None = None, **about: Any
) -> Call:
    """A call whose lines are said in turn by caller and agent, a second each. `sentences` says more of some lines."""
    told: dict[str, Any] = {"roles": ["caller", "agent"], "started_at": START, "state": "analysed", **about}
    told.setdefault("ended_at", told["started_at"] + len(lines))
    call = Call(id=name, duration_ms=1000 * len(lines), sentences=len(lines), **told)
    session.add(call)
    session.flush()
    for number, line in enumerate(lines):
        channel = number % 2
        row: dict[str, Any] = {
            "id": f"{name}/{channel}/{number * 1000}",
            "call": name,
            "channel": channel,
            "role": ("caller", "agent")[channel],
            "start_ms": number * 1000,
            "end_ms": number * 1000 + 900,
            "spoken_at": call.started_at + number,
            "text": line,
            "sentiment": "neutral",
            "sentiment_scores": {"neutral": 1.0},
            "intent": "unknown",
            "intent_score": 0.5,
        }
        session.add(Sentence(**{**row, **(sentences or {}).get(number, {})}))
    session.flush()
    return call


def add_label(session: Session, sentence: str, kind: str, value: str, at: float = START, author: str = "rita") -> None:
    call = sentence.rsplit("/", 2)[0]
    session.add(Label(sentence=sentence, call=call, kind=kind, value=value, predicted="?", author=author, at=at))
    session.flush()


def add_alert(session: Session, call: str, rule: str, severity: str = "warning", sentence: str = "") -> None:
    id_ = f"{call}/{rule}/1000"
    text = f"{rule} fired"
    alert = Alert(id=id_, call=call, rule=rule, severity=severity, text=text, at_ms=1000, at=START, sentence=sentence)
    session.add(alert)
    session.flush()


def add_note(session: Session, call: str, text: str, author: str = "mia") -> None:
    session.add(Note(id=f"{call}-note", call=call, author=author, text=text, at=START))
    session.flush()
