"""What the database holds of a day, and a stamp by which one knows whether it changed, without reading it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import BigInteger, ColumnElement, Select, String, and_, case, cast, func, select
from sqlmodel import Session

from storage.archive import tables
from storage.labels.effective import effective_side
from storage.privacy import tombstones
from storage.tables import Audit, Call, Label, Sentence, Turn

CALL = Call.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
LABEL = Label.__table__  # type: ignore[attr-defined]
AUDIT = Audit.__table__  # type: ignore[attr-defined]
TURN = Turn.__table__  # type: ignore[attr-defined]
FINISHED = ("analysed", "failed")
"""Calls that nobody works on any more."""
DAY_S = 86_400
ROWS_AT_ONCE = 500
"""So few that their values are still in the processor's cache when they become columns: a third quicker."""

Stamps = Mapping[tuple[str, str], str]
"""By kind and day."""


def day_of(at: float) -> str:
    return datetime.fromtimestamp(int(at // DAY_S) * DAY_S, UTC).strftime("%Y-%m-%d")


def bounds(day: str) -> tuple[float, float]:
    start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    return start, start + DAY_S


def stamps(session: Session, *, audio: bool) -> Stamps:
    """Of each kind and day that there is. Whole numbers only: the order in which they are summed does not matter."""
    found = dict(_stamps(session, "sentences", _calls_by_day()))
    for place, masked in _stamps(session, "sentences", _masked_by_day()):
        found[place] = f"{found.get(place, '')}+{masked}"
    if audio:
        found |= _stamps(session, "audio", _recordings_by_day())
    found |= _stamps(session, "labels", _labels_by_day())
    found |= _stamps(session, "turns", _turns_by_day())
    return found


def sentences_of(session: Session, day: str) -> pa.Table:
    """What a call says of all its sentences is read once, and not once per sentence."""
    columns = {
        **{name: SENTENCE.c[name] for name in tables.SENTENCES.names if name in SENTENCE.c},
        **{name: cast(SENTENCE.c[name], String) for name in ("sentiment_scores", "slots", "models")},
        "role": effective_side(),
    }
    of_sentences = [field for field in tables.SENTENCES if field.name in columns]
    found = select(*(columns[field.name] for field in of_sentences)).join(CALL, CALL.c.id == SENTENCE.c.call)
    said = _table(session, found.where(_finished(day)), pa.schema(of_sentences))
    said = said.sort_by([(name, "ascending") for name in ("call", "start_ms", "id")])  # quicker than the database
    of_calls = [field for field in tables.SENTENCES if field.name not in columns]
    known = select(CALL.c.id, *(CALL.c[field.name] for field in of_calls)).where(_finished(day))
    calls = _table(session, known, pa.schema([("id", tables.TEXT), *of_calls]))
    place = pc.index_in(said["call"], calls["id"].combine_chunks())
    if place.null_count:  # a call that went in between
        said, place = said.filter(pc.is_valid(place)), place.drop_null()
    arrays = [said[name] if name in columns else calls[name].take(place) for name in tables.SENTENCES.names]
    return pa.Table.from_arrays(arrays, schema=tables.SENTENCES)


def labels_of(session: Session, day: str) -> pa.Table:
    """Of labels that wait for a decision `held` says so."""
    columns = (
        *(func.coalesce(LABEL.c.sentence, ""), func.coalesce(LABEL.c.turn, ""), LABEL.c.call, LABEL.c.kind),
        *(LABEL.c.value, LABEL.c.predicted, LABEL.c.author, LABEL.c.author_role, LABEL.c.at, LABEL.c.seconds),
        *(LABEL.c.where, LABEL.c.why, LABEL.c.model, LABEL.c.held, LABEL.c.sample),
    )
    start, end = bounds(day)
    found = select(*columns).where(LABEL.c.at >= start, LABEL.c.at < end)
    return _table(session, found.order_by(LABEL.c.call, LABEL.c.at, LABEL.c.id), tables.LABELS)


def turns_of(session: Session, day: str) -> pa.Table:
    texts = (cast(TURN.c[name], String) for name in ("actions", "replies", "cause", "tags"))
    columns = (
        *(TURN.c.call, TURN.c.turn, TURN.c.at, TURN.c.input, TURN.c.intent, TURN.c.intent_score),
        *(cast(TURN.c.slots, String), TURN.c.state, *texts, CALL.c.sample),
    )
    start, end = bounds(day)
    found = select(*columns).join(CALL, CALL.c.id == TURN.c.call).where(CALL.c.state.in_(FINISHED))
    found = found.where(TURN.c.at >= start, TURN.c.at < end)
    return _table(session, found.order_by(TURN.c.at, TURN.c.call, TURN.c.turn), tables.TURNS)


class RecordedCall(NamedTuple):
    """A call with a recording."""

    id: str
    recording: str
    state_at: float
    roles: list[str]
    swapped: bool
    attributes: dict[str, Any]
    sample: bool


def recorded_calls(session: Session, day: str) -> list[RecordedCall]:
    names = ("id", "recording", "state_at", "roles", "swapped", "attributes", "sample")
    found = select(*(CALL.c[name] for name in names)).where(_finished(day), CALL.c.recording != "").order_by(CALL.c.id)
    return [RecordedCall(*row) for row in session.execute(found)]


def calls_there(session: Session, calls: set[str]) -> tuple[set[str], set[str]]:
    """Those that the database has, and those that were erased."""
    there: set[str] = set()
    gone: set[str] = set()
    ordered = sorted(calls)
    for first in range(0, len(ordered), 500):
        some = ordered[first : first + 500]
        there |= set(session.scalars(select(CALL.c.id).where(CALL.c.id.in_(some))))
        gone |= tombstones.which(session, some)
    return there, gone


def _table(session: Session, query: Select[Any], schema: pa.Schema) -> pa.Table:
    cursor: Any = session.connection().execute(query).cursor  # the driver's own: rows of SQLAlchemy take twice as long
    some = iter(lambda: cursor.fetchmany(ROWS_AT_ONCE), [])
    parts = [tables.of_rows(rows, schema) for rows in some]
    return pa.concat_tables(parts).combine_chunks() if parts else schema.empty_table()


def _finished(day: str) -> ColumnElement[bool]:
    start, end = bounds(day)
    return and_(CALL.c.started_at >= start, CALL.c.started_at < end, CALL.c.state.in_(FINISHED))


def _stamps(session: Session, kind: str, query: Select[Any]) -> Iterator[tuple[tuple[str, str], str]]:
    for day, *numbers in session.execute(query):
        yield (kind, day_of(int(day) * DAY_S)), ".".join(str(int(number or 0)) for number in numbers)


def _number(column: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(column, BigInteger)


def _count(condition: ColumnElement[bool]) -> ColumnElement[Any]:
    return func.sum(case((condition, 1), else_=0))


def _calls_by_day() -> Select[Any]:
    day = func.floor(CALL.c.started_at / DAY_S)
    sums = (CALL.c.sentences, CALL.c.duration_ms, CALL.c.metrics_ms, CALL.c.alerts)
    columns = (
        *(func.count(), func.sum(_number(CALL.c.state_at * 1000)), _count(CALL.c.swapped)),
        *(func.sum(_number(one)) for one in sums),
    )
    return select(day, *columns).where(CALL.c.state.in_(FINISHED)).group_by(day)


def _masked_by_day() -> Select[Any]:
    """Calls of which personal data were masked afterwards: nothing else in their row tells."""
    day = func.floor(CALL.c.started_at / DAY_S)
    found = select(day, func.count(), func.max(AUDIT.c.id)).join(CALL, CALL.c.id == AUDIT.c.subject)
    return found.where(AUDIT.c.action == "call.redacted", CALL.c.state.in_(FINISHED)).group_by(day)


def _recordings_by_day() -> Select[Any]:
    day = func.floor(CALL.c.started_at / DAY_S)
    columns = (func.count(), func.sum(_number(CALL.c.state_at * 1000)), _count(CALL.c.swapped))
    return select(day, *columns).where(CALL.c.state.in_(FINISHED), CALL.c.recording != "").group_by(day)


def _labels_by_day() -> Select[Any]:
    day = func.floor(LABEL.c.at / DAY_S)
    columns = (func.count(), func.sum(_number(LABEL.c.id)), func.max(LABEL.c.id), _count(LABEL.c.held))
    return select(day, *columns).group_by(day)


def _turns_by_day() -> Select[Any]:
    day = func.floor(TURN.c.at / DAY_S)
    columns = (func.count(), func.sum(_number(TURN.c.turn)), func.sum(_number(TURN.c.at * 1000)))
    found = select(day, *columns).join(CALL, CALL.c.id == TURN.c.call).where(CALL.c.state.in_(FINISHED))
    return found.group_by(day)
