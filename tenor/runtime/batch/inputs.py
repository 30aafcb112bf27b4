"""What a batch is given: the recordings and texts that paths name, and how they become calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath

from ingest.options import IngestOptions
from ingest.sources import EXTENSIONS, Source, conversations, expand
from ingest.text.conversation import ENDINGS
from tenor.errors import TenorError
from tenor.events import Redact
from tenor.settings import Settings


@dataclass(frozen=True)
class MissingInput:
    """A path that names nothing we can read. It does not keep the others from being read."""

    name: str
    error: TenorError


Input = Source | MissingInput
Paths = str | PathLike[str] | Iterable[str | PathLike[str] | Input]
"""One path or several; also what `find_inputs` found."""


def find_inputs(paths: Paths, *, text: bool = True, folders: bool = False) -> list[Input]:
    """What the paths name, in the order given, each once.

    paths: files, folders, globs, `-` for standard input, `mic`, or URLs such as `s3://bucket/calls/`.
    text: folders are searched for chats and e-mails, too.
    folders: the recordings of a folder are one conversation.
    """
    endings = EXTENSIONS | ENDINGS.keys() if text else EXTENSIONS
    found: dict[Input, None] = {}
    for path in [paths] if isinstance(paths, str | PathLike) else paths:
        if isinstance(path, Input):
            found[path] = None
            continue
        try:
            sources = expand([fspath(path)], endings)
            found |= dict.fromkeys(conversations(sources) if folders else sources)
        except TenorError as error:
            found[MissingInput(fspath(path), error)] = None
    return list(found)


def recording_options(
    settings: Settings,
    *,
    roles: Sequence[str] | None = None,
    speakers: int | None = None,
    swap: bool = False,
    channels: Sequence[int] | None = None,
    language: str | None = None,
    redact: Redact | None = None,
    record: bool | None = None,
    call: str = "",
    agent: str = "",
    customer: str = "",
    site: str | None = None,
    queue: str | None = None,
    attributes: Mapping[str, str] | None = None,
) -> IngestOptions:
    """How a recording or a text becomes a call: as the settings say, with what is given on top.

    options = recording_options(settings, roles=("agent", "caller"), redact="text", queue="billing")
    """
    own = settings.ingest
    return IngestOptions(
        roles=own.roles if roles is None else roles,
        speakers=own.speakers if speakers is None else speakers,
        swap=swap,
        channels=channels,
        chunk_ms=own.chunk_ms,
        call=call,
        site=own.site if site is None else site,
        queue=own.queue if queue is None else queue,
        agent=agent,
        customer=customer,
        language=language or settings.speech.language,
        record=own.record if record is None else record,
        redact=redact,
        attributes=attributes or {},
    )
