"""What a batch of events changes in the tables, in one transaction. Written twice, it changes nothing more.

Topics are read each at its own pace: a sentence may come before its call. It then makes a row that the call's state
fills in later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, singledispatchmethod
from typing import Any

import msgspec
from sqlalchemy import Connection, Executable, Table, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session

from storage import tables
from storage.privacy import tombstones
from storage.writer import call_aggregates
from storage.writer.call_row import advance, hand_over, is_heard_anew, measure, mend, wrap_up, written
from tenor.events import (
    ActionDone,
    ActionStarted,
    Alert,
    CallGivenBack,
    CallMetrics,
    CallState,
    CallTakenOver,
    DeadLetter,
    Event,
    KeyPressed,
    Note,
    NoteAcknowledged,
    Sentence,
    SummaryMended,
    Turn,
    TurnFiller,
    TurnSpoken,
    WrapUp,
    WrittenSummary,
)

TABLES = tables.Call.metadata.tables
CALLS, SENTENCES, ALERTS, NOTES = (TABLES[name] for name in ("calls", "sentences", "alerts", "notes"))
TURNS = TABLES["turns"]
AGENTS, CUSTOMERS, DEAD_LETTERS = (TABLES[name] for name in ("agents", "customers", "dead_letters"))

Row = dict[str, Any]
OfCall = CallState | CallMetrics | WrittenSummary | Turn | CallTakenOver | CallGivenBack | SummaryMended | WrapUp
"""What changes the row of a call."""


class EventBatch:
    """Events that belong in one transaction, by what they change."""

    def __init__(self, events: Iterable[tuple[Event, float]]) -> None:
        """Events in their order, with the time each was published."""
        self._sentences: dict[str, Sentence] = {}
        self._of_calls: list[OfCall] = []
        self._alerts: dict[str, Alert] = {}
        self._notes: dict[str, Note] = {}
        self._read: dict[str, NoteAcknowledged] = {}
        self._turns: dict[str, Turn] = {}
        self._dead: dict[str, DeadLetter] = {}
        self._since: dict[str, float] = {}
        """Calls that get a row, with when they were first heard of here."""
        for event, at in events:
            self._sort(event)
            if not isinstance(event, DeadLetter):
                self._since.setdefault(event.call, at)

    def write(self, session: Session) -> int:
        """Bring the tables up to date; how many calls were left out because they are erased."""
        tombstones.hold_off(session)
        gone = tombstones.which(session, {*self._since, *(letter.call for letter in self._dead.values())})
        self._without(gone)
        connection = session.connection()
        calls = locked(connection, self._since)
        said = [event for event in self._sentences.values() if not is_heard_anew(calls[event.call], event)]
        begun = self._advance(connection, calls)
        _put(connection, SENTENCES, [_sentence_row(event, calls) for event in said], replace=True)
        _date(connection, begun)
        _put(connection, ALERTS, [_plain(event, alert="id") for event in self._alerts.values()])
        _put(connection, NOTES, [_plain(event, note="id") for event in self._notes.values()], defaults=_NOTE)
        _acknowledge(connection, self._read.values())
        _put(connection, TURNS, [_turn_row(event) for event in self._turns.values()])
        _put(connection, DEAD_LETTERS, [_letter_row(event) for event in self._dead.values()])
        if self._since:
            call_aggregates.refresh(session, sorted(self._since))
        return len(gone)

    @singledispatchmethod
    def _sort(self, event: Event) -> None:
        raise TypeError(type(event).__name__)

    @_sort.register
    def _(self, event: Sentence) -> None:
        known = self._sentences.get(event.sentence)
        if known is None or event.revision > known.revision:
            self._sentences[event.sentence] = event

    @_sort.register
    def _(self, event: CallState | CallMetrics) -> None:
        self._of_calls.append(event)

    @_sort.register
    def _(self, event: Alert) -> None:
        self._alerts.setdefault(event.alert, event)

    @_sort.register
    def _(self, event: Note) -> None:
        self._notes.setdefault(event.note, event)

    @_sort.register
    def _(self, event: NoteAcknowledged) -> None:
        self._read.setdefault(event.note, event)

    @_sort.register
    def _(self, event: Turn) -> None:
        if self._turns.setdefault(f"{event.call}/{event.turn}", event) is event:
            self._of_calls.append(event)

    @_sort.register
    def _(self, event: CallTakenOver | CallGivenBack | SummaryMended | WrapUp | WrittenSummary) -> None:
        self._of_calls.append(event)

    @_sort.register
    def _(self, event: ActionStarted | ActionDone | TurnFiller | TurnSpoken | KeyPressed) -> None:
        """Between the assistant and its successor: the Turn that follows says what is kept of them."""

    @_sort.register
    def _(self, event: DeadLetter) -> None:
        self._dead.setdefault(f"{event.topic}/{event.partition}/{event.offset}", event)

    def _without(self, gone: set[str]) -> None:
        if gone:
            for found in (self._sentences, self._alerts, self._notes, self._read, self._turns, self._dead):
                for key in [key for key, event in found.items() if event.call in gone]:
                    del found[key]
            self._of_calls = [event for event in self._of_calls if event.call not in gone]
            self._since = {call: at for call, at in self._since.items() if call not in gone}

    def _advance(self, connection: Connection, calls: dict[str, Row]) -> dict[str, float]:
        """States, metrics and who has a conversation, into the rows. The calls whose beginning is known only now, with
        that beginning."""
        began = {call: row["started_at"] for call, row in calls.items()}
        changed: dict[str, Row] = {}
        for event in self._of_calls:
            row = calls[event.call]
            changes = _changes(row, event)
            row.update(changes)
            if changes:
                changed[event.call] = row
        if changed:
            connection.execute(_UPDATE, [{**changed[call], "of_call": call} for call in sorted(changed)])
            people = {(row["agent"], row["site"]) for row in changed.values() if row["agent"]}
            agents = [{"name": agent, "site": site} for agent, site in sorted(people)]
            _put(connection, AGENTS, agents, defaults={"display_name": "", "team": "", "sample": False})
            customers = sorted({row["customer"] for row in changed.values()} - {""})
            _put(
                connection, CUSTOMERS, [{"id": customer, "display_name": "", "sample": False} for customer in customers]
            )
        return {call: row["started_at"] for call, row in calls.items() if row["started_at"] != began[call]}


_FOLLOWED = (
    *("medium", "source", "site", "queue", "agent", "customer", "language", "roles", "started_at", "redact"),
    *("attributes", "sample", "state", "state_at", "reason", "ended_at", "metrics", "metrics_ms", "task", "task_score"),
    *("handover", "waiting", "scorecard", "summary", "mended", "wrap_up", "written_summary"),
)
_OF_TURN = tuple(column.name for column in TURNS.columns if column.name not in ("id", "latency_ms"))
_NOTE = {"acknowledged_by": "", "acknowledged_at": None}
# Statements are put together once: that takes longer than running them.
_UPDATE = update(CALLS).where(CALLS.c.id == bindparam("of_call")).values({name: bindparam(name) for name in _FOLLOWED})
_LOCK = (
    select(CALLS.c.id, *(CALLS.c[name] for name in _FOLLOWED))
    .where(CALLS.c.id.in_(bindparam("calls", expanding=True)))
    .order_by(CALLS.c.id)
    .with_for_update()
)


def _changes(row: Row, event: OfCall) -> Row:
    match event:
        case CallState():
            return advance(row, event)
        case CallMetrics():
            return measure(row, event)
        case WrittenSummary():
            return written(row, event)
        case SummaryMended():
            return mend(row, event)
        case WrapUp():
            return wrap_up(row, event)
    return hand_over(row, event)


def locked(connection: Connection, since: dict[str, float]) -> dict[str, Row]:
    """The rows of the calls, made where there are none. Nobody else changes them until we are done; everyone takes
    them in the same order, so that two who write never wait for each other."""

    def read(ids: Iterable[str]) -> dict[str, Row]:
        return {row["id"]: dict(row) for row in connection.execute(_LOCK, {"calls": list(ids)}).mappings()}

    if not since:
        return {}
    calls = read(since)
    if missing := sorted(since.keys() - calls.keys()):
        empty = tables.Call(id="").model_dump()
        _put(connection, CALLS, [{**empty, "id": call, "state_at": since[call]} for call in missing])
        calls |= read(missing)
    return calls


def _put(
    connection: Connection, table: Table, rows: Sequence[Row], *, replace: bool = False, defaults: Row | None = None
) -> None:
    """Insert rows by their id; one that is there stays, unless a higher revision may `replace` it."""
    if rows:
        statement = _insert(table, connection.dialect.name, replace)
        connection.execute(statement, [{**(defaults or {}), **row} for row in rows])


@lru_cache
def _insert(table: Table, dialect: str, replace: bool) -> Executable:
    statement: Any = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(table)
    if not replace:
        return statement.on_conflict_do_nothing()  # type: ignore[no-any-return]
    new = statement.excluded
    changes = {column.name: new[column.name] for column in table.columns if column.name not in ("id", "call")}
    newer = new.revision > table.c.revision
    return statement.on_conflict_do_update(index_elements=["id"], set_=changes, where=newer)  # type: ignore[no-any-return]


def _sentence_row(event: Sentence, calls: dict[str, Row]) -> Row:
    row = _plain(event, sentence="id")
    started_at = calls[event.call]["started_at"]
    row["spoken_at"] = started_at + event.start_ms / 1000 if started_at else 0.0
    captured = event.times.get("captured")
    row["latency_ms"] = round((max(event.times.values()) - captured) * 1000, 3) if captured else None
    return row


def _turn_row(event: Turn) -> Row:
    row: Row = msgspec.to_builtins({name: getattr(event, name) for name in _OF_TURN})
    published, stepped = event.times.get("published"), event.times.get("turn_published")
    latency_ms = round((stepped - published) * 1000, 3) if published and stepped else None
    return {**row, "id": f"{event.call}/{event.turn}", "at": event.at or stepped or 0.0, "latency_ms": latency_ms}


def _plain(event: Event, **renamed: str) -> Row:
    """The event's fields as a row's, some under another name."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name != "v"}
    for name, column in renamed.items():
        fields[column] = fields.pop(name)
    return fields


def _letter_row(event: DeadLetter) -> Row:
    """Without the bytes, which stay on the bus until its retention ends."""
    row = _plain(event)
    del row["value"]
    return {**row, "id": f"{event.topic}/{event.partition}/{event.offset}"}


def _date(connection: Connection, begun: dict[str, float]) -> None:
    """Sentences that came before the beginning of their call was known."""
    if begun:
        spoken_at: Any = bindparam("began") + SENTENCES.c.start_ms.cast(SENTENCES.c.spoken_at.type) / 1000.0
        late = update(SENTENCES).where(SENTENCES.c.call == bindparam("of_call")).values(spoken_at=spoken_at)
        connection.execute(late, [{"of_call": call, "began": began} for call, began in sorted(begun.items())])


def _acknowledge(connection: Connection, events: Iterable[NoteAcknowledged]) -> None:
    """The first time counts."""
    read = [{"of_note": event.note, "who": event.by, "moment": event.at} for event in events]
    if read:
        first = update(NOTES).where(NOTES.c.id == bindparam("of_note"), NOTES.c.acknowledged_at.is_(None))
        values: Row = {"acknowledged_by": bindparam("who"), "acknowledged_at": bindparam("moment")}
        connection.execute(first.values(values), read)
