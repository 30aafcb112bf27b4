"""Flags that several commands share: how a recording, a chat or an e-mail becomes a call."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ingest.options import Options
from ingest.sources import EXTENSIONS, Source, conversations, expand
from ingest.text.conversation import ENDINGS, FORMS, Reading
from ingest.text.fields import Columns
from tenor.errors import BadInput, TenorError
from tenor.settings import Settings

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Files, folders, globs, - for standard input, mic, or URLs such as s3://bucket/calls/.",
        show_default=False,
    ),
]
Roles = Annotated[str | None, typer.Option(metavar="ROLE,ROLE", help="Who speaks on each channel, left first.")]
Swap = Annotated[bool, typer.Option("--swap", help="The sides are the wrong way round in these recordings.")]
Channels = Annotated[str | None, typer.Option(metavar="N,N", help="Channels to hear, from 0 (default: the first two).")]
Language = Annotated[str | None, typer.Option(metavar="TAG", help="Language spoken, e.g. en-US.")]
RedactFlag = Annotated[str | None, typer.Option("--redact", metavar="off|text|audio", help="What to take out.")]
BusFlag = Annotated[str | None, typer.Option("--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path.")]
FormFlag = Annotated[
    str | None, typer.Option("--format", metavar="FORM", help="Read it as txt, csv, json, jsonl, eml or mbox.")
]
MediumFlag = Annotated[str | None, typer.Option("--medium", metavar="chat|email", help="What the text is.")]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Of text that is not UTF-8, e.g. cp1252.")]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that holds the text.")]
SpeakerColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that says who wrote it.")]
TimeColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that says when.")]
ConversationColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that tells conversations apart.")]
Agents = Annotated[str, typer.Option(metavar="NAME,NAME", help="Which of the names in a chat are agents.")]
Folders = Annotated[
    bool, typer.Option("--folders", help="Each folder of recordings is one conversation, in short files by name.")
]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts.")]


def recording_options(
    settings: Settings,
    *,
    roles: str | None,
    channels: str | None,
    redact: str | None,
    language: str | None,
    **rest: Any,
) -> Options:
    """The settings' way of reading recordings, with the flags that were given on top."""
    if redact not in (None, "off", "text", "audio"):
        raise BadInput(f"--redact takes off, text or audio, not {redact!r}")
    try:
        chosen = [int(number) for number in channels.split(",")] if channels else None
    except ValueError:
        raise BadInput(f"--channels takes numbers such as 0,1, not {channels!r}") from None
    given = {name: value for name, value in rest.items() if value is not None}
    return Options(
        roles=[role.strip() for role in roles.split(",")] if roles is not None else settings.ingest.roles,
        channels=chosen,
        chunk_ms=settings.ingest.chunk_ms,
        language=language or settings.speech.language,
        redact=redact,  # type: ignore[arg-type]  # checked above
        **{"site": settings.ingest.site, "queue": settings.ingest.queue, "record": settings.ingest.record, **given},
    )


def readable() -> frozenset[str]:
    """What a folder is searched for when text counts too."""
    return EXTENSIONS | ENDINGS.keys()


def reading(
    form: str | None,
    medium: str | None,
    encoding: str,
    text_column: str,
    speaker_column: str,
    time_column: str,
    conversation_column: str,
    agents: str,
) -> Reading:
    """How text is to be read, from the flags."""
    if form is not None and form not in FORMS:
        raise BadInput(f"--format takes {', '.join(FORMS)}, not {form!r}")
    if medium not in (None, "chat", "email"):
        raise BadInput(f"--medium takes chat or email, not {medium!r}")
    return Reading(
        form=form,
        encoding=encoding,
        columns=Columns(text_column, speaker_column, time_column, conversation_column),
        agents=tuple(name.strip() for name in agents.split(",") if name.strip()),
        medium=medium,  # type: ignore[arg-type]  # checked above
    )


@dataclass(frozen=True)
class Missing:
    """A path that names nothing we can hear. It does not keep the others from being heard."""

    name: str
    error: TenorError


def named(paths: Sequence[str], endings: Set[str] = EXTENSIONS, *, folders: bool = False) -> list[Source | Missing]:
    """What the paths name, in the order given, each once; `endings` are what a folder is searched for.

    `folders`: the recordings of a folder are one conversation."""
    found: dict[Source | Missing, None] = {}
    for path in paths:
        try:
            sources = expand([path], endings)
            found |= dict.fromkeys(conversations(sources) if folders else sources)
        except TenorError as error:
            found[Missing(path, error)] = None
    return list(found)
