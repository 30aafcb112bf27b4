"""The words a call holds, wherever they lie, and what they look like once a redactor has been over them.

Every text is redacted until nothing more is found, with the sentence before it in mind as it will be afterwards: so
whoever looks again finds nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Table, select
from sqlmodel import Session

from storage.labels.effective import CALL, LABEL, SENTENCE
from storage.tables import Alert, Note, Turn
from tenor.redaction import KINDS, Redactor, Span
from tenor.redaction.masking import LABELS, masked_text
from tenor.redaction.utterance import confirms

NOTE: Table = Note.__table__  # type: ignore[attr-defined]
ALERT: Table = Alert.__table__  # type: ignore[attr-defined]
TURN: Table = Turn.__table__  # type: ignore[attr-defined]
OF_TURN = ("actions", "replies", "handover", "session", "trace")
"""Columns of a turn that may repeat what the shopper said. What else is in them is the shop's own: addresses,
telephone numbers and names of stores are no personal data."""
OF_SUMMARY = ("summary", "mended", "written_summary")
"""Columns of a call that repeat what was said in it, or hold what a person made of that."""
SUBJECT = "subject"
"""The attribute that holds words of the conversation: an e-mail's. The others are the platform's."""
SHORTEST = 3
"""Letters and digits by which a secret is known again elsewhere."""
_LABEL = re.compile("|".join(map(re.escape, LABELS.values())))

Finds = Counter[tuple[str, str]]
"""How much was found, by the table it lies in and its kind."""


class Change(NamedTuple):
    """A row as it should be."""

    table: Table
    row: Any
    guard: ColumnElement[bool] | None
    """Whether the row is still as it was read."""
    values: dict[str, Any]
    """The columns that change."""

    def texts(self) -> Iterator[str]:
        """Where something is masked, as it will be."""
        return (text for value in self.values.values() for text in _strings(value) if _LABEL.search(text))


@dataclass
class PiiFindings:
    """What lies in a call. No words but those of `changes`, which have none of the secret ones."""

    finds: Finds = field(default_factory=Counter)
    told: Finds = field(default_factory=Counter)
    """What the platform said about the call: its customer and attributes. Nothing of it is ever changed."""
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class CallText:
    """A call with everything that was said, typed and told in it, in order."""

    call: Row[Any]
    sentences: Sequence[Row[Any]]
    labels: Sequence[Row[Any]]
    """Corrected texts."""
    notes: Sequence[Row[Any]]
    alerts: Sequence[Row[Any]]
    turns: Sequence[Row[Any]]
    """Of a conversation with the assistant."""

    def found(self, redactor: Redactor, kinds: Container[str] = KINDS) -> PiiFindings:
        return _Search(redactor, kinds).over(self)


def read(session: Session, ids: Sequence[str]) -> Iterator[CallText]:
    """These calls, one after the other."""
    call, said, label = CALL.c, SENTENCE.c, LABEL.c
    about = select(
        *(call.id, call.queue, call.customer, call.attributes, call.redact, call.state, call.recording),
        *(call[name] for name in OF_SUMMARY),
    )
    sentences = select(said.id, said.call, said.channel, said.role, said.text, said.slots)
    labels = select(label.id, label.call, label.sentence, label.value, label.predicted).where(label.kind == "text")
    notes, alerts = (select(table.c.id, table.c.call, table.c.text) for table in (NOTE, ALERT))
    turn = TURN.c
    turns = select(turn.id, turn.call, turn.input, turn.heard, turn.slots, *(turn[name] for name in OF_TURN))
    in_order = sentences.order_by(said.call, said.start_ms, said.end_ms, said.id)
    belonging = [
        _by_call(session.execute(query.where(table.c.call.in_(ids))).all())
        for query, table in (
            (in_order, SENTENCE),
            (labels, LABEL),
            (notes, NOTE),
            (alerts, ALERT),
            (turns.order_by(turn.call, turn.turn), TURN),
        )
    ]
    for row in session.execute(about.where(call.id.in_(ids)).order_by(call.id)):
        yield CallText(row, *(rows.get(row.id, []) for rows in belonging))


def _by_call(rows: Sequence[Row[Any]]) -> dict[str, list[Row[Any]]]:
    found: dict[str, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.call, []).append(row)
    return found


class _Search:
    """Through one call."""

    def __init__(self, redactor: Redactor, kinds: Container[str]) -> None:
        self._redactor = redactor
        self._kinds = kinds
        self._secrets: dict[str, str] = {}
        """What was taken out of the sentences so far, with its kind: what was typed and raised may repeat it."""
        self._found = PiiFindings()

    def over(self, call_text: CallText) -> PiiFindings:
        past = self._sentences(call_text.sentences)
        self._turns(call_text.turns)
        for label in call_text.labels:
            before = past.get(label.sentence, "")
            value, predicted = (self._text("labels", text, before) for text in (label.value, label.predicted))
            self._change(LABEL, label, LABEL.c.value == label.value, value=value, predicted=predicted)
        for table, rows in ((NOTE, call_text.notes), (ALERT, call_text.alerts)):
            for row in rows:
                self._change(table, row, table.c.text == row.text, text=self._text(table.name, row.text))
        self._about(call_text.call)
        return self._found

    def _sentences(self, sentences: Sequence[Row[Any]]) -> dict[str, str]:
        """Gives what stood before each."""
        last: dict[int, str] = {}
        past: dict[str, str] = {}
        for row in sentences:
            past[row.id] = before = last.get(row.channel, "")
            text, secrets = self._redacted("sentences", row.text, before)
            slots = {name: self._slot(name, value, text, secrets) for name, value in row.slots.items()}
            if not confirms(text):
                last[row.channel] = text
            self._secrets |= {secret: kind for secret, kind in secrets.items() if len(_bare(secret)) >= SHORTEST}
            self._change(SENTENCE, row, SENTENCE.c.text == row.text, text=text, slots=slots)
        return past

    def _turns(self, turns: Sequence[Row[Any]]) -> None:
        before = ""
        for row in turns:
            text, secrets = self._redacted("turns", row.input, before)
            slots = {name: self._slot(name, value, text, secrets) for name, value in row.slots.items()}
            if not confirms(text):
                before = text
            self._secrets |= {secret: kind for secret, kind in secrets.items() if len(_bare(secret)) >= SHORTEST}
            values = {"input": text, "slots": slots, "heard": self._without_secrets("turns", row.heard)}
            values |= {name: self._inside("turns", getattr(row, name)) for name in OF_TURN}
            self._change(TURN, row, TURN.c.input == row.input, **values)

    def _inside(self, where: str, value: Any) -> Any:
        """JSON in which no text repeats a secret, perhaps spelled otherwise."""
        if isinstance(value, str):
            bare = _bare(value)
            for secret, kind in self._secrets.items():
                if bare == _bare(secret):
                    self._found.finds[where, kind] += 1
                    return LABELS[kind]
            return self._without_secrets(where, value)
        if isinstance(value, dict):
            return {name: self._inside(where, one) for name, one in value.items()}
        return [self._inside(where, one) for one in value] if isinstance(value, list) else value

    def _about(self, call: Row[Any]) -> None:
        attributes = dict(call.attributes)
        if isinstance(subject := attributes.pop(SUBJECT, None), str):
            about = {**call.attributes, SUBJECT: self._text("subjects", subject)}
            self._change(CALL, call, None, attributes=about)
        values = {name: self._inside("summaries", getattr(call, name)) for name in OF_SUMMARY}
        values["mended"] = {
            point: {**said, "text": self._text("summaries", said["text"])} for point, said in values["mended"].items()
        }
        self._change(CALL, call, None, **values)
        for where, value in (("customer", call.customer), *(("attributes", value) for value in attributes.values())):
            if isinstance(value, str):
                for span in self._spans(value, ""):
                    self._found.told[where, span.kind] += 1

    def _slot(self, name: str, value: Any, sentence: str, secrets: dict[str, str]) -> Any:
        """A slot is a part of its sentence, perhaps spelled otherwise; what may be seen there may be seen here."""
        bare = _bare(value) if isinstance(value, str) else ""
        if not bare or _LABEL.fullmatch(value):
            return value
        for secret, kind in secrets.items():
            if _bare(secret) and (bare == _bare(secret) or (len(bare) >= SHORTEST and bare in _bare(secret))):
                self._found.finds["slots", kind] += 1
                return LABELS[kind]
        if bare in _bare(_LABEL.sub("", sentence)):
            return value
        return self._text("slots", value, name.replace("_", " "))

    def _text(self, where: str, text: str, before: str = "") -> str:
        """A text that may hold secrets of its own, and those of the sentences."""
        shown, _ = self._redacted(where, text, before)
        known = self._without_secrets(where, shown)
        return known if known == shown else self._redacted(where, known, before)[0]

    def _without_secrets(self, where: str, text: str) -> str:
        """The text without the secrets that are known already."""
        for secret, kind in self._secrets.items():
            parts = re.split(rf"(?<!\w){re.escape(secret)}(?!\w)", text)
            self._found.finds[where, kind] += len(parts) - 1
            text = LABELS[kind].join(parts)
        return text

    def _redacted(self, where: str, text: str, before: str) -> tuple[str, dict[str, str]]:
        """The text when nothing more is found in it, and what was taken out. A label of a redactor is no secret."""
        secrets: dict[str, str] = {}
        while spans := _beside_labels(text, self._spans(text, before)):
            for start, end, kind in spans:
                self._found.finds[where, kind] += 1
                secrets[text[start:end]] = kind
            text = masked_text(text, spans)
        return text, secrets

    def _spans(self, text: str, before: str) -> list[Span]:
        """Of the kinds that are looked for: a redactor hides some that it was not asked for, to be sure."""
        return [span for span in self._redactor.redact(text, (), before=before).spans if span.kind in self._kinds]

    def _change(self, table: Table, row: Row[Any], guard: ColumnElement[bool] | None, **values: Any) -> None:
        if changed := {name: value for name, value in values.items() if getattr(row, name) != value}:
            self._found.changes.append(Change(table, row.id, guard, changed))


def _beside_labels(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans that cover more than labels; those that cut through one have all of it."""
    labels = [found.span() for found in _LABEL.finditer(text)]
    kept: list[Span] = []
    for start, end, kind in spans:
        touched = [(first, last) for first, last in labels if first < end and start < last]
        start = min([start, *(first for first, _ in touched)])
        end = max([end, *(last for _, last in touched)])
        bare = _bare(_LABEL.sub("", text[start:end]))
        if bare and (not kept or start >= kept[-1].end):
            kept.append(Span(start, end, kind))
    return kept


def _strings(value: Any) -> Iterator[str]:
    """The texts in JSON, with the name of what holds each."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (f"{name}: {text}" for name, one in value.items() for text in _strings(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _strings(one))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
