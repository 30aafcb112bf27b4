"""Calls written down for others: as a vCon, as JSON, as a table of sentences, to read, as subtitles.

A call alone goes to one file or to standard output; many go to a folder or a zip, one file per call, or all into one
file where the format can hold them (CSV, text, and JSON as lines).
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import msgspec
from sqlmodel import Session

from storage.queries.calls import WholeCall
from storage.recorder.store import RecordingStore
from storage.summaries import in_a_line, left, told
from storage.tables import Sentence
from storage.transfer.document import MEDIA_TYPES, RecordingPart, content_hash, document_of, packed
from storage.transfer.vcon import iso, vcon
from tenor.errors import BadInput
from tenor.settings import Settings

Format = Literal["vcon", "json", "csv", "txt", "srt"]
FORMATS: tuple[Format, ...] = ("vcon", "json", "csv", "txt", "srt")
SUFFIX = {"vcon": ".vcon.json", "json": ".json", "csv": ".csv", "txt": ".txt", "srt": ".srt"}

OF_CALL = ("call", "started_at", "medium", "agent", "customer", "queue", "site", "task")
OF_SENTENCE = (
    *("sentence", "channel", "role", "start_ms", "end_ms", "spoken_at", "text", "sentiment", "mood"),
    *("intent", "intent_score", "slots", "language"),
)
COLUMNS = (*OF_CALL, *OF_SENTENCE, "corrected", "original_text", "wrap_up", "summary")
"""Of the table."""


class RecordingFile(NamedTuple):
    """A recording as it is kept."""

    name: str
    content: bytes

    @property
    def mediatype(self) -> str:
        return MEDIA_TYPES.get(Path(self.name).suffix, "application/octet-stream")

    def packed(self, *, body: bool) -> RecordingPart:
        return RecordingPart(
            mediatype=self.mediatype,  # type: ignore[arg-type]
            content_hash=content_hash(self.content),
            body=packed(self.content) if body else "",
        )


def recording_of(settings: Settings, whole: WholeCall) -> RecordingFile | None:
    """The recording of a call, if there is one and its file is still there."""
    try:
        with RecordingStore(settings).open(whole.call.recording) as file:
            return RecordingFile(whole.call.recording, file.read())
    except FileNotFoundError:
        return None


def render(
    session: Session, whole: WholeCall, form: Format, audio: RecordingFile | None = None, audio_url: str = ""
) -> str:
    """The call in that format. JSON and vCon hold the audio, if it is given; with `audio_url` a vCon refers to it."""
    match form:
        case "csv":
            return table([whole])
        case "txt":
            return to_read(whole)
        case "srt":
            return subtitles(whole)
        case "json":
            recording = audio.packed(body=True) if audio else None
            return _json(document_of(session, whole, recording))
        case "vcon":
            recording = audio.packed(body=not audio_url) if audio else None
            url = f"{audio_url.rstrip('/')}/{quote(audio.name)}" if audio and audio_url else ""
            return _json(vcon(whole, document_of(session, whole), recording, url))


def table(calls: list[WholeCall], *, header: bool = True) -> str:
    """One row a sentence."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    if header:
        writer.writerow(COLUMNS)
    for whole in calls:
        for row in whole.sentences:
            writer.writerow([harmless(cell) for cell in _cells(whole, row)])
    return made.getvalue()


_FORMULA = re.compile(
    "(^|\r\n|[;|\t\r\n])(?=[\\s\0-\x1f\xad\u200b-\u200f\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r])"
)
"""Also after what separates cells elsewhere: much of Europe reads a semicolon so. The wide signs count in Japan's."""


def harmless(cell: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return _FORMULA.sub(r"\1'", cell) if isinstance(cell, str) else cell


def to_read(whole: WholeCall) -> str:
    call = whole.call
    about = {"call": call.id, "started": iso(call.started_at), "agent": call.agent, "customer": call.customer}
    about |= {"queue": call.queue, "about": call.task, "state": call.state}
    summary = left(call)
    about |= {"summary": in_a_line(call), "wrap-up": call.wrap_up}
    lines = [f"{name}: {value}" for name, value in about.items() if value]
    lines += [f"  {told(point)}" for point in summary["points"]]
    if call.written_summary:
        lines.append(f"  written by {call.written_summary['model']}: {_one_line(call.written_summary['text'])}")
    lines.append("")
    for row in whole.sentences:
        now = whole.said(row)
        lines.append(f"[{_clock(row.start_ms)}] {now['role']} ({now['sentiment']}): {_one_line(now['text'])}")
    lines += [f"[{_clock(alert.at_ms)}] {alert.severity}: {_one_line(alert.text)}" for alert in whole.alerts]
    lines += [f"note by {note.author}: {_one_line(note.text)}" for note in whole.notes]
    return "\n".join(lines) + "\n"


def subtitles(whole: WholeCall) -> str:
    """SubRip, with the speaker before what was said."""
    if whole.call.medium != "voice":
        raise BadInput(f"call {whole.call.id!r} was written, not spoken: it has no subtitles", "use --format txt")
    blocks = []
    for number, row in enumerate(whole.sentences, 1):
        now = whole.said(row)
        end_ms = max(row.end_ms, row.start_ms + 1)
        times = f"{_subtitle_time(row.start_ms)} --> {_subtitle_time(end_ms)}"
        blocks.append(f"{number}\n{times}\n{now['role']}: {_one_line(now['text'])}\n")
    return "\n".join(blocks)


def file_name(call: str) -> str:
    """A name that every file system takes, and that no two calls share."""
    safe = re.sub(r"[^\w.-]+", "_", call, flags=re.ASCII).lstrip(".")[:100]
    if safe == call:
        return safe
    return f"{safe}-{hashlib.sha256(call.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


Sink = Callable[[str, bytes], None]
"""Takes a file's name and content."""


@contextmanager
def folder(path: Path) -> Iterator[Sink]:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {path}: {error.strerror}") from None

    def write(name: str, content: bytes) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        put(path / name, content)

    yield write


def put(path: Path, content: bytes) -> None:
    """A file; half of one is not left behind."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def archive(path: Path) -> Iterator[Sink]:
    """A zip; one that was begun and not finished is not left behind."""
    part = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
            yield made.writestr
        part.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _cells(whole: WholeCall, row: Sentence) -> list[Any]:
    """In the order of the columns."""
    call, now = whole.call, whole.said(row)
    cells = {
        **call.model_dump(),
        **row.model_dump(),
        **now,
        "call": call.id,
        "started_at": iso(call.started_at),
        "sentence": row.id,
        "spoken_at": iso(row.spoken_at),
        "slots": _json(row.slots) if row.slots else "",
        "corrected": "yes" if whole.labels.get(row.id) else "",
        "summary": in_a_line(call),
        "original_text": row.text if now["text"] != row.text else "",
    }
    return [cells[name] for name in COLUMNS]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _clock(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _subtitle_time(ms: int) -> str:
    seconds, rest = divmod(max(ms, 0), 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{rest:03}"
