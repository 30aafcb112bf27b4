"""Labels written down for others: as a table, as JSON lines, or for Label Studio."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import select
from sqlmodel import Session, col

from storage.labels.tags import read_tags, spans_of
from storage.tables import Call, Label, Sentence, Turn
from storage.transfer.exporter import harmless
from storage.viewer import Viewer
from tenor.errors import BadInput

LabelFormat = Literal["csv", "jsonl", "label-studio"]
LABEL_FORMATS: tuple[LabelFormat, ...] = ("csv", "jsonl", "label-studio")
COLUMNS = (
    *("sentence", "turn", "call", "text", "kind", "value", "predicted", "author", "author_role", "at", "seconds"),
    *("where", "why", "model", "held", "sample"),
)


class WrittenLabel(NamedTuple):
    """A label with the words that it is about."""

    label: Label
    text: str


def labels_of(
    session: Session, viewer: Viewer, *, kind: str = "", author: str = "", since: float = 0.0, held: bool | None = None
) -> Iterator[WrittenLabel]:
    """Labels with their words, in the order in which they were made. Of corrected texts and speakers only by name."""
    found = select(Label, Sentence.text, Turn.input).join(Call, col(Call.id) == col(Label.call))  # type: ignore[call-overload]
    found = found.outerjoin(Sentence, col(Sentence.id) == col(Label.sentence))
    found = found.outerjoin(Turn, col(Turn.id) == col(Label.turn)).where(viewer.clause(), col(Label.at) >= since)
    if kind:
        found = found.where(col(Label.kind) == kind)
    if author:
        found = found.where(col(Label.author) == author)
    if held is not None:
        found = found.where(col(Label.held) == held)
    for label, text, line in session.execute(found.order_by(col(Label.at), col(Label.id))):
        yield WrittenLabel(label, text if text is not None else line or "")


def told(one: WrittenLabel) -> dict[str, Any]:
    """A label by the names of its fields."""
    return {name: one.text if name == "text" else getattr(one.label, name) for name in COLUMNS}


def written(labels: Iterable[WrittenLabel], form: LabelFormat) -> bytes:
    match form:
        case "csv":
            made = io.StringIO()
            writer = csv.writer(made, lineterminator="\r\n")
            writer.writerow(COLUMNS)
            for one in labels:
                writer.writerow([harmless("" if cell is None else cell) for cell in told(one).values()])
            return made.getvalue().encode("utf-8", "replace")
        case "jsonl":
            return b"".join(msgspec.json.encode(told(one)) + b"\n" for one in labels)
        case "label-studio":
            return msgspec.json.format(msgspec.json.encode(list(_tasks(labels))), indent=1)


def _tasks(labels: Iterable[WrittenLabel]) -> Iterator[dict[str, Any]]:
    """A task per sentence or turn: what the models said as a prediction, what each person says as an annotation."""
    by_item: dict[str, list[WrittenLabel]] = {}
    for one in labels:
        if one.label.kind in ("sentiment", "intent", "slots"):
            by_item.setdefault(one.label.sentence or one.label.turn or "", []).append(one)
    for number, said in enumerate(by_item.values(), 1):
        first, text = said[0].label, said[0].text
        of = {"sentence": first.sentence} if first.sentence else {"turn": first.turn}
        people: dict[str, dict[str, Label]] = {}
        for one in said:
            people.setdefault(one.label.author, {})[one.label.kind] = one.label  # the newest comes last
        kinds = {one.label.kind: one.label for one in said}
        predicted = [result for label in kinds.values() for result in _results(text, label.kind, label.predicted)]
        yield {
            "id": number,
            "data": {"text": text, "call": first.call, **of},
            "predictions": [{"model_version": next(iter(kinds.values())).model, "result": predicted}],
            "annotations": [_annotation(text, author, by_kind) for author, by_kind in people.items()],
        }


def _annotation(text: str, author: str, by_kind: dict[str, Label]) -> dict[str, Any]:
    newest = max(label.at for label in by_kind.values())
    return {
        "completed_by": {"email": author},
        "created_at": datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds"),
        "lead_time": max((label.seconds or 0.0 for label in by_kind.values()), default=0.0),
        "result": [result for kind, label in by_kind.items() for result in _results(text, kind, label.value)],
    }


def _results(text: str, kind: str, value: str) -> Iterator[dict[str, Any]]:
    if kind != "slots":
        choice = {"choices": [value]}
        yield {"from_name": kind, "to_name": "text", "type": "choices", "value": choice}
        return
    try:
        spans = spans_of(text, read_tags(value))
    except (BadInput, ValueError):  # the words were redacted since
        return
    for span in spans:
        place = {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [span.slot]}
        yield {"from_name": "slots", "to_name": "text", "type": "labels", "value": place}
