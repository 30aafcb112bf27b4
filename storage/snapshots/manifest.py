"""What a snapshot says of itself, and how two of them differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from storage.archive.parts import Amendment, Part, root_hash
from storage.place import Place
from tenor.errors import BadInput
from tenor.yaml.nodes import meant

FOLDER = "snapshots"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    taken_at: float
    by: str
    job: str
    """For which job it was taken; empty: by hand."""
    root: str
    """Over all parts as they were when it was taken."""
    parts: tuple[Part, ...]
    new_bytes: int = 0
    """What no earlier snapshot held."""
    ontap: str = ""
    """Volume of which ONTAP has a snapshot of this name."""
    amendments: tuple[Amendment, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(part.bytes + part.below for part in self.parts)

    @property
    def erasures(self) -> int:
        """How many amended it."""
        return len({one.receipt for one in self.amendments})

    def rows(self, kind: str) -> int:
        return sum(part.rows for part in self.parts if part.kind == kind)

    def original_root(self) -> str:
        """Worked out from what it names now and what is on record of the erasures."""
        parts = {part.place: part for part in self.parts}
        for one in reversed(self.amendments):
            part = parts.get((one.kind, one.key))
            if part is not None and part.sha256 == one.new:
                parts[part.place] = msgspec.structs.replace(part, sha256=one.old)
        return root_hash(parts.values())


class PartChange(NamedTuple):
    """How a part differs between two snapshots."""

    change: Literal["added", "removed", "changed"]
    kind: str
    key: str
    rows_before: int
    rows_after: int


def listing(place: Place) -> Iterator[Snapshot]:
    """All that can be read, the oldest first."""
    found = []
    for name in place.names(FOLDER):
        try:
            found.append(msgspec.json.decode(place.read(name), type=Snapshot))
        except (msgspec.MsgspecError, FileNotFoundError):
            continue  # `find` says what is wrong with it
    yield from sorted(found, key=lambda snapshot: (snapshot.taken_at, snapshot.name))


def find(place: Place, name: str) -> Snapshot:
    names = [one.rpartition("/")[2].removesuffix(".json") for one in place.names(FOLDER)]
    if name not in names:
        raise BadInput(f"there is no snapshot {name!r}{meant(name, names)}", "`tenor snapshot list` shows all")
    try:
        return msgspec.json.decode(place.read(file_name(name)), type=Snapshot)
    except msgspec.MsgspecError as error:
        hint = "bring its file back from the second place or a backup"
        raise BadInput(f"snapshot {name} cannot be read: {error}", hint) from None


def file_name(name: str) -> str:
    return f"{FOLDER}/{name}.json"


def diff(before: Snapshot, after: Snapshot) -> list[PartChange]:
    old, new = ({part.place: part for part in snapshot.parts} for snapshot in (before, after))
    changes = []
    for kind, key in sorted(old.keys() | new.keys()):
        was, now = old.get((kind, key)), new.get((kind, key))
        if was is None and now is not None:
            changes.append(PartChange("added", kind, key, 0, now.rows))
        elif now is None and was is not None:
            changes.append(PartChange("removed", kind, key, was.rows, 0))
        elif was is not None and now is not None and was.sha256 != now.sha256:
            changes.append(PartChange("changed", kind, key, was.rows, now.rows))
    return changes
