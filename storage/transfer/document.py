"""A call with everything that belongs to it as one JSON document: what `tenor export --format json` writes and
`tenor import` reads.

Its shape is that of the tables, so that a column that is added there travels too. People's labels and scores go without
their number, which is the database's own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from sqlmodel import Session, SQLModel

from storage import tables
from storage.queries.calls import WholeCall
from tenor.errors import BadInput

VERSION = 1
MEDIA_TYPES = {".flac": "audio/flac", ".opus": "audio/ogg"}
OVER = ("analysed", "failed")
"""Nobody would end, here, a call that still goes on there."""
MAGIC = {"audio/flac": b"fLaC", "audio/ogg": b"OggS"}

MOST_VALUES = 2_000_000
"""Of JSON in one document: each takes a hundred bytes of memory, however short it is written. Ten hours of a call have
half of them."""

# What every database can hold.
_Int = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
_Text = Annotated[str, msgspec.Meta(max_length=10_000_000)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
_Time = Annotated[float, msgspec.Meta(ge=0, lt=253_402_300_800)]  # calendars end with the year 9999
_NARROW: dict[Any, Any] = {int: _Int, str: _Text}


def _shape(model: type[SQLModel], *without: str) -> Any:
    """A struct that takes exactly the columns of a table."""
    fields: list[Any] = []
    for name, field in model.model_fields.items():
        if name in without:
            continue
        kind = _Name if name in ("id", "call", "sentence") and field.is_required() else field.annotation
        kind = _NARROW.get(kind, kind)
        if name == "at" or name.endswith("_at"):
            kind = _Time if kind is float else _Time | None
        if field.is_required():
            fields.append((name, kind))
        elif field.default_factory:
            fields.append((name, kind, msgspec.field(default_factory=field.default_factory)))  # type: ignore[arg-type]
        else:
            fields.append((name, kind, field.default))
    return msgspec.defstruct(model.__name__, fields, kw_only=True, forbid_unknown_fields=True)


class RecordingPart(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The audio, both sides as channels."""

    mediatype: Literal["audio/flac", "audio/ogg"]
    content_hash: str
    """`sha512-` and the digest in base64url, as in a vCon."""
    body: str = ""
    """The file in base64url; empty when the audio was not exported."""

    def audio(self) -> bytes | None:
        """The file, checked."""
        if not self.body:
            return None
        try:
            audio = unpacked(self.body)
        except (binascii.Error, ValueError):
            raise BadInput("the recording is not base64url at `$.recording.body`") from None
        if content_hash(audio) != self.content_hash:
            raise BadInput("the recording is not the one that was exported: its hash differs at `$.recording`")
        if not audio.startswith(MAGIC[self.mediatype]):
            raise BadInput(f"the recording is no {self.mediatype} at `$.recording.body`")
        return audio


class CallDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The whole document."""

    tenor: Literal["call"]
    version: int
    exported_at: str
    call: _shape(tables.Call)  # type: ignore[valid-type]
    sentences: list[_shape(tables.Sentence)]  # type: ignore[valid-type]
    alerts: list[_shape(tables.Alert)] = []  # type: ignore[valid-type]
    notes: list[_shape(tables.Note)] = []  # type: ignore[valid-type]
    labels: list[_shape(tables.Label, "id")] = []  # type: ignore[valid-type]
    turns: list[_shape(tables.Turn)] = []  # type: ignore[valid-type]
    scores: list[_shape(tables.Score, "id")] = []  # type: ignore[valid-type]
    customer: _shape(tables.Customer) | None = None  # type: ignore[valid-type]
    agent: _shape(tables.Agent) | None = None  # type: ignore[valid-type]
    recording: RecordingPart | None = None


def document_of(session: Session, whole: WholeCall, recording: RecordingPart | None = None) -> dict[str, Any]:
    """The document of a call, ready for JSON."""
    call = whole.call
    customer, agent = session.get(tables.Customer, call.customer), session.get(tables.Agent, call.agent)
    made: dict[str, Any] = {
        "tenor": "call",
        "version": VERSION,
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "call": call.model_dump(),
        "sentences": [row.model_dump() for row in whole.sentences],
        "alerts": [row.model_dump() for row in whole.alerts],
        "notes": [row.model_dump() for row in whole.notes],
        "labels": [row.model_dump(exclude={"id"}) for row in whole.all_labels],
        "turns": [row.model_dump() for row in whole.turns],
        "scores": [row.model_dump(exclude={"id"}) for row in whole.scores],
    }
    if customer:
        made["customer"] = customer.model_dump()
    if agent:
        made["agent"] = agent.model_dump()
    if recording:
        made["recording"] = msgspec.to_builtins(recording)
    return made


def parsed(content: bytes) -> Any:
    """JSON that comes from outside."""
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise BadInput(f"it holds more than {MOST_VALUES:,} values: no call does")
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"not JSON: {error}") from None


def read_document(given: Any) -> CallDocument:
    """The document in parsed JSON; what is wrong with it is said with its place."""
    if not isinstance(given, dict) or given.get("tenor") != "call":
        raise BadInput('this is no call of Tenor: `$.tenor` is not "call"')
    version = given.get("version")
    if version != VERSION:
        raise BadInput(f"version {version!r} of the format is unknown: we read {VERSION}", "use a newer Tenor")
    try:
        document = msgspec.convert(given, CallDocument)
    except msgspec.ValidationError as error:
        raise BadInput(str(error)) from None
    _check(document)
    return document


def _check(document: CallDocument) -> None:
    """What the shape cannot say: rows belong together, and every database can hold them."""
    _no_nul(msgspec.to_builtins(document), "$")
    if document.call.state not in OVER:
        raise BadInput(
            f"the call was not over when it was exported: `$.call.state` is {document.call.state!r}", "export it again"
        )
    call = document.call.id
    sentences, turns = {row.id for row in document.sentences}, {row.id for row in document.turns}
    for name in ("sentences", "alerts", "notes", "labels", "turns", "scores"):
        ids = set()
        for number, row in enumerate(getattr(document, name)):
            if row.call != call:
                raise BadInput(f"another call's row at `$.{name}[{number}].call`")
            if name not in ("labels", "scores") and row.id in ids:
                raise BadInput(f"an id comes twice at `$.{name}[{number}].id`")
            if name == "labels" and row.sentence is None and row.turn not in turns:
                raise BadInput(f"no such turn at `$.labels[{number}].turn`")
            if name == "labels" and row.sentence is not None and row.sentence not in sentences:
                raise BadInput(f"no such sentence at `$.labels[{number}].sentence`")
            ids.add(getattr(row, "id", None))


def _no_nul(value: Any, place: str) -> None:
    if isinstance(value, str):
        if "\x00" in value:
            raise BadInput(f"a NUL character, which no text has, at `{place}`")
    elif isinstance(value, dict):
        for key, one in value.items():
            _no_nul(key, place)
            _no_nul(one, f"{place}.{key}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            _no_nul(one, f"{place}[{number}]")


def content_hash(audio: bytes) -> str:
    return "sha512-" + packed(hashlib.sha512(audio).digest())


def packed(content: bytes) -> str:
    """base64url, without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def unpacked(content: str) -> bytes:
    return base64.b64decode(content + "=" * (-len(content) % 4), altchars=b"-_", validate=True)
