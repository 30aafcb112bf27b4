"""What a version of a dataset says of itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa

from storage.archive.parts import Amendment, Part, root_hash
from storage.archive.tables import FLOAT, TEXT, WHOLE
from storage.place import Place
from tenor.errors import BadInput
from tenor.yaml.nodes import meant

FOLDER = "datasets"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
SPLITS = ("train", "val", "test", "holdout")
ROWS = pa.schema(
    [
        *((name, TEXT) for name in ("id", "call", "group", "split", "sentiment", "intent", "tags", "why")),
        ("people", WHOLE),
        ("weight", FLOAT),
        ("at", FLOAT),
    ]
)
"""No words: those are in the archive. `tags` is a JSON array, `people` how many said so, `at` when the call began."""


class DatasetVersion(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    parent: int | None
    """The version before; None: the first."""
    made_at: float
    by: str
    source: str
    """`search` or `import`."""
    query: str = ""
    """What was searched for, or what was imported."""
    snapshot: str = ""
    hash: str
    """Over its rows and parts as they were made: equal hashes, equal data."""
    rows: str
    """The blob with its rows."""
    parts: tuple[Part, ...]
    counts: dict[str, int]
    """Rows by split."""
    left_out: dict[str, int] = {}
    """Rows that the splits cannot have, by reason."""
    declared: bool = False
    """The set came with its own split."""
    labels: dict[str, dict[str, int]] = {}
    """Rows by kind and value."""
    bytes: int = 0
    dictionaries: dict[str, list[str]] = {}
    """Intents and slots in the order of NeMo's files that it came from."""
    amendments: tuple[Amendment, ...] = ()

    @property
    def reference(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def erasures(self) -> int:
        return len({one.receipt for one in self.amendments})


def content_hash(rows: str, parts: Iterable[Part]) -> str:
    return hashlib.sha256(f"{rows}\n{root_hash(parts)}\n".encode()).hexdigest()


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise BadInput(f"{name[:80]!r} cannot be the name of a dataset", "letters, digits, dots, dashes, underscores")
    return name


def file_name(name: str, version: int) -> str:
    return f"{FOLDER}/{name}/{version}.json"


def versions(place: Place, name: str) -> list[int]:
    found = (one.rpartition("/")[2].removesuffix(".json") for one in place.names(f"{FOLDER}/{checked_name(name)}"))
    return sorted(int(number) for number in found if number.isdigit())


def names(place: Place) -> list[str]:
    return list(dict.fromkeys(one.split("/")[1] for one in place.names(FOLDER) if one.count("/") == 2))


def find(place: Place, reference: str) -> DatasetVersion:
    """By NAME@N; NAME alone is its newest version."""
    name, at, number = reference.partition("@")
    known = names(place)
    if name not in known:
        raise BadInput(f"there is no dataset {name!r}{meant(name, known)}", "`tenor dataset list` shows all")
    there = versions(place, name)
    if at and (not number.isdigit() or int(number) not in there):
        numbers = ", ".join(map(str, there))
        raise BadInput(f"dataset {name} has no version {number!r}", f"it has {numbers}")
    return _read(place, name, int(number) if at else there[-1])


def listing(place: Place) -> Iterator[DatasetVersion]:
    """Every version of every dataset that can be read."""
    for name in names(place):
        for number in versions(place, name):
            try:
                yield _read(place, name, number)
            except BadInput:
                continue  # whoever asks for it is told


def save(place: Place, version: DatasetVersion) -> None:
    content = msgspec.json.format(msgspec.json.encode(version), indent=1)
    place.write(file_name(version.name, version.version), content, writable=False)


def _read(place: Place, name: str, number: int) -> DatasetVersion:
    try:
        return msgspec.json.decode(place.read(file_name(name, number)), type=DatasetVersion)
    except (msgspec.MsgspecError, FileNotFoundError) as error:
        raise BadInput(
            f"dataset {name}@{number} cannot be read: {error}", "bring its file back from a backup"
        ) from None
