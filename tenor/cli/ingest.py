"""`tenor ingest`: recordings onto the bus."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tenor.bus.opening import open_bus
from tenor.cli.context import QUIET, run, settings
from tenor.cli.flags import (
    BusFlag,
    Channels,
    Json,
    Language,
    Missing,
    Paths,
    RedactFlag,
    Roles,
    Swap,
    named,
    recording_options,
)
from tenor.cli.output import clock, complain, console, progress, warn
from tenor.errors import BadInput


def ingest(
    context: typer.Context,
    paths: Paths,
    pace: Annotated[
        float | None, typer.Option(help="1 plays in real time, 4 four times as fast; default: as fast as possible.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=1000, help="Recordings at once.")] = 4,
    roles: Roles = None,
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
    as_json: Json = False,
    bus: BusFlag = None,
) -> None:
    """Put recordings on the bus as calls, where `tenor serve asr` hears them.

    Two channels are two speakers, left the caller; one channel is one speaker. A recording that cannot be read
    is told in one line, the rest go on; then the exit code is 2.
    """
    from ingest.feeding import Outcome, feed_all
    from ingest.recording import Recording

    chosen = settings(context, unless_set=QUIET, bus__url=bus)
    options = recording_options(
        chosen,
        roles=roles,
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
    wanted = named(paths)

    async def work() -> list[Outcome]:
        async with open_bus(chosen) as opened:
            with progress() as bars:
                tasks = {}

                def begin(recording: Recording) -> None:
                    tasks[recording.call] = bars.add_task(recording.name, total=recording.duration_ms, detail="")

                def advance(recording: Recording, ms: int) -> None:
                    going = recording.duration_ms is None or ms < recording.duration_ms
                    bars.update(tasks[recording.call], completed=ms, detail=clock(ms), visible=going)

                return await feed_all(
                    opened, sources, options, pace=pace, concurrency=jobs, opened=begin, progress=advance
                )

    sources = [source for source in wanted if not isinstance(source, Missing)]
    outcomes = {outcome.source: outcome for outcome in (run(work()) if sources else [])}
    bad = 0
    for source in wanted:
        outcome = None if isinstance(source, Missing) else outcomes[source]
        error = source.error if isinstance(source, Missing) else outcome.error if outcome else None
        fed, name = outcome.fed if outcome else None, source.name
        failed = error is not None or (fed is not None and fed.failed)
        bad += failed
        if as_json:
            reason = error.message if error else fed.reason if fed else ""
            said = {"file": name, "call": fed.call if fed else None, "heard_ms": fed.heard_ms if fed else 0}
            typer.echo(json.dumps({**said, "failed": failed, "reason": reason}, ensure_ascii=False))
        elif error:
            complain(error.message if name in error.message else f"{name}: {error.message}", error.hint)
        elif fed:
            for text in fed.warnings:
                warn(f"{name}: {text}")
            mark = "[red]broken[/]" if fed.failed else "[green]on the bus[/]"
            console.print(f"{name}  {clock(fed.heard_ms)}  {mark}  [dim]{fed.call}[/]", soft_wrap=True)
    if len(wanted) > 1 and not as_json:
        console.print(f"{len(wanted) - bad} of {len(wanted)} recordings are on the bus")
    if bad:
        raise typer.Exit(BadInput.exit_code)
