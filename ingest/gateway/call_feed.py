"""The transcript feed: what the recogniser writes, handed back to the calls that asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from tenor.bus import Bus, Consumer
from tenor.events import TRANSCRIPTS, Transcript, Unreadable

log = structlog.get_logger(__name__)

Listener = Callable[[Transcript], None]
RETRY_S = 1.0


class TranscriptFeed:
    """Follows the transcripts only while somebody listens."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._listeners: dict[str, Listener] = {}
        self._following: asyncio.Task[None] | None = None

    def listen(self, call: str, listener: Listener) -> None:
        self._listeners[call] = listener
        if self._following is None:
            self._following = asyncio.create_task(self._follow(), name="transcripts for platforms")

    def leave(self, call: str, listener: Listener) -> None:
        if self._listeners.get(call) == listener:
            del self._listeners[call]
        if not self._listeners and self._following is not None:
            self._following.cancel()
            self._following = None

    async def stop(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
            await asyncio.wait([following])

    async def _follow(self) -> None:
        while True:
            try:
                async with self._bus.follower([TRANSCRIPTS]) as follower:
                    await self._hand_out(follower)
            except Exception as error:
                # Transcripts are a courtesy to the platform; the calls go on without them.
                log.warning("transcripts cannot be followed", error=type(error).__name__)
                await asyncio.sleep(RETRY_S)

    async def _hand_out(self, follower: Consumer) -> None:
        while True:
            for record in await follower.poll():
                listener = self._listeners.get(record.key)
                if listener is None:
                    continue
                try:
                    event = TRANSCRIPTS.decode(record.value)
                except Unreadable:
                    continue  # the recogniser's other readers report it
                if isinstance(event, Transcript):
                    listener(event)
