"""Recordings played as live calls, over and over, each time under a new id."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tenor.bus import Bus
from tenor.events import CallState, Redact
from tenor.runtime.batch.inputs import recording_options
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.sources import Source

BETWEEN_CALLS_S = 4.0
"""So that one does not hear five greetings at once."""
KNOWN = ("queue", "site", "agent", "customer")
SAMPLE = {"sample": "yes"}
"""The attribute by which `tenor sample remove` knows them again."""


class CallPlayer:
    """Plays recordings in real time, and knows which of the calls on the bus are its own and whether they are over."""

    def __init__(self, bus: Bus, settings: Settings, sources: list[Source], redact: Redact, *, sample: bool) -> None:
        self._bus, self._settings, self._sources, self._redact = bus, settings, sources, redact
        self._attributes = SAMPLE if sample else {}
        self._started: set[str] = set()
        self._ended: set[str] = set()

    @property
    def over(self) -> bool:
        return self._started <= self._ended

    def played(self, call: str) -> bool:
        """Whether a call is one of ours; the bus may hold others."""
        return call in self._started

    def follow(self, state: CallState) -> None:
        """Note what has become of a call."""
        if state.state in ("analysed", "failed") and self.played(state.call):
            self._ended.add(state.call)

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
        from ingest.audio.publisher import publish_recording
        from ingest.audio.recording import open_recording
        from ingest.background import in_background

        name = source.name.rsplit(".", 1)[0]
        tags = _tags(source)
        options = recording_options(
            self._settings,
            redact=self._redact,
            call=f"demo-{name}-{time.time_ns() // 1_000_000}",
            attributes={"name": name, **self._attributes},
            queue=tags.get("queue"),
            site=tags.get("site"),
            agent=tags.get("agent", ""),
            customer=tags.get("customer", ""),
        )
        recording = await in_background(lambda: open_recording(source, options))
        self._started.add(recording.call)
        await publish_recording(self._bus, recording, pace=1.0)


def _tags(source: Source) -> dict[str, str]:
    """What a sample's script beside it says about its call: the queue, the agent, who calls."""
    script = Path(source.location).with_suffix(".yaml")
    if source.kind != "file" or not script.is_file():
        return {}
    written = yaml.safe_load(script.read_text("utf-8"))
    return {name: str(written[name]) for name in KNOWN if name in written}
