"""A gateway with a scripted voice, and an assistant and a recogniser that a test plays itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from ingest.gateway import Gateway
from tenor.events import TRANSCRIPTS, TURNS, Event, Transcript, Turn, TurnReply
from tenor.settings import Settings
from tests.ingest.gateway.recorder import Recorder

Found = Callable[[], bool]
EventT = TypeVar("EventT", bound=Event)


@asynccontextmanager
async def speaking(bus: Recorder, address: str, **gateway: Any) -> AsyncIterator[Gateway]:
    given = {
        "port": 0,
        "audiosocket_port": 0,
        "insecure": True,
        "resume_s": 2.0,
        "handover_s": 0.5,
        "return_s": 0.1,
        "assistant": {"*": "retail"},
    }
    stage = Gateway(bus, Settings.model_validate({"gateway": given | gateway, "speech": {"address": address}}))
    running = asyncio.create_task(stage.run())
    await asyncio.wait_for(stage.ready.wait(), 5)
    try:
        yield stage
    finally:
        running.cancel()
        await running


async def until(found: Found, timeout_s: float = 5.0) -> None:
    async with asyncio.timeout(timeout_s):
        while not found():
            await asyncio.sleep(0.01)


class Assistant:
    """Says what a test wants, as turns on the bus."""

    def __init__(self, bus: Recorder, call: str) -> None:
        self._bus, self._call, self._turn = bus, call, 0

    async def say(self, *texts: str, interruptible: bool = True, event: str = "heard", **fields: Any) -> int:
        number, self._turn = self._turn, self._turn + 1
        replies = tuple(TurnReply(text=text, interruptible=interruptible) for text in texts)
        turn = Turn(
            call=self._call, turn=number, input="", states=(), slots={}, action="", reply=" ".join(texts),
            replies=replies, event=event, times={"turn_published": time.time()}, **fields,
        )  # fmt: skip
        await self._bus.publish(TURNS, turn)
        return number

    async def recognised(self, text: str, at_ms: int, *, final: bool = False) -> None:
        """The caller's words, as the recogniser would publish them."""
        said = Transcript(
            call=self._call, channel=0, role="caller", utterance=f"{self._call}/0/~1", start_ms=at_ms - 200,
            end_ms=at_ms, text=text, final=final,
        )  # fmt: skip
        await self._bus.publish(TRANSCRIPTS, said)


def of(bus: Recorder, kind: type[EventT]) -> list[EventT]:
    return [event for event in bus.events if isinstance(event, kind)]


def spoken(bus: Recorder) -> list[Transcript]:
    """What the transcript says that the assistant said."""
    return [event for event in of(bus, Transcript) if event.role == "assistant"]
