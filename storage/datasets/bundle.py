"""A dataset as one file, for another site: its version and all blobs, with hashes that are checked on the way in.

    dataset.json, then blobs/SHA-256 ...    a tar without compression

Nothing in a bundle is ever run or unpickled. What a tar can do beyond holding these files (paths, links, devices) is
refused, and so are blobs that are not what their names say, and tables that would fill the memory.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.archive import tables
from storage.archive.blobs import NAME, BlobStore
from storage.archive.lock import changing
from storage.archive.references import sweep
from storage.archive.sealing.tables import is_sealed
from storage.datasets.manifest import ROWS, DatasetVersion, checked_name, content_hash, find, save, versions
from storage.place import Place
from storage.snapshots.verifying import named
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.reading import reading
from tenor.settings import Settings

MANIFEST = "dataset.json"
LARGEST_MANIFEST = 64 << 20
LARGEST_BLOB = 4 << 30
LARGEST_TABLE = 2 << 30
"""Characters of a table's texts."""
Progress = Callable[[int, int], None]


def export_bundle(place: Place, version: DatasetVersion, out: Path, progress: Progress = lambda *_: None) -> int:
    """Write it; how many blobs. The same version makes the same bytes."""
    blobs = BlobStore(place)
    wanted = sorted({version.rows, *(sha256 for sha256, _ in named(blobs, version.parts))})
    if any(is_sealed(blobs.get(sha256)) for sha256 in (version.rows, *(one.sha256 for one in version.parts))):
        raise BadInput(
            f"{version.reference} is sealed with keys of this archive (learn.worm), so nobody could read its bundle",
            "export it in another format: `tenor dataset export --help` lists them",
        )
    part = out.with_name(f".{out.name}.part")
    try:
        with tarfile.open(part, "w", format=tarfile.PAX_FORMAT) as tar:
            _add(tar, MANIFEST, msgspec.json.encode(version))
            for number, sha256 in enumerate(wanted, 1):
                _add(tar, f"blobs/{sha256}", blobs.get(sha256))
                progress(number, len(wanted))
        part.replace(out)
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return len(wanted)


def is_bundle(path: Path) -> bool:
    """By its beginning: whatever else is wrong with it is told by who reads it."""
    return path.is_file() and path.suffix == ".tar"


def import_bundle(
    settings: Settings, path: Path, name: str = "", *, viewer: Viewer = HOUSE, progress: Progress = lambda *_: None
) -> DatasetVersion:
    """The dataset that a bundle holds, under its own name or another. Where it is already, nothing changes."""
    viewer.must_train("import datasets")
    with changing(settings) as place:
        try:
            with reading(str(path)):
                version = _read(path, BlobStore(place), progress)
                _check(version, BlobStore(place))
            version = _numbered(place, msgspec.structs.replace(version, name=checked_name(name or version.name)))
            save(place, version)
        except BadInput:
            sweep(place)  # what was taken before something turned out to be wrong
            raise
        return version


def original_hash(version: DatasetVersion) -> str:
    """Worked out from what it names now and what is on record of the erasures."""
    parts, rows = {part.place: part for part in version.parts}, version.rows
    for one in reversed(version.amendments):
        part = parts.get((one.kind, one.key))
        if part is not None and part.sha256 == one.new:
            parts[part.place] = msgspec.structs.replace(part, sha256=one.old)
        elif one.new == rows:
            rows = one.old
    return content_hash(rows, parts.values())


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _read(path: Path, blobs: BlobStore, progress: Progress) -> DatasetVersion:
    version: DatasetVersion | None = None
    wanted: set[str] = set()
    got: set[str] = set()
    for member, content in _members(path):
        if version is None:
            if member.name != MANIFEST:
                raise _refused(path, f"it begins with {member.name[:80]!r}, not with {MANIFEST}")
            try:
                version = msgspec.json.decode(content, type=DatasetVersion)
            except msgspec.MsgspecError as error:
                raise _refused(path, f"{MANIFEST}: {error}") from None
            wanted = {version.rows, *(part.sha256 for part in version.parts)}
            continue
        folder, _, sha256 = member.name.partition("/")
        if folder != "blobs" or not NAME.fullmatch(sha256):
            raise _refused(path, f"{member.name[:80]!r} does not belong into it")
        if blobs.put(content) != sha256:
            raise _refused(path, f"blob {sha256} is not what its name says")
        got.add(sha256)
        progress(len(got), max(len(wanted), len(got)))
    if version is None:
        raise _refused(path, "it is empty")
    if missing := sorted(one for one in wanted - got if not blobs.has(one)):
        raise _refused(path, f"blob {missing[0]} is missing")
    return version


def _members(path: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    try:
        with tarfile.open(path, "r:") as tar:
            for number, member in enumerate(tar):
                limit = LARGEST_BLOB if number else LARGEST_MANIFEST
                if not member.isreg() or member.issparse():
                    raise _refused(path, f"{member.name[:80]!r} is no plain file")
                if member.size > limit:
                    raise _refused(path, f"{member.name[:80]!r} is larger than {limit >> 20} MB")
                file = tar.extractfile(member)
                content = file.read() if file else b""
                if len(content) != member.size:
                    raise _refused(path, f"{member.name[:80]!r} is cut short")
                yield member, content
    except tarfile.TarError as error:
        raise _refused(path, f"it is no tar: {error}") from None
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def _check(version: DatasetVersion, blobs: BlobStore) -> None:
    """That its tables are tables of the kinds they say, and its hash is right."""
    if original_hash(version) != version.hash:
        raise BadInput(f"dataset {version.reference}: its hash is not that of what it holds")
    for sha256, kind in [(version.rows, "rows"), *((part.sha256, part.kind) for part in version.parts)]:
        schema = ROWS if kind == "rows" else tables.SCHEMAS.get(kind)
        if fault := _fault(blobs.get(sha256), schema):
            raise BadInput(f"dataset {version.reference}: blob {sha256} {fault}")
    for sha256, _ in named(blobs, version.parts):
        if not blobs.has(sha256):
            raise BadInput(f"dataset {version.reference}: blob {sha256} is missing")


def _fault(content: bytes, schema: pa.Schema | None) -> str:
    """What is wrong with a table. Texts are measured before they are spelled out: a small file can say one a million
    times."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if schema is None or file.schema_arrow.names != schema.names:
            return "is no table of its kind"
        if file.metadata.num_rows > LARGEST_TABLE >> 6:
            return "would fill the memory"
        texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        size = 0
        for batch in pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts).iter_batches(columns=texts):
            for column in batch.columns:
                lengths = pc.binary_length(column.dictionary).take(column.indices)
                size += pc.sum(lengths).as_py() or 0
            if size > LARGEST_TABLE:
                return "would fill the memory"
    except (pa.ArrowException, OSError):
        return "is no table"
    return ""


def _numbered(place: Place, version: DatasetVersion) -> DatasetVersion:
    """Under its own number where that is free."""
    there = versions(place, version.name)
    for number in there:
        known = find(place, f"{version.name}@{number}")
        if known.hash == version.hash:
            return known
    if version.version in there:
        return msgspec.structs.replace(version, version=there[-1] + 1, parent=there[-1])
    return version


def _refused(path: Path, why: str) -> BadInput:
    return BadInput(f"{path} is refused: {why}", "make the bundle again with `tenor dataset export`")
