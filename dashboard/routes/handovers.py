"""Who has each conversation of the assistant, as this process hears it from the bus."""

from __future__ import annotations

import asyncio
from typing import Final

from tenor.assistant.handover import Handover, followed
from tenor.bounded_dict import BoundedDict
from tenor.bus import Record
from tenor.errors import Unavailable
from tenor.events import TURNS, CallGivenBack, CallState, CallTakenOver, Event, Turn

KNOWN: Final = 50_000
HEARD_S: Final = 10.0
"""How long what was just published may take to come back."""


class Handovers:
    """A tap of the feed."""

    def __init__(self) -> None:
        self._known: BoundedDict[str, Handover] = BoundedDict(KNOWN)
        self._reached: dict[int, int] = {}
        """By partition of the turns: the next offset."""
        self._waiting: set[asyncio.Event] = set()

    def of(self, call: str) -> Handover:
        return self._known.get(call) or Handover()

    def is_open(self, call: str) -> bool:
        """Whether it waits for a person, so that any agent may see it."""
        return call in self._known and self._known[call].open

    def learn(self, call: str, handover: Handover) -> None:
        """What the database says of a call that nothing was heard of yet."""
        if call not in self._known and handover.state:
            self._known[call] = handover

    def resumed(self) -> None:
        self._reached.clear()

    def heard(self, record: Record, event: Event) -> None:
        if isinstance(event, CallState) and event.state not in ("ringing", "live"):
            self._known.pop(event.call, None)
        if record.topic != TURNS.name:
            return
        if isinstance(event, Turn | CallTakenOver | CallGivenBack):
            after = followed(self.of(event.call), event)
            if after != self.of(event.call):
                self._known[event.call] = after
        self._reached[record.partition] = record.offset + 1
        for waiting in self._waiting:
            waiting.set()

    async def after(self, call: str, partition: int, offset: int) -> Handover:
        """Who has the call once everything up to that record of the turns was heard."""
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            async with asyncio.timeout(HEARD_S):
                while self._reached.get(partition, 0) <= offset:
                    await woken.wait()
                    woken.clear()
        except TimeoutError:
            raise Unavailable("the event bus does not answer", "try again in a moment") from None
        finally:
            self._waiting.discard(woken)
        return self.of(call)
