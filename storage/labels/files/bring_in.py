"""Labels brought in from files: checked like any other, kept with `why = import`, and never twice.

A row that names a sentence or turn is a label of it. A row with words alone becomes a call of its own, of one sentence
or one turn, so that no two of them stand and fall together when data are split.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, Protocol

import msgspec
from sqlalchemy import select
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.labels.allowed import turn_names
from storage.labels.files.formats import BadRow, LabelRow
from storage.labels.labels import correct, correct_turn
from storage.tables import Call, Label, Turn
from storage.viewer import Role, Viewer
from storage.writer.event_batch import EventBatch
from tenor import events
from tenor.errors import BadInput
from tenor.taxonomy.assistant import routed_intent
from tenor.taxonomy.in_force import NamesInForce

PIECE = 200
"""Rows of one transaction."""
SOURCE = "import"
AUTHOR_ROLE: Role = "administrator"
"""Whoever is on this machine may do everything."""

ImportedAs = Literal["imported", "unchanged", "refused"]


class TextReader(Protocol):
    """Redacts and understands words: storage runs no model."""

    def redacted(self, text: str) -> str: ...

    def read(self, texts: Sequence[str]) -> Sequence[events.Sentence]:
        """A sentence of each, redacted; call and id are put in here."""
        ...


class LabelsBroughtIn(NamedTuple):
    """What became of the rows so far."""

    labels: Counter[ImportedAs]
    wrong: list[BadRow]


def bring_in(
    database: Database,
    rows: Iterable[LabelRow | BadRow],
    *,
    by: str,
    names: NamesInForce,
    reader: TextReader,
    author: str = "",
) -> Iterator[LabelsBroughtIn]:
    """Keep the labels, some at a time; after each piece what became of its rows. `author`: whose labels they are where
    a row does not say; else `by`, who brings them in."""
    rows = iter(rows)
    while piece := list(islice(rows, PIECE)):
        wrong = [row for row in piece if isinstance(row, BadRow)]
        counts: Counter[ImportedAs] = Counter()
        good = _named(database, [row for row in piece if isinstance(row, LabelRow)], reader, wrong)
        counts["refused"] = len(wrong)
        with database.begin() as session:
            for_turns = turn_names(session)
            for row in good:
                viewer = Viewer(row.author or author or by, AUTHOR_ROLE)
                for kind, value in row.values.items():
                    try:
                        counts[_keep(session, viewer, row, kind, value, names, for_turns)] += 1
                    except BadInput as error:
                        counts["refused"] += 1
                        wrong.append(BadRow(row.place, error.message))
        yield LabelsBroughtIn(counts, wrong)


def _keep(
    session: Session,
    viewer: Viewer,
    row: LabelRow,
    kind: str,
    value: str,
    names: NamesInForce,
    for_turns: NamesInForce,
) -> ImportedAs:
    if row.turn and kind == "intent":
        value = routed_intent(value)
    of = col(Label.turn) == row.turn if row.turn else col(Label.sentence) == row.sentence
    same = select(col(Label.value)).where(of, col(Label.kind) == kind, col(Label.author) == viewer.name)
    newest = session.scalars(same.order_by(col(Label.at).desc(), col(Label.id).desc()).limit(1)).first()
    if newest is not None and _plain(newest) == _plain(value):
        return "unchanged"
    if row.turn:
        made = correct_turn(session, viewer, row.turn, kind, value, names=for_turns, where="import", why="import")
    else:
        made = correct(session, viewer, row.sentence, kind, value, names=names, where="import", why="import")
    if row.at is not None:
        made.at = row.at
        session.flush()
    return "imported"


def _plain(value: str) -> str:
    return "".join(value.split())


def _named(database: Database, rows: list[LabelRow], reader: TextReader, wrong: list[BadRow]) -> list[LabelRow]:
    """Every row with the id of its sentence or turn: of words alone it is made of the words."""
    named, new = [], []
    for row in rows:
        if row.sentence or row.turn:
            named.append(row)
            continue
        call = f"{SOURCE}/{hashlib.sha256(row.text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if row.of_shopper and reader.redacted(row.text) != row.text:
            wrong.append(BadRow(row.place, "personal data in the line: its words would not fit their tags without"))
            continue
        if row.of_shopper:
            named.append(row._replace(turn=f"{call}/1"))
        else:
            named.append(row._replace(sentence=f"{call}/0/0"))
        new.append((call, row))
    with database.session() as session:
        known = set(session.scalars(select(col(Call.id)).where(col(Call.id).in_([call for call, _ in new]))))
    wanted = {call: row for call, row in new if call not in known}
    spoken = {call: row for call, row in wanted.items() if not row.of_shopper}
    sentences = reader.read([row.text for row in spoken.values()]) if spoken else ()
    now = time.time()
    with database.begin() as session:
        for call, row in wanted.items():
            session.add(_call(call, now, shopper=row.of_shopper))
        session.flush()
        for call, row in wanted.items():
            if row.of_shopper:
                session.add(Turn(id=f"{call}/1", call=call, turn=1, at=now, input=row.text))
        session.flush()
        told = [
            msgspec.structs.replace(sentence, call=call, sentence=f"{call}/0/0")
            for call, sentence in zip(spoken, sentences, strict=True)
        ]
        EventBatch((event, now) for event in told).write(session)
    return named


def _call(call: str, now: float, *, shopper: bool) -> Call:
    roles = ["caller", "assistant"] if shopper else ["caller"]
    return Call(
        id=call, medium="chat", source=SOURCE, roles=roles, started_at=now, ended_at=now, state="analysed", state_at=now
    )
