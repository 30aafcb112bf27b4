"""Calls brought in from another installation: our JSON, vCons, zips and folders of them.

Another program's vCon has no rows: it is handed on, for what was said in it has to be understood first.

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
from sqlalchemy.exc import StatementError
from sqlmodel import Session, SQLModel

from storage import tables
from storage.db.engine import Database
from storage.db.errors import blames_data
from storage.labels import labels
from storage.privacy import tombstones
from storage.queries.calls import whole
from storage.recorder.store import RecordingStore, recording_name
from storage.transfer import vcon
from storage.transfer.document import OVER, CallDocument, content_hash, document_of, parsed, read_document
from storage.viewer import HOUSE
from tenor.errors import BadInput, TenorError
from tenor.reading import reading
from tenor.settings import Settings

MOST_BYTES = 1 << 30
"""Of one document: ten hours of audio."""
MOST_FILES = 100_000
MOST_TEXT, MOST_RATIO = 32 << 20, 200
"""How large a document may be that was in a zip: so many bytes, or so many times larger than there. Text shrinks to a
tenth; what is larger has audio, which hardly shrinks."""
AUDIO_RATIO = 4
SUFFIX = (".json", ".jsonl", ".vcon", ".zip")
FORMS = {"audio/flac": "flac", "audio/ogg": "opus"}

ImportOutcome = Literal["imported", "replaced", "unchanged", "conflict", "erased"]


class FoundDocument(NamedTuple):
    """A document and where it was."""

    place: str
    content: bytes
    fault: BadInput | None = None
    """Why it could not be taken out of its zip, while others can."""
    folder: Path | None = None
    """Where files lie that it names; None: it was in a zip."""


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
    with reading(str(path)):
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
                yield FoundDocument(str(path), content, folder=path.parent)
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
            alone = number == 1 and not file.peek(1)  # type: ignore[attr-defined]
            yield FoundDocument(str(path) if alone else place, line, folder=path.parent)


def _bounded(place: str, content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise BadInput(f"{place} is larger than a call can be ({MOST_BYTES >> 20} MB)")


class OthersVcon(NamedTuple):
    """A vCon that another program made: what was said in it has to be understood first."""

    given: dict[str, Any]
    signed: bool


def read(found: FoundDocument) -> CallDocument:
    """The call of Tenor in a document; says where and what when there is none."""
    document = read_any(found)
    if isinstance(document, OthersVcon):
        raise BadInput(f"{found.place}: this vCon is not of Tenor", "`tenor import` understands what is in it")
    return document


def read_any(found: FoundDocument) -> CallDocument | OthersVcon:
    """The call in a document, or another program's vCon."""
    if found.fault is not None:
        raise found.fault
    with reading(found.place):
        try:
            return _read(found.content)
        except BadInput as error:
            raise BadInput(f"{found.place}: {error.message}", error.hint) from None


def _read(content: bytes) -> CallDocument | OthersVcon:
    given = parsed(content)
    if not isinstance(given, dict) or {"vcon", "payload", "ciphertext"}.isdisjoint(given):
        return read_document(given)
    opened = vcon.unsealed(given)
    if "vcon" in opened and not vcon.is_ours(opened):
        return OthersVcon(opened, signed=opened is not given)
    return read_document(vcon.document_in(opened) if "vcon" in opened else opened)


def known(database: Database, settings: Settings, call: str, digest: str, *, replace: bool) -> ImportResult | None:
    """What keeps another program's vCon from being understood: its call was erased, or is here already."""
    with database.session() as session:
        if tombstones.is_erased(session, call):
            return ImportResult(call, "erased", "it was erased here and does not come back")
        here = session.get(tables.Call, call)
        if here is None:
            return None
        recorded = here.recorded or here.medium != "voice" or not settings.storage.record
        if here.attributes.get("vcon_sha256") == digest:
            return ImportResult(call, "unchanged") if here.state in OVER and recorded else None
    return None if replace else ImportResult(call, "conflict", "it is here already and differs")


def store(
    database: Database, settings: Settings, document: CallDocument, *, by: str, replace: bool = False
) -> ImportResult:
    """Write a call and its recording, unless it is here already or was erased here."""
    try:
        return _store(database, settings, document, by=by, replace=replace)
    except Exception as error:
        if isinstance(error, TenorError) or not blames_data(error):
            raise
        raise BadInput(f"call {document.call.id[:80]!r} holds what no database takes: {_cause(error)}") from None


def _cause(error: Exception) -> str:
    """What the database objects to, without the rows that were to be written."""
    cause = error.orig if isinstance(error, StatementError) and error.orig else error
    return str(cause).splitlines()[0][:200] if str(cause) else type(cause).__name__


def _store(database: Database, settings: Settings, document: CallDocument, *, by: str, replace: bool) -> ImportResult:
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
        (tables.Score, document.scores),
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
    parts = ("call", "sentences", "alerts", "notes", "labels", "turns", "scores")
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
            inside = [one for one in inside if one.filename.lower().endswith(SUFFIX[:-1])]
            # What is counted here may be there once, and named a thousand times.
            whole = sum(one.file_size for one in inside)
            if whole > MOST_TEXT + MOST_RATIO * path.stat().st_size:
                raise BadInput(f"{path} would unpack to {whole >> 20} MB: no calls do")
            for one in inside:
                place = f"{path}:{one.filename}"
                try:
                    with reading(place):
                        found = FoundDocument(place, _unzipped(archive, one, place))
                except BadInput as fault:
                    found = FoundDocument(place, b"", fault)
                yield found
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zipfile.LargeZipFile) as error:
        raise BadInput(f"{path} is not a zip we can read: {error}") from None


def _unzipped(archive: zipfile.ZipFile, one: zipfile.ZipInfo, place: str) -> bytes:
    if one.flag_bits & 1:
        raise BadInput(f"{place} is encrypted")
    packed = max(one.compress_size, 1000)
    if one.file_size > min(MOST_BYTES, MOST_RATIO * packed, MOST_TEXT + AUDIO_RATIO * packed):
        raise BadInput(f"{place} would unpack to {one.file_size >> 20} MB: no call does")
    with archive.open(one) as opened:
        content = opened.read(one.file_size + 1)
    if len(content) > one.file_size:
        raise BadInput(f"{place} is larger than its zip says")
    return content
