"""Recordings played as live calls, over and over, each time under a new id."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tenor.bus import Bus, Record
from tenor.cli.flags import recording_options
from tenor.cli.screen import Screen
from tenor.events import CALLS, TRANSCRIPTS, CallState
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.sources import Source

BETWEEN_CALLS_S = 4.0
"""So that one does not hear five greetings at once."""
KNOWN = ("queue", "site", "agent", "customer")
SAMPLE = {"sample": "yes"}
"""The attribute by which `tenor sample remove` knows them again."""


class Jukebox:
    def __init__(self, bus: Bus, settings: Settings, sources: list[Source], redact: str, *, sample: bool) -> None:
        self._bus, self._settings, self._sources, self._redact = bus, settings, sources, redact
        self._attributes = SAMPLE if sample else {}
        self._started: set[str] = set()
        self._ended: set[str] = set()

    @property
    def over(self) -> bool:
        return self._started <= self._ended

    def follow(self, record: Record, screen: Screen | None) -> None:
        """Show what has become of the calls played here; the bus may hold others."""
        event = (TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS).decode(record.value)
        if event.call not in self._started:
            return
        if screen:
            screen.show(event)
        if isinstance(event, CallState) and event.state in ("analysed", "failed"):
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
            attributes={"name": name, **self._attributes},
            **_told_beside(source),
        )
        recording = await in_background(lambda: open_recording(source, options))
        self._started.add(recording.call)
        await feed(self._bus, recording, pace=1.0)


def _told_beside(source: Source) -> dict[str, Any]:
    """What a sample's script says about its call: the queue, the agent, who calls."""
    script = Path(source.location).with_suffix(".yaml")
    if source.kind != "file" or not script.is_file():
        return {}
    told = yaml.safe_load(script.read_text("utf-8"))
    return {name: str(told[name]) for name in KNOWN if name in told}
