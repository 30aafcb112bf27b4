"""A file of written conversations, opened: each of them a call to be."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, Self, get_args

from ingest.options import CALL_ID, IngestOptions
from ingest.sources import Source
from ingest.text.encoding import lines
from ingest.text.field_names import UNREAD_TIME, Columns
from ingest.text.formats import csv_table, email, json_objects, plain_text
from ingest.text.long_messages import LONGEST, pieces
from ingest.text.message import CLOCK_ONLY, Message
from ingest.text.message_store import MessageStore
from ingest.text.speakers import assign_roles
from ingest.warnings import Warnings
from tenor.errors import BadInput
from tenor.events import Call, Medium, Word
from tenor.reading import LimitedFile, reading
from tenor.redaction.about import hidden

TextFormat = Literal["txt", "csv", "json", "jsonl", "eml", "mbox"]
TEXT_FORMATS: tuple[TextFormat, ...] = get_args(TextFormat)
ENDINGS: dict[str, TextFormat] = {
    **{f".{name}": name for name in TEXT_FORMATS},
    ".tsv": "csv", ".ndjson": "jsonl", ".text": "txt", ".log": "txt", ".chat": "txt",
}  # fmt: skip
MOST_SPEAKERS = 1000
READING_MS = 60
"""A character takes so long to read: what a conversation without times is laid out by."""
_OVERNIGHT_S = 12 * 3600
LONGEST_MS = 2**31 - 2**27
"""Databases count milliseconds in 31 bits. What was written after 23 days is placed by its length."""


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How to read a file, where it does not tell by itself."""

    format: TextFormat | None = None
    """None: by the ending of its name."""
    encoding: str = ""
    """Empty: by its mark, else UTF-8."""
    columns: Columns = field(default_factory=Columns)
    agents: tuple[str, ...] = ()
    """Names of those who are agents; empty: told by words such as `agent` and `support`."""
    medium: Medium | None = None


class WrittenTurn(NamedTuple):
    """What one side wrote, or a piece of it; or said, if somebody else wrote it down."""

    channel: int
    role: str
    start_ms: int
    end_ms: int
    text: str
    words: tuple[Word, ...] = ()
    """With their times, where those are known."""


class TextFile:
    """Use as `with open_text(source, options) as file: for conversation in file`."""

    def __init__(
        self, name: str, medium: Medium, store: MessageStore, text_options: TextOptions, options: IngestOptions
    ) -> None:
        self.name, self.medium, self.text_options, self.options = name, medium, text_options, options
        self._store = store
        self._names = list(store.conversations())
        if not self._names:
            raise BadInput(f"{name} holds no text")
        if (crowd := store.most_speakers()) > MOST_SPEAKERS:
            raise BadInput(
                f"{name} has {crowd:,} people in one conversation",
                "name the column of the speaker with --speaker-column, or that of the conversation",
            )
        if options.call and len(self._names) > 1:
            raise BadInput(
                f"one call id for the {len(self._names)} conversations in {name}", "leave the id out: each has its own"
            )

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Conversation]:
        return (Conversation(self, self._store, name) for name in self._names)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()


class Conversation:
    def __init__(self, file: TextFile, store: MessageStore, name: str) -> None:
        self._file, self._store, self._name = file, store, name
        self.warnings = Warnings(file.name)
        self._roles_by_speaker, self.roles = assign_roles(
            store.speakers(name), file.options.ordered_roles, file.text_options.agents
        )
        self._channels = {role: channel for channel, role in enumerate(self.roles)}
        self.digest = store.digest(name)
        self.call = file.options.call or _call_id(file, name, self.digest) + file.options.ending
        self._origin = self._first_time()
        if unread := store.tags(name).get(UNREAD_TIME):
            self.warnings.add(f"cannot read the time {unread[:40]!r}; such messages follow the one before them")

    @property
    def name(self) -> str:
        return f"{self._file.name}, {self._name}" if len(self._file) > 1 else self._file.name

    def info(self) -> Call:
        """What CallState tells; the subject as it was written."""
        options, tags = self._file.options, self._store.tags(self._name)
        attributes = {
            "file": self._file.name,
            "conversation": self._name if len(self._file) > 1 else "",
            "subject": tags.get("subject", ""),
            "attachments": tags.get("attachments", ""),
            "times": "" if self._origin is not None else "none; laid out by length",
            "warnings": "\n".join(self.warnings),
        }
        return Call(
            source="file",
            medium=self._file.medium,
            roles=tuple(self.roles),
            started_at=self._origin if self._origin is not None and self._origin >= CLOCK_ONLY else time.time(),
            site=options.site or tags.get("site", ""),
            queue=options.queue or tags.get("queue", ""),
            agent=options.agent or tags.get("agent", ""),
            customer=options.customer or tags.get("customer", ""),
            language=options.language,
            record=options.record,
            redact=options.redact,
            attributes={key: value for key, value in attributes.items() if value} | dict(options.attributes),
        )

    def turns(self) -> Iterator[WrittenTurn]:
        """What was written, in order. No two begin at the same millisecond, so ids made of it are their own."""
        end_ms, pace_ms = 0, READING_MS if self._origin is None else 1
        for message, at in _rolled(self._store.messages(self._name)):
            if at is not None and self._origin is not None:
                end_ms = max(end_ms, min(round((at - self._origin) * 1000), LONGEST_MS))
            if len(message.text) > LONGEST:
                self.warnings.add(f"a message of {len(message.text):,} characters was taken in pieces")
            role = self._roles_by_speaker[message.speaker]
            for piece in pieces(message.text):
                start_ms, end_ms = end_ms, end_ms + pace_ms * len(piece)
                yield WrittenTurn(self._channels[role], role, start_ms, end_ms, piece)

    def _first_time(self) -> float | None:
        return next((at for _, at in _rolled(self._store.messages(self._name)) if at is not None), None)


def _rolled(messages: Iterator[Message]) -> Iterator[tuple[Message, float | None]]:
    """Each message with its time; a time of day that falls back by half a day and more is the next day's."""
    days, last = 0.0, None
    for message in messages:
        at = message.at
        if at is not None and at < CLOCK_ONLY:
            at += days
            if last is not None and at < last - _OVERNIGHT_S:
                at, days = at + 86400, days + 86400
        last = at if at is not None else last
        yield message, at


def open_text(
    source: Source, options: IngestOptions | None = None, text_options: TextOptions | None = None
) -> TextFile:
    """Read a file to its end; `BadInput` says in a line what is wrong with it, and where."""
    options, text_options = options or IngestOptions(), text_options or TextOptions()
    file_format = text_options.format or text_format_of(source) or "txt"
    with reading(source.name):
        with source.open() as opened:
            file = LimitedFile(opened, source.name)
            store = MessageStore(_in_time(_messages(file, source.name, file_format, text_options), file))
        medium: Medium = text_options.medium or ("email" if file_format in ("eml", "mbox") else "chat")
        try:
            return TextFile(source.name, medium, store, text_options, options)
        except BaseException:
            store.close()
            raise


def _in_time(messages: Iterator[Message], file: LimitedFile) -> Iterator[Message]:
    for message in messages:
        file.check()
        yield message


def text_format_of(source: Source) -> TextFormat | None:
    """By the ending of its name; None: it is no text as far as one can tell."""
    return ENDINGS.get(PurePosixPath(source.name).suffix.lower())


def _messages(file: LimitedFile, name: str, file_format: TextFormat, text_options: TextOptions) -> Iterator[Message]:
    if file_format == "eml":
        return email.read(file, name)
    if file_format == "mbox":
        return email.read_box(file, name)
    text = lines(file, name, text_options.encoding)
    if file_format == "csv":
        return csv_table.read(text, name, text_options.columns)
    if file_format == "json":
        return json_objects.read(text, name, text_options.columns)
    return (
        json_objects.read_lines(text, name, text_options.columns) if file_format == "jsonl" else plain_text.read(text)
    )


def _call_id(file: TextFile, conversation: str, digest: str) -> str:
    """From the content, so that reading a file twice is one call, and two files that count from 1 are not."""
    named = conversation if conversation and len(file) > 1 else PurePosixPath(file.name).stem
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", hidden(named)).strip("-.")[:40] or "text"
    call = f"{file.medium}-{stem}-{digest[:8]}"
    assert CALL_ID.fullmatch(call)
    return call
