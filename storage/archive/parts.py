"""What an archive, a snapshot or a dataset consists of: parts, each a blob that holds the rows of a day."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from storage.place import Place

Kind = Literal["sentences", "labels", "turns", "audio", "file"]
KINDS: tuple[Kind, ...] = ("sentences", "labels", "turns", "audio")
FOLDER = "archive"


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A blob, and what is in it. A part of audio is a table that names one blob per call and channel."""

    kind: Kind
    key: str
    """The day, 2026-11-18; of a file its name."""
    sha256: str
    bytes: int
    rows: int
    calls: int = 0
    below: int = 0
    """Bytes of the blobs that it names."""
    stamp: str = ""
    """What the database said of that day: unchanged, there is nothing to do."""

    @property
    def place(self) -> tuple[str, str]:
        return self.kind, self.key


class Amendment(msgspec.Struct, frozen=True, kw_only=True):
    """That an erasure put another blob in the place of a part's."""

    receipt: str
    at: float
    kind: str
    key: str
    old: str
    new: str
    """Empty: nothing was left."""
    rows: int
    """How many were removed."""


class ArchiveState(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive holds now."""

    number: int = 0
    origin: str = ""
    """Which archive this is: two places of one origin hold the same archive."""
    at: float = 0.0
    parts: tuple[Part, ...] = ()
    sealed: bool = False
    """What calls say is encrypted with a key per call."""


def newest(place: Place) -> ArchiveState:
    """The archive as it is; an empty one where there is none. Of a state that was cut short, the one before counts."""
    for name in reversed(place.names(FOLDER)):
        try:
            return msgspec.json.decode(place.read(name), type=ArchiveState)
        except (msgspec.MsgspecError, FileNotFoundError):
            continue
    return ArchiveState()


def publish(place: Place, state: ArchiveState) -> None:
    """From now on this is the archive. Each state is a file of its own, for places where nothing can be overwritten."""
    made = state_name(state.number)
    place.write(made, msgspec.json.format(msgspec.json.encode(state), indent=1))
    for name in place.names(FOLDER):
        if name < made:
            place.delete(name)


def state_name(number: int) -> str:
    return f"{FOLDER}/{number:010}.json"


def in_order(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: part.place))


def root_hash(parts: Iterable[Part]) -> str:
    """Over what is where: one hash for all of it."""
    lines = (f"{part.kind}\t{part.key}\t{part.sha256}\n" for part in in_order(parts))
    return hashlib.sha256("".join(lines).encode()).hexdigest()
