"""`tenor ingest`: recordings, chats and e-mails onto the bus."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from tenor.bus.opening import open_bus
from tenor.cli.context import run, settings
from tenor.cli.output import clock, complain_of_file, console, progress, say, warn
from tenor.cli.params import (
    Agents,
    BusFlag,
    Channels,
    ConversationColumn,
    Encoding,
    Folders,
    FormFlag,
    Json,
    Language,
    MediumFlag,
    Paths,
    RedactFlag,
    Roles,
    SpeakerColumn,
    Speakers,
    Swap,
    TextColumn,
    TimeColumn,
    options_from_flags,
    reading_from_flags,
)
from tenor.errors import BadInput, TenorError
from tenor.runtime import MissingInput, find_inputs
from tenor.runtime.profiles import QUIET
from tenor.runtime.redactor import make_redactor

if TYPE_CHECKING:
    from ingest.results import PublishedCall


def ingest(
    context: typer.Context,
    paths: Paths,
    pace: Annotated[
        float | None, typer.Option(help="1 plays in real time, 4 four times as fast; default: as fast as possible.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Recordings at once.")] = 4,
    times: Annotated[
        int,
        typer.Option("--times", metavar="N", min=1, help="Each file so often, as calls of their own, to soak."),
    ] = 1,
    folders: Folders = False,
    roles: Roles = None,
    speakers: Speakers = None,
    swap: Swap = False,
    channels: Channels = None,
    call: Annotated[str, typer.Option(metavar="ID", help="Id of the call (one recording only).")] = "",
    agent: Annotated[str, typer.Option(help="Account name of the agent.")] = "",
    customer: Annotated[str, typer.Option(help="Customer id or number.")] = "",
    site: Annotated[str | None, typer.Option(help="Site tag.")] = None,
    queue: Annotated[str | None, typer.Option(help="Queue tag.")] = None,
    language: Language = None,
    redact: RedactFlag = None,
    record: Annotated[bool | None, typer.Option(help="Whether a recording may be kept.")] = None,
    form: FormFlag = None,
    medium: MediumFlag = None,
    encoding: Encoding = "",
    text_column: TextColumn = "",
    speaker_column: SpeakerColumn = "",
    time_column: TimeColumn = "",
    conversation_column: ConversationColumn = "",
    agents: Agents = "",
    as_json: Json = False,
    bus: BusFlag = None,
) -> None:
    """Put recordings, chats and e-mails on the bus as calls, which a running `tenor serve` then processes.

    Two channels are two speakers, the caller on the left; two on one channel are told apart. Text is TXT, CSV, JSON,
    JSON lines, EML or mbox. A file that cannot be read is reported in one line and the others go on; the exit code is
    then 2.
    """
    from ingest.audio.publisher import publish_recordings
    from ingest.audio.recording import Recording
    from ingest.results import AlreadyThere, SourceResult
    from ingest.sources import Source
    from ingest.text.conversation import text_format_of
    from ingest.text.publisher import publish_text_files
    from tenor.runtime.known_calls import known_calls

    chosen = settings(context, unless_set=QUIET, bus__url=bus)
    options = options_from_flags(
        chosen,
        roles=roles,
        speakers=speakers,
        channels=channels,
        redact=redact,
        language=language,
        swap=swap,
        call=call,
        agent=agent,
        customer=customer,
        site=site,
        queue=queue,
        record=record,
    )
    how = reading_from_flags(
        form, medium, encoding, text_column, speaker_column, time_column, conversation_column, agents
    )
    wanted = find_inputs(paths, folders=folders)
    sources = [source for source in wanted if not isinstance(source, MissingInput)]
    written = [source for source in sources if how.format or text_format_of(source)]
    spoken = [source for source in sources if source not in written]
    if call and len(sources) * times > 1:
        raise BadInput("one call id for several calls", "leave the id out, or name one file, once")

    async def work() -> list[SourceResult]:
        async with open_bus(chosen) as opened:
            with progress() as bars, known_calls(chosen) as known:
                tasks = {}

                def begin(recording: Recording) -> None:
                    tasks[recording.call] = bars.add_task(recording.name, total=recording.duration_ms, detail="")

                def advance(recording: Recording, ms: int) -> None:
                    going = recording.duration_ms is None or ms < recording.duration_ms
                    bars.update(tasks[recording.call], completed=ms, detail=clock(ms), visible=going)

                redactor = make_redactor(chosen)
                done: list[SourceResult] = []
                for copy in range(times):
                    own = replace(options, copy=copy)
                    heard, read = await asyncio.gather(
                        publish_recordings(
                            opened,
                            spoken,
                            own,
                            pace=pace,
                            concurrency=jobs,
                            known=known,
                            opened=begin,
                            progress=advance,
                        ),
                        publish_text_files(
                            opened, written, chosen.speech, redactor, own, how, pace=pace, concurrency=jobs, known=known
                        ),
                    )
                    done += heard + read
                return done

    outcomes: dict[str, list[SourceResult]] = {}
    for outcome in run(work()) if sources else []:
        outcomes.setdefault(outcome.source.location, []).append(outcome)
    results = [
        (source.name, outcome.published, outcome.error)
        for source in wanted
        for outcome in (
            [SourceResult(Source("file", source.name), error=source.error)]
            if isinstance(source, MissingInput)
            else outcomes[source.location]
        )
    ]
    bad = sum(_tell(*result, as_json=as_json) for result in results)
    if len(results) > 1 and not as_json:
        there = sum(isinstance(error, AlreadyThere) for _, _, error in results)
        also = f", {there} were there already" if there else ""
        console.print(f"{len(results) - bad - there} of {len(results)} calls are on the bus{also}")
    if bad:
        raise typer.Exit(BadInput.exit_code)


def _tell(name: str, fed: PublishedCall | None, error: TenorError | None, *, as_json: bool) -> bool:
    """Say what became of a call; True if it went wrong."""
    from ingest.results import AlreadyThere

    there = isinstance(error, AlreadyThere)
    failed = (error is not None and not there) or (fed is not None and fed.failed)
    if as_json:
        reason = error.message if error else fed.reason if fed else ""
        call = fed.call if fed else error.call if isinstance(error, AlreadyThere) else None
        said = {"file": name, "call": call, "heard_ms": fed.heard_ms if fed else 0}
        typer.echo(json.dumps({**said, "failed": failed, "reason": reason}, ensure_ascii=False))
    elif error and there:
        say(f"{escape(name)}: {escape(error.message)}  [dim]{escape(error.hint)}[/]")
    elif error:
        complain_of_file(name, error)
    elif fed:
        for text in fed.warnings:
            warn(f"{name}: {text}")
        mark = "[red]broken[/]" if fed.failed else "[green]on the bus[/]"
        console.print(f"{escape(name)}  {clock(fed.heard_ms)}  {mark}  [dim]{escape(fed.call)}[/]", soft_wrap=True)
    return failed
