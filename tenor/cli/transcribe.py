"""`tenor transcribe`: recordings in, words out, through the same stages as live calls."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.progress import Progress

from tenor.bus import Bus, Partition
from tenor.bus.partitioning import partition_of
from tenor.cli.context import QUIET, run, settings
from tenor.cli.flags import Channels, Language, Missing, Paths, RedactFlag, Roles, Swap, named, recording_options
from tenor.cli.output import clock, complain, console, errors, progress, warn
from tenor.cli.pipeline import private_pipeline, recogniser_models
from tenor.errors import BadInput, TenorError
from tenor.events import CALLS, TRANSCRIPTS, Call, CallState, Transcript
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.options import Options
    from ingest.recording import Recording
    from ingest.sources import Source


PATIENT = {"speech.stop_history_ms": 500, "riva.window_s": 20.0}
"""Nobody waits for the end of a sentence here: a little more patience than live costs fewer words."""


@dataclass
class Outcome:
    """What became of one recording."""

    file: str
    call: str = ""
    info: Call | None = None
    duration_ms: int = 0
    warnings: list[str] = field(default_factory=list)
    utterances: list[Transcript] = field(default_factory=list)
    error: str = ""
    hint: str = ""

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        info = msgspec.to_builtins(self.info) if self.info else {}
        call = {"id": self.call, "file": self.file, "state": "failed" if self.error else "ended", "reason": self.error}
        keys = ("channel", "role", "start_ms", "end_ms", "text", "words", "confidence", "model")
        return {
            "call": {**call, "duration_ms": self.duration_ms, "warnings": self.warnings, **info},
            "utterances": [{key: value[key] for key in keys} for value in map(msgspec.to_builtins, self.utterances)],
        }


def transcribe(
    context: typer.Context,
    paths: Paths,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document a recording, one a line.")] = False,
    riva: Annotated[
        str | None, typer.Option("--riva", metavar="HOST:PORT", help="A Riva server (default: one of our own).")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=100, help="Recordings at once.")] = 4,
    roles: Roles = None,
    swap: Swap = False,
    channels: Channels = None,
    language: Language = None,
    redact: RedactFlag = None,
    boost: Annotated[list[str] | None, typer.Option(metavar="PHRASE", help="A word or phrase to expect.")] = None,
) -> None:
    """Write down recordings: who said what and when, in the order given.

    A recording that cannot be read or heard is told in one line, the rest go on; then the exit code is 2.
    """
    chosen = settings(
        context, unless_set=QUIET | PATIENT, speech__address=riva, speech__interim=False, speech__boosted=boost
    )
    options = recording_options(chosen, roles=roles, channels=channels, redact=redact, language=language, swap=swap)
    sources = named(paths)
    bad = run(_transcribe(chosen, sources, options, jobs, own=riva is None, as_json=as_json))
    if len(sources) > 1 and not as_json:
        errors.print(f"{len(sources) - bad} of {len(sources)} recordings written down")
    if bad:
        raise typer.Exit(BadInput.exit_code)


async def _transcribe(
    settings: Settings, sources: list[Source | Missing], options: Options, jobs: int, *, own: bool, as_json: bool
) -> int:
    if not own:
        await recogniser_models(settings.speech)  # says at once when there is nobody, instead of waiting for one
    bad = 0
    with progress() as bars:
        async with private_pipeline(settings, riva=own) as bus:
            hearing = Hearing(bus, options, jobs, bars)
            async with asyncio.TaskGroup() as group:
                following = group.create_task(hearing.follow())
                for task in [group.create_task(hearing.hear(source)) for source in sources]:
                    outcome = await task
                    bad += bool(outcome.error)
                    _print(outcome, as_json=as_json, heading=len(sources) > 1)
                following.cancel()
    return bad


class Hearing:
    """Feeds recordings, so many at once, and collects what was heard of each."""

    def __init__(self, bus: Bus, options: Options, jobs: int, bars: Progress) -> None:
        self._bus, self._options, self._bars = bus, options, bars
        self._gate = asyncio.Semaphore(jobs)
        self._ends: dict[str, asyncio.Future[CallState]] = {}

    async def hear(self, source: Source | Missing) -> Outcome:
        from ingest.background import in_background
        from ingest.feeding import feed
        from ingest.recording import open_recording

        outcome = Outcome(file=source.name)
        if isinstance(source, Missing):
            outcome.error, outcome.hint = source.error.message, source.error.hint
            return outcome
        async with self._gate:
            try:
                recording = await in_background(lambda: open_recording(source, self._options))
            except TenorError as error:
                outcome.error, outcome.hint = error.message, error.hint
                return outcome
            if recording.call in self._ends:
                recording.close()
                outcome.error = f"{source.name} has the same content as one before it"
                return outcome
            outcome.call, outcome.info = recording.call, recording.info(0.0)
            ended = self._ends[recording.call] = asyncio.get_running_loop().create_future()
            bar = self._bars.add_task(recording.name, total=recording.duration_ms, detail="")

            def advance(recording: Recording, ms: int) -> None:
                self._bars.update(bar, completed=ms, detail=clock(ms))

            try:
                fed = await feed(self._bus, recording, progress=advance)
                state = await ended
            finally:
                self._bars.remove_task(bar)
            outcome.duration_ms, outcome.warnings = fed.heard_ms, list(fed.warnings)
            outcome.info = state.info or outcome.info
            outcome.error = state.reason if state.state == "failed" else ""
            outcome.utterances = await self._finals(recording.call)
            return outcome

    async def follow(self) -> None:
        """Notice the end of each call."""
        async with self._bus.follower([CALLS], from_start=True) as follower:
            while True:
                for record in await follower.poll():
                    event = CALLS.decode(record.value)
                    if isinstance(event, CallState) and event.state in ("ended", "failed"):
                        future = self._ends.get(event.call)
                        if future and not future.done():
                            future.set_result(event)

    async def _finals(self, call: str) -> list[Transcript]:
        """All finals of a call that has ended, so all of them are on the bus."""
        partition = Partition(TRANSCRIPTS.name, partition_of(call, await self._bus.partitions(TRANSCRIPTS)))
        finals, offset = [], 0
        while records := await self._bus.fetch(partition, offset):
            offset = records[-1].offset + 1
            events = [TRANSCRIPTS.decode(record.value) for record in records if record.key == call]
            finals += [event for event in events if isinstance(event, Transcript) and event.final]
        return sorted(finals, key=lambda final: (final.start_ms, final.channel))


def _print(outcome: Outcome, *, as_json: bool, heading: bool) -> None:
    if as_json:
        typer.echo(json.dumps(outcome.document(), ensure_ascii=False))
        return
    if heading:
        console.print(f"[bold]{escape(outcome.file)}[/]")
    for warning in outcome.warnings:
        warn(f"{outcome.file}: {warning}")
    for said in outcome.utterances:
        console.print(
            f"[dim]{clock(said.start_ms):>7}[/]  [cyan]{escape(said.role)}[/]  {escape(said.text)}", soft_wrap=True
        )
    if outcome.error:
        named_already = outcome.file in outcome.error
        complain(outcome.error if named_already else f"{outcome.file}: {outcome.error}", outcome.hint)
    elif not outcome.utterances:
        console.print("[dim](nothing was said)[/]")
