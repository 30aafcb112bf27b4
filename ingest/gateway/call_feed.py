"""The call feed: events that other stages publish about our calls, handed to those who asked for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import structlog

from tenor.bus import Bus, Consumer
from tenor.events import Event, Topic, Unreadable

log = structlog.get_logger(__name__)

Listener = Callable[[Any], None]
RETRY_S = 1.0


class CallFeed:
    """Follows its topics only while somebody listens."""

    def __init__(self, bus: Bus, topics: tuple[Topic, ...], kinds: tuple[type[Event], ...]) -> None:
        self.following = asyncio.Event()
        """Set while what is published reaches us."""
        self._bus = bus
        self._topics = {topic.name: topic for topic in topics}
        self._kinds = kinds
        self._listeners: dict[str, Listener] = {}
        self._reading: asyncio.Task[None] | None = None

    def listen(self, call: str, listener: Listener) -> None:
        self._listeners[call] = listener
        if self._reading is None:
            self._reading = asyncio.create_task(self._follow(), name="events for calls")

    def leave(self, call: str, listener: Listener) -> None:
        if self._listeners.get(call) == listener:
            del self._listeners[call]
        if not self._listeners and self._reading is not None:
            self._reading.cancel()
            self._reading = None
            self.following.clear()

    async def stop(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.wait([reading])

    async def _follow(self) -> None:
        while True:
            try:
                async with self._bus.follower(self._topics.values()) as follower:
                    self.following.set()
                    await self._hand_out(follower)
            except Exception as error:
                # The calls go on without: their audio is what matters most.
                self.following.clear()
                names = ", ".join(self._topics)
                log.warning("topics cannot be followed", topics=names, error=type(error).__name__)
                await asyncio.sleep(RETRY_S)

    async def _hand_out(self, follower: Consumer) -> None:
        while True:
            for record in await follower.poll():
                listener = self._listeners.get(record.key)
                if listener is None:
                    continue
                try:
                    event = self._topics[record.topic].decode(record.value)
                except Unreadable:
                    continue  # the stages that read the topic report it
                if isinstance(event, self._kinds):
                    listener(event)
