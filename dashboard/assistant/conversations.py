"""All conversations on the web that this process has to do with: begun, found again, written to, and ended.

A conversation that nobody here looks at is forgotten: the bus has it. Which of them go on is followed for all processes
together, so that one which nobody writes to is ended even if the process that began it is gone.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterable
from typing import Final

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, select

from dashboard.assistant.conversation import CALLER, OVER, TOPICS, Conversation
from dashboard.assistant.session_token import SessionPlace
from storage.db.engine import Database
from storage.tables import Call as CallRow
from tenor.aio import run_to_completion
from tenor.bus import Bus, Partition, Record
from tenor.bus.partitioning import partition_of
from tenor.errors import BadInput, Unavailable
from tenor.events import (
    AUDIO_STOPPED,
    CALLS,
    TRANSCRIPTS,
    Call,
    CallState,
    Event,
    Topic,
    Transcript,
    Turn,
    Unreadable,
)
from tenor.redaction import Redactor, mode
from tenor.settings import Settings

log = structlog.get_logger(__name__)

SOURCE: Final = "web"
ASSISTANT: Final = "retail"
ROLES: Final = (CALLER, "assistant")
LONGEST_MESSAGE: Final = 2000
"""Characters."""
LOOK_ROUND_S: Final = 10.0
"""How often conversations are looked for that are to be ended or forgotten."""
KEPT_S: Final = 60.0
"""How long a conversation stays in memory that nobody asks for."""
OPEN: Final = ("ringing", "live")


class Conversations:
    """A tap of the feed."""

    def __init__(self, bus: Bus, database: Database, settings: Settings, redactor: Redactor) -> None:
        self._bus, self._database, self._settings, self._redactor = bus, database, settings, redactor
        self._known: dict[str, Conversation] = {}
        self._loads: dict[Conversation, asyncio.Task[None]] = {}
        self._open: dict[str, float] = {}
        """Conversations of the web that go on anywhere -> when something happened in them last."""
        self._closing: set[asyncio.Task[None]] = set()

    # -- what shoppers do

    async def begin(self, *, customer: str = "", timezone: str = "") -> SessionPlace:
        """A new conversation. `customer` was verified; `timezone` is a name that exists."""
        session, now = f"{SOURCE}-{secrets.token_hex(10)}", time.time()
        attributes = {"assistant": ASSISTANT, "timezone": timezone, "verified_customer": customer}
        info = Call(
            source=SOURCE,
            roles=ROLES,
            started_at=now,
            medium="chat",
            customer=customer,
            attributes={name: value for name, value in attributes.items() if value},
        )
        info = msgspec.structs.replace(info, redact=mode(info, self._settings.speech))
        number = partition_of(session, await self._bus.partitions(CALLS))
        ends = [(await self._bus.bounds(Partition(topic.name, number)))[1] for topic in TOPICS]
        live = CallState(call=session, state="live", at=now, info=info)
        await run_to_completion(self._bus.publish(CALLS, live))
        self._open[session] = time.monotonic()
        return SessionPlace(session, now, number, *ends)

    async def find(self, place: SessionPlace) -> Conversation:
        """The conversation of a token; BadInput when the bus has nothing of it any more."""
        conversation = self._known.get(place.session)
        if conversation is None:
            conversation = self._known[place.session] = Conversation(place)
            self._load(conversation)
        if (load := self._loads.get(conversation)) is not None:
            await asyncio.shield(load)
            if conversation.lost:  # the follower began to read meanwhile
                return await self.find(place)
        conversation.touched = time.monotonic()
        if conversation.info is None:
            self._known.pop(place.session, None)
            raise BadInput("this conversation is no longer there", "begin a new one")
        if not conversation.over and not conversation.resting:
            self._open.setdefault(place.session, time.monotonic())
        return conversation

    async def say(self, conversation: Conversation, text: str, message: str = "") -> int:
        """Publish a line of the shopper's, redacted as written calls are. Its position; the same for a message that was
        sent again under the same id."""
        text = text.strip()
        if not text:
            raise BadInput("the message is empty", "write something")
        if len(text) > LONGEST_MESSAGE:
            raise BadInput(
                f"the message has {len(text):,} characters; {LONGEST_MESSAGE:,} are allowed", "write a shorter one"
            )
        async with conversation.writing:
            if (line := conversation.accepted.get(message)) is not None:
                return line
            if conversation.over:
                raise BadInput("this conversation is over", "begin a new one")
            return await run_to_completion(self._publish(conversation, text, message))

    async def end(self, conversation: Conversation) -> None:
        """The shopper closes it."""
        if not conversation.over:
            await run_to_completion(self._end(conversation.place.session, "closed by the shopper"))

    # -- what the bus says

    def resumed(self) -> None:
        """The follower reads from now on: what came before it is read again."""
        for session, conversation in list(self._known.items()):
            if conversation.watched and conversation not in self._loads:
                self._load(conversation)
            else:
                del self._known[session]
                conversation.give_up()

    def heard(self, record: Record, event: Event) -> None:
        if isinstance(event, CallState) and event.info is not None and event.info.source == SOURCE:
            self._open[event.call] = time.monotonic()
        if event.call in self._open:
            self._follow(event)
        if (conversation := self._known.get(event.call)) is not None and record.topic in _TOPICS:
            conversation.hear(record, event)

    async def run(self) -> None:
        """Until cancelled: end what nobody writes to, forget what nobody looks at."""
        await self._find_open()
        while True:
            await asyncio.sleep(LOOK_ROUND_S)
            self._forget()
            idle_since = time.monotonic() - self._settings.assistant.idle_minutes * 60
            for session in [session for session, at in self._open.items() if at < idle_since]:
                del self._open[session]
                self._close(session, AUDIO_STOPPED)

    def close(self) -> None:
        """Whoever waits for news is let go."""
        for conversation in self._known.values():
            conversation.give_up()

    # -- inside

    async def _publish(self, conversation: Conversation, text: str, message: str) -> int:
        info, session = conversation.info, conversation.place.session
        assert info is not None
        if info.redact != "off":
            before = conversation.before
            text = (await asyncio.to_thread(self._redactor.at(info.redact).redact, text, (), before=before)).text
        now = time.time()
        if conversation.resting:
            info = msgspec.structs.replace(info, medium="chat")
            await self._bus.publish(CALLS, CallState(call=session, state="live", at=now, info=info))
        start_ms = max(int((now - info.started_at) * 1000), conversation.last_ms + 1, 0)
        line = Transcript(
            call=session,
            channel=0,
            role=CALLER,
            utterance=f"{session}/0/{start_ms}",
            start_ms=start_ms,
            end_ms=start_ms + len(text),
            text=text,
            final=True,
            confidence=1.0,
            heard_ms=start_ms + len(text),
            written=True,
            times={"captured": now, "published": now},
        )
        await self._bus.publish(TRANSCRIPTS, line)
        conversation.note_line(text, start_ms, message)
        return start_ms

    def _load(self, conversation: Conversation) -> None:
        conversation.loading = True
        load = self._loads[conversation] = asyncio.create_task(self._read_past(conversation))
        load.add_done_callback(lambda done: self._loaded(conversation, done))

    async def _read_past(self, conversation: Conversation) -> None:
        past: list[tuple[Record, Event]] = []
        for topic, offset in zip(TOPICS, conversation.positions(), strict=True):
            partition = Partition(topic.name, conversation.place.partition)
            while records := await self._bus.fetch(partition, offset):
                offset = records[-1].offset + 1
                past += _decoded(topic, records, conversation.place.session)
        conversation.loaded(past)

    def _loaded(self, conversation: Conversation, load: asyncio.Task[None]) -> None:
        """What could not be read is forgotten; who waits for it asks anew."""
        del self._loads[conversation]
        if load.cancelled() or load.exception() is not None:
            session = conversation.place.session
            log.warning("a conversation cannot be read", call=session)
            if self._known.get(session) is conversation:
                del self._known[session]
            conversation.give_up()

    def _follow(self, event: Event) -> None:
        if isinstance(event, CallState) and event.state in OVER:
            del self._open[event.call]
            return
        self._open[event.call] = time.monotonic()
        if isinstance(event, Turn) and event.ended and event.written:  # what is spoken ends with its last word
            del self._open[event.call]
            self._close(event.call, "goodbye")

    def _close(self, session: str, reason: str) -> None:
        task = asyncio.create_task(self._end(session, reason))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _end(self, session: str, reason: str) -> None:
        try:
            await self._bus.publish(CALLS, CallState(call=session, state="ended", at=time.time(), reason=reason))
        except Unavailable as error:
            self._open[session] = time.monotonic()  # it is ended when it has been idle for as long again
            log.warning("a conversation could not be ended", call=session, error=error.message)

    def _forget(self) -> None:
        for session, conversation in list(self._known.items()):
            used = conversation.watched or conversation.writing.locked() or conversation in self._loads
            if not used and time.monotonic() - conversation.touched > KEPT_S:
                del self._known[session]

    async def _find_open(self) -> None:
        """Conversations that an earlier process left open."""
        try:
            for session in await asyncio.to_thread(self._stored_open):
                self._open.setdefault(session, time.monotonic())
        except SQLAlchemyError as error:
            log.warning("open conversations cannot be looked up", error=type(error).__name__)

    def _stored_open(self) -> list[str]:
        wanted = select(CallRow.id).where(col(CallRow.source) == SOURCE, col(CallRow.state).in_(OPEN))
        with self._database.session() as session:
            return list(session.exec(wanted))


_TOPICS = {topic.name for topic in TOPICS}


def _decoded(topic: Topic, records: Iterable[Record], session: str) -> list[tuple[Record, Event]]:
    found = []
    for record in records:
        if record.key == session:
            try:
                found.append((record, topic.decode(record.value)))
            except Unreadable:
                continue  # its stage reports it
    return found
