"""Parameters that several commands share, and what they mean: how a recording, a chat or an e-mail becomes a call."""

from __future__ import annotations

from typing import Annotated, Any, get_args

import typer

from ingest.options import IngestOptions
from ingest.text.conversation import TEXT_FORMATS, TextOptions
from ingest.text.field_names import Columns
from tenor.errors import BadInput
from tenor.events import Redact
from tenor.runtime.batch import inputs
from tenor.settings import Settings

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="Files, folders, globs, - for standard input, mic, or URLs such as s3://bucket/calls/.",
        show_default=False,
    ),
]
Roles = Annotated[str | None, typer.Option(metavar="ROLE,ROLE", help="Who speaks on each channel, the left one first.")]
Swap = Annotated[bool, typer.Option("--swap", help="The sides are the wrong way round in these recordings.")]
Speakers = Annotated[
    int | None,
    typer.Option(metavar="1|2", help="People on a single channel: 2 are told apart (default), 1 is one role."),
]
Channels = Annotated[
    str | None, typer.Option(metavar="N,N", help="Channels to use, counted from 0 (default: the first two).")
]
Language = Annotated[str | None, typer.Option(metavar="TAG", help="Language spoken, e.g. en-US.")]
RedactFlag = Annotated[
    str | None,
    typer.Option("--redact", metavar="WHAT", help="off, text, or audio: words and the recording, too."),
]
BusFlag = Annotated[str | None, typer.Option("--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path.")]
FormFlag = Annotated[
    str | None, typer.Option("--format", metavar="FORM", help="Read it as txt, csv, json, jsonl, eml or mbox.")
]
MediumFlag = Annotated[str | None, typer.Option("--medium", metavar="chat|email", help="What the text is.")]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of text that is not UTF-8, e.g. cp1252.")]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that holds the text.")]
SpeakerColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that says who wrote it.")]
TimeColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that says when.")]
ConversationColumn = Annotated[str, typer.Option(metavar="NAME", help="Column or key that tells conversations apart.")]
Agents = Annotated[str, typer.Option(metavar="NAME,NAME", help="Which of the names in it are agents.")]
Folders = Annotated[
    bool, typer.Option("--folders", help="Each folder of recordings is one conversation, in short files by name.")
]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts.")]
REDACT_MODES: tuple[Redact, ...] = get_args(Redact)


def parse_redact(text: str) -> Redact:
    """What was given to --redact."""
    for mode in REDACT_MODES:
        if text == mode:
            return mode
    raise BadInput(f"--redact takes off, text or audio, not {text!r}")


def options_from_flags(
    settings: Settings, *, roles: str | None, channels: str | None, redact: str | None, **rest: Any
) -> IngestOptions:
    """The settings' way of reading recordings, with the flags that were given on top."""
    mode = None if redact is None else parse_redact(redact)
    try:
        numbers = [int(number) for number in channels.split(",")] if channels else None
    except ValueError:
        raise BadInput(f"--channels takes numbers such as 0,1, not {channels!r}") from None
    names = None if roles is None else [role.strip() for role in roles.split(",")]
    return inputs.recording_options(settings, roles=names, channels=numbers, redact=mode, **rest)


def reading_from_flags(
    form: str | None,
    medium: str | None,
    encoding: str,
    text_column: str,
    speaker_column: str,
    time_column: str,
    conversation_column: str,
    agents: str,
) -> TextOptions:
    """How text is to be read, from the flags."""
    if form is not None and form not in TEXT_FORMATS:
        raise BadInput(f"--format takes {', '.join(TEXT_FORMATS)}, not {form!r}")
    if medium not in (None, "chat", "email"):
        raise BadInput(f"--medium takes chat or email, not {medium!r}")
    return TextOptions(
        format=form,
        encoding=encoding,
        columns=Columns(text_column, speaker_column, time_column, conversation_column),
        agents=tuple(name.strip() for name in agents.split(",") if name.strip()),
        medium=medium,  # type: ignore[arg-type]  # checked above
    )
