"""A worker on an embedded bus with a scripted Riva, and the two ends of it a test holds in hand."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

from asr.worker import AsrWorker
from tenor.events import (
    AUDIO,
    CALLS,
    TRANSCRIPTS,
    AudioChunk,
    Call,
    CallEnded,
    CallStarted,
    CallState,
    Transcript,
)
from tenor.settings import Settings
from tests.asr.scripted_riva import ScriptedRiva, chunks
from tests.worker_rig import WorkerRig

QUICK = {"force_final_s": 30.0, "timeout_s": 5.0, "watchdog_s": 60.0}


def info(**fields: Any) -> Call:
    return Call(**{"source": "file", "roles": ("caller", "agent"), "started_at": time.time(), **fields})


class Rig(WorkerRig):
    def __init__(self, folder: Path, riva: ScriptedRiva | None = None, **speech: Any) -> None:
        super().__init__()
        self.riva = riva or ScriptedRiva()
        self._folder = folder
        self._speech = speech

    async def __aenter__(self) -> Self:
        await self.riva.start()
        self.settings = Settings.model_validate(
            {
                "home": self._folder,
                "bus": {"partitions": 2, "lease_s": 1.0},
                "speech": {"address": self.riva.address, **QUICK, **self._speech},
            }
        )
        await super().__aenter__()
        self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await super().__aexit__(*exc)
        await self.riva.stop()

    def worker(self) -> AsrWorker:
        return AsrWorker(self.bus, self.settings)

    async def begin(self, call: str, **fields: Any) -> None:
        await self.bus.publish(AUDIO, CallStarted(call=call, info=info(**fields)))

    async def play(self, call: str, pcm: bytes, channel: int = 0, **how: Any) -> None:
        await self.bus.publish_many(AUDIO, chunks(call, channel, pcm, **how))

    async def end(self, call: str, reason: str = "hangup", *, failed: bool = False) -> None:
        await self.bus.publish(AUDIO, CallEnded(call=call, reason=reason, at=time.time(), failed=failed))

    async def call(self, call: str, *channels: bytes, rate: int = 8000, **fields: Any) -> None:
        """A whole call, its channels side by side."""
        await self.begin(call, **fields)
        sides = [list(chunks(call, number, pcm, rate)) for number, pcm in enumerate(channels)]
        events: list[AudioChunk] = []
        for moment in range(max(map(len, sides))):
            events += [side[moment] for side in sides if moment < len(side)]
        await self.bus.publish_many(AUDIO, events)
        await self.end(call)

    async def states(self, call: str) -> list[CallState]:
        return [event for event in await self.events(CALLS, call) if isinstance(event, CallState)]

    async def transcripts(self, call: str, channel: int = 0, *, final: bool = True) -> list[Transcript]:
        return [
            event
            for event in await self.events(TRANSCRIPTS, call)
            if isinstance(event, Transcript) and event.channel == channel and event.final == final
        ]

    async def texts(self, call: str, channel: int = 0) -> list[str]:
        return [final.text for final in await self.transcripts(call, channel)]

    async def over(self, call: str, timeout_s: float = 20.0) -> CallState:
        """Wait until a call has ended or failed."""
        last: list[CallState] = []

        async def ended() -> bool:
            last[:] = [state for state in await self.states(call) if state.state in ("ended", "failed")]
            return bool(last)

        await self.until(ended, timeout_s)
        return last[-1]
