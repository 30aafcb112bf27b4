"""`tenor demo`: everything in one terminal, with sample calls playing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.bus import Bus, Record
from tenor.cli.context import QUIET, run_until_interrupted, settings
from tenor.cli.flags import BusFlag, recording_options
from tenor.cli.output import console, say
from tenor.cli.pipeline import pipeline
from tenor.cli.screen import Screen
from tenor.errors import BadInput
from tenor.events import CALLS, TRANSCRIPTS, CallState
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.sources import Source

SAMPLES = Path(__file__).parents[2] / "examples" / "calls"
BETWEEN_CALLS_S = 4.0
"""So that one does not hear five greetings at once."""


def demo(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH]...", help="Your own recordings instead of the sample calls.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Play each call once, then end.")] = False,
    at_once: Annotated[int, typer.Option("--calls", min=1, max=100, help="Calls live at the same time.")] = 3,
    redact: Annotated[str, typer.Option(metavar="off|text", help="Take card and phone numbers out.")] = "text",
    bus: BusFlag = None,
) -> None:
    """Play sample calls in real time and watch them being written down, both sides, as they are spoken.

    Everything runs in this one process, nothing is downloaded, and Ctrl-C ends all of it. `tenor watch` in
    another terminal of the same folder sees the same calls.
    """
    from ingest.sources import expand

    chosen = settings(context, unless_set=QUIET, bus__url=bus)
    if not paths and not SAMPLES.is_dir():
        raise BadInput("the sample calls are not here: they come with the repository", "tenor demo RECORDING...")
    sources = expand(paths or [str(SAMPLES)])
    run_until_interrupted(_demo(chosen, sources, at_once, redact, once=once))


async def _demo(settings: Settings, sources: list[Source], at_once: int, redact: str, *, once: bool) -> None:
    say("[dim]loading the speech models ...[/]")
    async with pipeline(settings, riva=True) as bus, bus.follower([TRANSCRIPTS, CALLS]) as follower:
        say(f"[dim]{len(sources)} calls, {at_once} at a time, in real time; Ctrl-C ends[/]\n")
        jukebox = Jukebox(bus, settings, sources, redact)
        screen = Screen()
        try:
            with screen:
                async with asyncio.TaskGroup() as group:
                    playing = group.create_task(jukebox.play(at_once, once=once))
                    while not (playing.done() and jukebox.over):
                        for record in await follower.poll(timeout_s=0.1):
                            jukebox.follow(record, screen)
                        screen.refresh()
        finally:
            if screen.finals:
                console.print(
                    f"\n{screen.finals} utterances; from the end of speech to the text: "
                    f"half within {screen.delay(0.5):.1f} s, 95 % within {screen.delay(0.95):.1f} s"
                )


class Jukebox:
    """Plays recordings as calls, each time under a new id."""

    def __init__(self, bus: Bus, settings: Settings, sources: list[Source], redact: str) -> None:
        self._bus, self._settings, self._sources, self._redact = bus, settings, sources, redact
        self._started: set[str] = set()
        self._ended: set[str] = set()

    @property
    def over(self) -> bool:
        return self._started <= self._ended

    def follow(self, record: Record, screen: Screen) -> None:
        """Show what has become of the calls played here; the bus may hold others."""
        event = (TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS).decode(record.value)
        if event.call in self._started:
            screen.show(event)
        if isinstance(event, CallState) and event.state in ("ended", "failed"):
            self._ended.add(event.call)

    async def play(self, at_once: int, *, once: bool) -> None:
        gate = asyncio.Semaphore(at_once)
        async with asyncio.TaskGroup() as group:
            while True:
                for source in self._sources:
                    await gate.acquire()
                    task = group.create_task(self._play(source))
                    task.add_done_callback(lambda _: gate.release())
                    await asyncio.sleep(BETWEEN_CALLS_S)
                if once:
                    return

    async def _play(self, source: Source) -> None:
        from ingest.background import in_background
        from ingest.feeding import feed
        from ingest.recording import open_recording

        name = source.name.rsplit(".", 1)[0]
        options = recording_options(
            self._settings,
            roles=None,
            channels=None,
            redact=self._redact,
            language=None,
            call=f"demo-{name}-{time.time_ns() // 1_000_000}",
            attributes={"name": name},
        )
        recording = await in_background(lambda: open_recording(source, options))
        self._started.add(recording.call)
        await feed(self._bus, recording, pace=1.0)
