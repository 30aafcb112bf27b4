"""Messages of a table: CSV with commas, semicolons, tabs or bars, a header line first."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain

from ingest.text.encoding import LONGEST
from ingest.text.field_names import Columns, Fields, find
from ingest.text.message import Message
from tenor.errors import BadInput
from tenor.reading import listed


def read(lines: Iterable[str], name: str, columns: Columns) -> Iterator[Message]:
    csv.field_size_limit(LONGEST)
    lines = iter(lines)
    header = next((line for line in lines if line.strip()), "")
    if not header:
        return
    rows = csv.reader(chain([header], lines), delimiter=_delimiter(header), strict=True)
    try:
        names = next(rows)
        fields = find(names, columns)
        _check(fields, columns, names, name)
        for row in rows:
            if any(row):
                yield _message(_whole(row, names, fields, name, rows.line_num), fields)
    except csv.Error as error:
        reason = "a quotation is never closed" if "unexpected end" in str(error) else str(error)
        raise BadInput(f"{name}, line {rows.line_num}: {reason}") from None


def _delimiter(header: str) -> str:
    return max(",;\t|", key=header.count)


def _check(fields: Fields, columns: Columns, names: list[str], name: str) -> None:
    given = {"text": columns.text, "speaker": columns.speaker, "time": columns.time}
    for kind, wanted in (given | {"conversation": columns.conversation}).items():
        if wanted and not getattr(fields, kind):
            raise BadInput(f"{name} has no column {wanted!r}", f"its columns: {listed(names)}")
    if not fields.text:
        raise BadInput(
            f"{name} has no column that holds the text; its columns: {listed(names)}", "name it with --text-column"
        )
    if names.count(fields.text) > 1:
        raise BadInput(f"{name} has {names.count(fields.text)} columns {fields.text!r}", "give the others another name")


def _whole(row: list[str], names: list[str], fields: Fields, name: str, line: int) -> dict[str, str]:
    if any(row[len(names) :]) or len(row) <= names.index(fields.text):
        raise BadInput(
            f"{name}, line {line}: {len(row)} columns, but the header has {len(names)}",
            "a text with a comma in it must be quoted",
        )
    return dict(zip(names, row, strict=False))


def _message(row: dict[str, str], fields: Fields) -> Message:
    return Message(
        row[fields.text],
        row.get(fields.speaker, "").strip(),
        fields.at(row),
        row.get(fields.conversation, "").strip(),
        fields.told(row),
    )
