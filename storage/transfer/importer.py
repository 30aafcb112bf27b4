"""Calls brought in from another installation: our JSON, vCons of ours, zips and folders of them.

What comes from outside is not trusted: sizes are bounded before anything is unpacked, nothing is ever written under a
name that was given, and the rows of a call are written in one transaction or not at all. A call that is here already
stays as it is; if the two differ, that is told.
"""

from __future__ import annotations

import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import msgspec
from sqlmodel import Session, SQLModel

from storage import tables
from storage.db.engine import Database
from storage.labels import labels
from storage.privacy import tombstones
from storage.queries.calls import whole
from storage.recorder.store import RecordingStore, recording_name
from storage.transfer import vcon
from storage.transfer.document import CallDocument, content_hash, document_of, read_document
from storage.viewer import HOUSE
from tenor.errors import BadInput
from tenor.settings import Settings

MOST_BYTES = 1 << 30
"""Of one document: ten hours of audio."""
MOST_FILES = 100_000
MOST_RATIO = 200
"""How many times larger than in its zip a document may be. Text shrinks to a tenth, audio hardly."""
SUFFIX = (".json", ".jsonl", ".vcon", ".zip")
FORMS = {"audio/flac": "flac", "audio/ogg": "opus"}

ImportOutcome = Literal["imported", "replaced", "unchanged", "conflict", "erased"]


class FoundDocument(NamedTuple):
    """A document and where it was."""

    place: str
    content: bytes


class ImportResult(NamedTuple):
    call: str
    outcome: ImportOutcome
    detail: str = ""


def files(path: Path) -> list[Path]:
    """The file, or those of a folder that may hold calls."""
    if not path.exists():
        raise BadInput(f"no such file: {path}")
    if not path.is_dir():
        return [path]
    inside = sorted(one for one in path.rglob("*") if one.suffix.lower() in SUFFIX and one.is_file())
    if not inside:
        raise BadInput(f"no calls in the folder {path}", "exported calls are .json, .vcon or .zip files")
    return inside


def documents(path: Path) -> Iterator[FoundDocument]:
    """The document of a file, every one of a zip, or each line of a file of several calls."""
    if path.suffix.lower() == ".zip":
        yield from _zipped(path)
        return
    try:
        with path.open("rb") as file:
            first = file.readline(MOST_BYTES + 1)
            file.seek(0)
            if file.peek(1) and _is_whole(first):
                yield from _lines(path, file)
                return
            content = file.read(MOST_BYTES + 1)
            _bounded(str(path), content)
            yield FoundDocument(str(path), content)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def _is_whole(line: bytes) -> bool:
    """Whether a line is a document of its own, as `tenor export` writes them."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _lines(path: Path, file: IO[bytes]) -> Iterator[FoundDocument]:
    number = 0
    while line := file.readline(MOST_BYTES + 1):
        number += 1
        place = f"{path}:{number}"
        _bounded(place, line)
        if line.strip():
            yield FoundDocument(place if number > 1 or file.peek(1) else str(path), line)  # type: ignore[attr-defined]


def _bounded(place: str, content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise BadInput(f"{place} is larger than a call can be ({MOST_BYTES >> 20} MB)")


def read(found: FoundDocument) -> CallDocument:
    """The call in a document; says where and what when there is none."""
    try:
        try:
            given: Any = msgspec.json.decode(found.content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"not JSON: {error}") from None
        in_vcon = isinstance(given, dict) and not {"vcon", "payload", "ciphertext"}.isdisjoint(given)
        return read_document(vcon.document_in(given) if in_vcon else given)
    except RecursionError:
        raise BadInput(f"{found.place}: nested too deeply") from None
    except BadInput as error:
        raise BadInput(f"{found.place}: {error.message}", error.hint) from None


def store(
    database: Database, settings: Settings, document: CallDocument, *, by: str, replace: bool = False
) -> ImportResult:
    """Write a call and its recording, unless it is here already or was erased here."""
    recording = document.recording
    audio = recording.audio() if recording else None
    call, recordings = document.call.id, RecordingStore(settings)
    document.call.recording = recording_name(call, FORMS[recording.mediatype]) if recording and audio else ""
    with database.begin() as session:
        tombstones.hold_off(session)
        if tombstones.is_erased(session, call):
            return ImportResult(call, "erased", "it was erased here and does not come back")
        here = whole(session, HOUSE, call)
        if here:
            differing = _differences(document_of(session, here), document)
            if recording and audio and _hash(recordings, here.call.recording) != recording.content_hash:
                differing.append("recording")
            if not differing:
                return ImportResult(call, "unchanged")
            if not replace:
                return ImportResult(call, "conflict", f"it is here already and differs in {', '.join(differing)}")
            document.call.recording = document.call.recording or here.call.recording
            session.delete(here.call)
            session.flush()
            session.expunge_all()  # what came with it is gone too
        # The audio first: a row never names a recording that is not there.
        if audio:
            _keep(recordings, document.call.recording, audio)
        _insert(session, document)
        session.add(tables.Audit(at=time.time(), who=by, action="call.imported", subject=call))
    return ImportResult(call, "replaced" if here else "imported")


def _insert(session: Session, document: CallDocument) -> None:
    for model, row in ((tables.Customer, document.customer), (tables.Agent, document.agent)):
        if row is not None:
            known = session.get(model, getattr(row, "id", None) or row.name)
            if known is None:
                session.add(model(**msgspec.structs.asdict(row)))
    session.add(tables.Call(**msgspec.structs.asdict(document.call)))
    session.flush()
    belonging: tuple[tuple[type[SQLModel], list[Any]], ...] = (
        (tables.Sentence, document.sentences),
        (tables.Alert, document.alerts),
        (tables.Note, document.notes),
        (tables.Turn, document.turns),
    )
    for kind, rows in belonging:
        session.add_all(kind(**msgspec.structs.asdict(row)) for row in rows)
        session.flush()
    labels.keep(session, (tables.Label(**msgspec.structs.asdict(row)) for row in document.labels))


def _differences(here: dict[str, Any], document: CallDocument) -> list[str]:
    """Which parts of a call differ; what the recording's file is called is each installation's own matter."""
    there = msgspec.to_builtins(document)
    for one in (here, there):
        one["call"].pop("recording")
    parts = ("call", "sentences", "alerts", "notes", "labels", "turns")
    return [name for name in parts if _sorted(here[name]) != _sorted(there.get(name, []))]


def _sorted(rows: Any) -> Any:
    return sorted(msgspec.json.encode(row, order="sorted") for row in rows) if isinstance(rows, list) else rows


def _hash(recordings: RecordingStore, name: str) -> str:
    try:
        with recordings.open(name) as file:
            return content_hash(file.read())
    except FileNotFoundError:
        return ""


def _keep(recordings: RecordingStore, name: str, audio: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(audio)
        file.flush()
        recordings.put(Path(file.name), name)


def _zipped(path: Path) -> Iterator[FoundDocument]:
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [one for one in archive.infolist() if not one.is_dir()]
            if len(inside) > MOST_FILES:
                raise BadInput(f"{path} holds {len(inside)} files, more than {MOST_FILES}")
            for one in inside:
                place = f"{path}:{one.filename}"
                if not one.filename.lower().endswith(SUFFIX[:-1]):
                    continue  # the recordings beside texts, say
                if one.flag_bits & 1:
                    raise BadInput(f"{place} is encrypted")
                if one.file_size > MOST_BYTES or one.file_size > MOST_RATIO * max(one.compress_size, 1000):
                    raise BadInput(f"{place} would unpack to {one.file_size >> 20} MB: no call does")
                with archive.open(one) as opened:
                    content = opened.read(one.file_size + 1)
                if len(content) > one.file_size:
                    raise BadInput(f"{place} is larger than its zip says")
                yield FoundDocument(place, content)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zipfile.LargeZipFile) as error:
        raise BadInput(f"{path} is not a zip we can read: {error}") from None
