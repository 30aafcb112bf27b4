"""The assistant's turns of a day as a table to read, and as lines to train with: made from what is archived."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pyarrow as pa

from storage.place import Place
from storage.tables import Turn
from storage.transfer.turn_table import turn_table

FOLDER = "turns"
JSON_COLUMNS = ("slots", "actions", "replies", "cause", "tags")


def write_day(place: Place, day: str, rows: pa.Table) -> None:
    """The day's CSV; none where nothing is left of the day."""
    name = f"{FOLDER}/{day}.csv"
    if rows.num_rows:
        place.write(name, turn_table(archived_turns(rows)).encode("utf-8", "replace"))
    else:
        place.delete(name)


def archived_turns(rows: pa.Table) -> Iterator[Turn]:
    for row in rows.to_pylist():
        told = {name: msgspec.json.decode(row[name]) for name in JSON_COLUMNS}
        row.pop("sample")
        yield Turn(id=f"{row['call']}/{row['turn']}", **{**row, **told})
