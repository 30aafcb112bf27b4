"""One conversation as its shopper sees it: what the bus holds of it, in order, and who waits for more.

    tenor.transcripts   the shopper's lines, redacted, and those of a person who took over
    tenor.turns         the assistant's replies, its fillers, and when a person takes over or gives back
    tenor.calls         whether it goes on

`after` is a cursor: how many records of each topic, counted from the beginning of the conversation, were told. It means
the same in every process.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from dashboard.assistant.cards import card_of
from dashboard.assistant.session_token import SessionPlace
from tenor.assistant.handover import Handover, followed
from tenor.bus import Record
from tenor.events import (
    CALLS,
    TRANSCRIPTS,
    TURNS,
    Call,
    CallGivenBack,
    CallState,
    CallTakenOver,
    Event,
    Transcript,
    Turn,
    TurnFiller,
)
from tenor.redaction.utterance import confirms

TOPICS: Final = (CALLS, TRANSCRIPTS, TURNS)
CALLER: Final = "caller"
OVER: Final = ("ended", "analysed", "failed")
REMEMBERED_IDS: Final = 50
"""Messages that a client may send again without their being taken twice."""


class ScreenEvent(NamedTuple):
    """Something that the shopper's screen is told, and where it lies on the bus."""

    topic: int
    """Index into `TOPICS`."""
    offset: int
    """From the beginning of the conversation."""
    content: dict[str, Any]


class Conversation:
    def __init__(self, place: SessionPlace) -> None:
        self.place = place
        self.info: Call | None = None
        """None: the bus knows nothing of it (any more)."""
        self.over = False
        """For good; `resting` ones go on with the next message."""
        self.resting = False
        self.before = ""
        """The shopper's last line, as it was published: a number may go on from there."""
        self.last_ms = -1
        """Position of that line."""
        self.writing = asyncio.Lock()
        """Held while a line is published: lines get their positions in order."""
        self.loading = False
        self.lost = False
        """No more comes of this object: whoever waits for news asks anew."""
        self.touched = time.monotonic()
        """When somebody last asked for it."""
        self.accepted: OrderedDict[str, int] = OrderedDict()
        """Ids of messages that the client chose -> their positions."""
        self._beginnings = (place.states_from, place.lines_from, place.turns_from)
        self._next = list(self._beginnings)
        self._early: list[tuple[Record, Event]] = []
        """What came while the past was still being read."""
        self._shown: list[ScreenEvent] = []
        self._turn = -1
        self._handover = Handover()
        self._lines: set[str] = set()
        """Utterances of a person that were told: one that was sent twice is told once."""
        self._waiting: set[asyncio.Event] = set()
        self._sockets = 0

    # -- what happens to it

    def positions(self) -> tuple[int, ...]:
        """The next offsets to be read, by topic."""
        return tuple(self._next)

    def hear(self, record: Record, event: Event) -> None:
        """A record of this conversation, as the follower reads it."""
        if self.loading:
            self._early.append((record, event))
        else:
            self._take(record, event)

    def loaded(self, past: Iterable[tuple[Record, Event]]) -> None:
        """What lay on the bus, and then what came meanwhile."""
        self.loading = False
        early, self._early = self._early, []
        for record, event in [*sorted(past, key=lambda one: one[0].at), *early]:
            self._take(record, event)

    def note_line(self, text: str, start_ms: int, message: str = "") -> None:
        """A line of the shopper's was published, or read."""
        self.last_ms = max(self.last_ms, start_ms)
        if not confirms(text):
            self.before = text
        if message:
            self.accepted[message] = start_ms
            if len(self.accepted) > REMEMBERED_IDS:
                self.accepted.popitem(last=False)

    def give_up(self) -> None:
        self.lost = True
        self.wake()

    def wake(self) -> None:
        for waiting in self._waiting:
            waiting.set()

    # -- what is told

    def after(self, cursor: str) -> tuple[list[dict[str, Any]], str]:
        """What came after the cursor, and the cursor after that."""
        seen = read_cursor(cursor)
        news = [one.content for one in self._shown if one.offset >= seen[one.topic]]
        return news, ".".join(str(now - begun) for now, begun in zip(self._next, self._beginnings, strict=True))

    async def news(self, cursor: str, wait_s: float) -> tuple[list[dict[str, Any]], str]:
        """As `after`; waits until there is something, but not longer than `wait_s`."""
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            found = self.after(cursor)
            if not found[0] and wait_s > 0:
                try:
                    async with asyncio.timeout(wait_s):
                        await self._until_news(woken, cursor)
                except TimeoutError:
                    pass
                found = self.after(cursor)
            return found
        finally:
            self._waiting.discard(woken)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """While a socket tells of it: it does not wait for news all the time, and must not be forgotten meanwhile."""
        self._sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1

    @property
    def watched(self) -> bool:
        """Whether somebody waits for news of it."""
        return bool(self._waiting or self._sockets)

    async def _until_news(self, woken: asyncio.Event, cursor: str) -> None:
        while not self.lost and not self.after(cursor)[0]:
            await woken.wait()
            woken.clear()

    # -- records

    def _take(self, record: Record, event: Event) -> None:
        topic = next(index for index, one in enumerate(TOPICS) if one.name == record.topic)
        if record.offset < self._next[topic]:
            return
        self._next[topic] = record.offset + 1
        content = self._content(event, record.at)
        if content is not None:
            self._shown.append(ScreenEvent(topic, record.offset - self._beginnings[topic], content))
            self.wake()

    def _content(self, event: Event, at: float) -> dict[str, Any] | None:
        was, self._handover = self._handover, followed(self._handover, event)
        match event:
            case CallState():
                return self._state(event, at)
            case Transcript(final=True, role="caller"):
                self.note_line(event.text, event.start_ms)
                return _line(event, at)
            case Transcript(final=True, role="agent") if event.utterance not in self._lines:
                self._lines.add(event.utterance)
                return _line(event, at)
            case Turn() if event.turn > self._turn:  # the first of a number counts
                self._turn = event.turn
                return _turn(event)
            case TurnFiller() if event.turn > self._turn:
                return {"type": "filler", "turn": event.turn, "text": event.text, "at": at}
            case CallTakenOver() | CallGivenBack() if was != self._handover:
                return {"type": "person", "here": self._handover.state == "taken", "at": at}
        return None

    def _state(self, event: CallState, at: float) -> dict[str, Any] | None:
        if event.state == "live":
            self.info, self.resting = event.info or self.info, False
            return None
        if event.state not in OVER or self.over:
            return None
        if event.audio_stopped or (self.resting and event.state == "analysed"):
            self.resting = True
            return None
        self.over, self.resting = True, False
        return {"type": "ended", "at": at}


def read_cursor(cursor: str) -> tuple[int, ...]:
    """Whatever is no cursor of ours means the beginning."""
    parts = cursor.split(".")
    if len(parts) != len(TOPICS) or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        return (0,) * len(TOPICS)
    return tuple(map(int, parts))


def _line(event: Transcript, at: float) -> dict[str, Any]:
    spoken = not event.written
    return {"type": "line", "role": event.role, "line": event.start_ms, "text": event.text, "spoken": spoken, "at": at}


def _turn(event: Turn) -> dict[str, Any]:
    """What a turn means to the shopper: none of the dialog manager's state, and no word on who was asked."""
    replies = [{"text": reply.text, "card": card_of(reply.card)} for reply in event.replies]
    return {
        "type": "turn",
        "turn": event.turn,
        "input": event.input,
        "silence": event.event == "silence",
        "replies": replies,
        "person": bool(event.handover),
        "ended": event.ended,
        "at": event.at,
    }
