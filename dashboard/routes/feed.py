"""The live feed: one follower of the bus a process, and as many browsers as like to listen.

    bus --follower--> message (encoded once) --> each browser that may see the call --> its queue --> its stream

A browser first gets a snapshot from the database, then what came over the bus lately (the database may be a moment
behind), then everything new. Every event has an id or a position of its own, so hearing it twice changes nothing.
A browser too slow for its queue is not waited for: it gets a new snapshot.

While the database is away everything goes on from the bus: browsers are told that the past is missing, newcomers get
the calls that this process knows to be going on, and all start over when the database is back.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from dashboard.auth.tokens import PAGE, SignedTokens, bearer
from dashboard.routes import snapshot
from dashboard.routes.handovers import Handovers
from storage.db.engine import Database
from storage.db.retry import patiently
from storage.viewer import HOUSE, Viewer
from tenor.assistant.handover import ASSISTANT
from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus, Record
from tenor.errors import Unavailable
from tenor.events import (
    CALLS,
    LABELS,
    NOTES,
    SENTENCES,
    TRANSCRIPTS,
    TURNS,
    Alert,
    CallGivenBack,
    CallMetrics,
    CallState,
    CallTakenOver,
    Event,
    Label,
    Note,
    NoteAcknowledged,
    Sentence,
    SummaryMended,
    Topic,
    Transcript,
    Turn,
    Unreadable,
    WrapUp,
    WrittenSummary,
)

log = structlog.get_logger(__name__)

T = TypeVar("T")
TOPICS: tuple[Topic, ...] = (TRANSCRIPTS, SENTENCES, CALLS, NOTES, LABELS, TURNS)
NAMES: dict[type, str] = {
    Transcript: "transcript",
    Sentence: "sentence",
    CallState: "state",
    CallMetrics: "metrics",
    Alert: "alert",
    Note: "note",
    NoteAcknowledged: "ack",
    SummaryMended: "mended",
    WrittenSummary: "written",
    WrapUp: "wrap_up",
    Label: "label",
    Turn: "turn",
    CallTakenOver: "handover",
    CallGivenBack: "handover",
}
HEARTBEAT_S = 15.0
"""How long a stream may be silent."""
STAYING_S = 0.5
"""Nothing is told to somebody of whom it was not asked for so long whether they may still hear it."""
MOST_STREAMS = 20
"""Of one account at once, on pages and through the API."""
TOO_MANY = f"{MOST_STREAMS} streams of this account are open"
QUEUE = 2000
"""Messages a browser may be behind."""
LATELY_S, LATELY = 20.0, 5000
"""What a newcomer is told over again after the snapshot."""
KNOWN_CALLS = 50_000
RETRY_S = 2.0
PATIENCE_S = 5.0
"""A database that takes longer to answer is away: nobody's words wait for it."""
CATCH_UP_S = 10.0
"""How long the storage stage gets to write what was said while the database was away."""
GOING_ON = ("ringing", "live")
TROUBLE = b'{"reason": "The database does not answer: this page goes on with what is said now."}'


class FeedMessage(NamedTuple):
    call: str
    agent: str
    at: float
    bytes: bytes
    early: bool = False
    """It came before the call it belongs to was known to go on."""
    waiting: bool = False
    """The call waited for a person: every agent may know."""


class Tap(Protocol):
    """Another part of this process that follows the bus, too: one follower is enough for all."""

    def resumed(self) -> None:
        """From now on everything is heard; what came before may have been missed."""
        ...

    def heard(self, record: Record, event: Event) -> None: ...


class FeedListener:
    """One browser."""

    def __init__(self, viewer: Viewer, call: str) -> None:
        self.viewer, self.call = viewer, call
        self._waiting: deque[bytes] = deque()
        self._woken = asyncio.Event()
        self._behind = False

    def hears(self, message: FeedMessage) -> bool:
        may_see = self.viewer.may_see(message.agent, waiting=message.waiting)
        return may_see and self.call in ("", message.call)

    def offer(self, message: FeedMessage) -> None:
        if not self.hears(message):
            return
        if len(self._waiting) >= QUEUE:
            self.start_over()
        else:
            self.tell(message.bytes)

    def tell(self, content: bytes) -> None:
        if not self._behind:
            self._waiting.append(content)
            self._woken.set()

    def start_over(self) -> None:
        """What waits is not worth sending any more: a snapshot takes its place."""
        self._waiting.clear()
        self._behind = True
        self._woken.set()

    async def take(self, timeout_s: float) -> bytes | None:
        """All that waits; empty after `timeout_s`; None when a snapshot is due."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        except TimeoutError:
            return b""
        self._woken.clear()
        if self._behind:
            self._behind = False
            return None
        taken = b"".join(self._waiting)
        self._waiting.clear()
        return taken


class Feed:
    def __init__(self, bus: Bus, database: Database) -> None:
        self._bus = bus
        self._database = database
        self._listeners: set[FeedListener] = set()
        self._streams: Counter[str] = Counter()
        """Open ones, by who listens."""
        self.handovers = Handovers()
        self.taps: list[Tap] = [self.handovers]
        self._agents: BoundedDict[str, str] = BoundedDict(KNOWN_CALLS)
        self._lately: deque[FeedMessage] = deque(maxlen=LATELY)
        self._going_on: dict[str, FeedMessage] = {}
        """The last state of each call that has not ended."""
        self._waiting: asyncio.Task[None] | None = None
        """While the database is away, whoever waits for it."""
        self._away_since: float | None = None
        self._over = False

    async def run(self) -> None:
        """Follow the bus until cancelled. While it is away, browsers keep what they have; then they start over."""
        while True:
            try:
                async with self._bus.follower(TOPICS) as follower:
                    for tap in self.taps:
                        tap.resumed()
                    while True:
                        await self._pass_on(await follower.poll(timeout_s=1.0))
            except Unavailable as error:
                log.warning("the feed lost the bus", error=error.message)
                await asyncio.sleep(RETRY_S)
                for listener in self._listeners:
                    listener.start_over()

    def close(self) -> None:
        """End every stream: they never end by themselves, and nobody should wait for them when we stop."""
        self._over = True
        if self._waiting is not None:
            self._waiting.cancel()
        for listener in self._listeners:
            listener.start_over()

    def routes(self, tokens: SignedTokens) -> list[BaseRoute]:
        async def feed(request: Request) -> Response:
            token = bearer(request.headers)
            viewer = await asyncio.to_thread(tokens.viewer, token, PAGE)
            if viewer is None:
                return JSONResponse({"error": "your session has ended: reload the page"}, 401)
            call = request.query_params.get("call", "")
            refusal = JSONResponse({"error": TOO_MANY}, 429)
            return self.response(viewer, call, lambda: tokens.viewer(token, PAGE) is not None, refusal)

        return [Route("/feed", feed)]

    def response(self, viewer: Viewer, call: str, still_valid: Callable[[], bool], refusal: Response) -> Response:
        """The stream, or the refusal when this viewer has too many open."""
        return _FeedResponse(self.stream(viewer, call, still_valid), viewer.name, self._streams, refusal)

    async def stream(self, viewer: Viewer, call: str, still_valid: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Server-sent events for one browser: all calls, or one, that this viewer may see."""
        listener = FeedListener(viewer, call)
        self._listeners.add(listener)
        asked_at = time.monotonic()
        try:
            yield await self._beginning(listener)
            while True:
                chunk = await listener.take(HEARTBEAT_S)
                if self._over:
                    return
                if time.monotonic() - asked_at >= STAYING_S:
                    if not await self._may_stay(still_valid):
                        yield frame("stale", b"{}")
                        return
                    asked_at = time.monotonic()
                if chunk is None:
                    chunk = await self._beginning(listener)
                yield chunk or b": still here\n\n"
        finally:
            self._listeners.discard(listener)

    async def _may_stay(self, still_valid: Callable[[], bool]) -> bool:
        try:
            return await asyncio.to_thread(still_valid)
        except SQLAlchemyError:
            return True  # nobody can tell now; it is asked again with the next heartbeat

    async def _beginning(self, listener: FeedListener) -> bytes:
        """The snapshot, what came lately, and `now`: what follows is new."""
        lately = b"".join(message.bytes for message in self._recent() if listener.hears(message))
        read = snapshot.of_call if listener.call else snapshot.of_live_calls
        kept = await self._asked(read, self._database, listener.viewer, listener.call)
        if kept is not None:
            return frame("snapshot", kept) + lately + frame("now", b"{}")
        known = b"".join(message.bytes for message in self._going_on.values() if listener.hears(message))
        return frame("trouble", TROUBLE) + known + lately + frame("now", b"{}")

    async def _asked(self, question: Callable[..., T], *about: Any) -> T | None:
        """What the database answers; None while it is away, without waiting for it again and again."""
        if self._waiting is not None:
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await asyncio.to_thread(question, *about)
        except (SQLAlchemyError, TimeoutError):
            if self._waiting is None and not self._over:
                self._away_since = time.monotonic()
                self._waiting = asyncio.create_task(self._wait_for_database())
                for listener in self._listeners:
                    listener.tell(frame("trouble", TROUBLE))
            return None

    async def _wait_for_database(self) -> None:
        """One asks for all, more and more seldom."""
        await asyncio.sleep(RETRY_S)
        try:
            await patiently(self._database, "feed", lambda: snapshot.of_live_calls(self._database, HOUSE))
        finally:
            self._waiting = None
        for listener in self._listeners:
            listener.start_over()
        await asyncio.sleep(CATCH_UP_S)
        if self._waiting is None:
            self._away_since = None

    def _recent(self) -> Iterable[FeedMessage]:
        """What the database may not have yet: more than the last seconds when it was away."""
        oldest = min(time.monotonic(), self._away_since or float("inf")) - LATELY_S
        return (message for message in self._lately if message.at >= oldest)

    async def _pass_on(self, records: list[Record]) -> None:
        for record in records:
            try:
                event = _TOPICS[record.topic].decode(record.value)
            except Unreadable:
                continue  # its stage reports it
            waited = self.handovers.is_open(event.call)
            for tap in self.taps:
                tap.heard(record, event)
            name = NAMES.get(type(event))
            if name is None:
                continue
            new = event.call not in self._going_on
            agent = await self._agent(event)
            if isinstance(event, CallTakenOver):
                agent = self._agents[event.call] = self.handovers.of(event.call).agent or agent
            early = new and not isinstance(event, CallState)
            told = await self._told(name, event, record)
            if not told:
                continue
            waits = self.handovers.is_open(event.call)
            if waits and not waited and event.call in self._going_on:  # agents have not heard of it
                self._deliver(self._going_on[event.call]._replace(waiting=True))
            message = FeedMessage(event.call, agent, time.monotonic(), told, early, waited or waits)
            if isinstance(event, CallState):
                self._follow(event, message)
            overtook = self._early(event.call) if new and event.call in self._going_on else []
            self._deliver(message)
            for one in overtook:
                self._deliver(one._replace(agent=agent, early=False))

    async def _told(self, name: str, event: Event, record: Record) -> bytes:
        """The event as browsers read it; empty when they do not hear of it."""
        if isinstance(event, Label):
            return await self._labelled(event)
        if isinstance(event, CallState) and event.state in GOING_ON and event.info is not None and event.info.customer:
            named = await self._asked(snapshot.named, self._database, event.info.customer)
            return (frame("names", msgspec.json.encode(named)) if named else b"") + frame(name, record.value)
        if not isinstance(event, Turn | CallTakenOver | CallGivenBack):
            return frame(name, record.value)
        handover = snapshot.handover_of(event.call, self.handovers.of(event.call))
        told = frame("handover", msgspec.json.encode(handover))
        if isinstance(event, Turn):
            told = frame(name, msgspec.json.encode(snapshot.turn_of(event))) + told
        return told

    async def _labelled(self, event: Label) -> bytes:
        """A label with what counts now, as the database says: it was there before it was on the bus. Nothing while the
        database is away: pages then start over with a snapshot when it is back."""
        if event.kind == "sides":
            turned = await self._asked(snapshot.sides_of, self._database, HOUSE, event.call)
            return frame("swap", msgspec.json.encode(turned)) if turned else b""
        corrected = await self._asked(snapshot.corrected, self._database, HOUSE, event.sentence)
        return frame("label", msgspec.json.encode(msgspec.to_builtins(event) | corrected)) if corrected else b""

    def _early(self, call: str) -> list[FeedMessage]:
        """Topics are read side by side: what was said before we knew of the call, to be told again."""
        early = [message for message in self._lately if message.call == call and message.early]
        for message in early:
            self._lately.remove(message)
        return early

    def _follow(self, event: CallState, message: FeedMessage) -> None:
        if event.state not in GOING_ON:
            self._going_on.pop(event.call, None)
        elif event.info is not None and len(self._going_on) < KNOWN_CALLS:
            self._going_on[event.call] = message

    def _deliver(self, message: FeedMessage) -> None:
        self._lately.append(message)
        for listener in self._listeners:
            listener.offer(message)

    async def _agent(self, event: Event) -> str:
        """Whose call it is. A state that names nobody takes it from nobody: a person has perhaps taken it from the
        assistant, and only its medium has changed."""
        info = event.info if isinstance(event, CallState) else None
        if info is not None and (info.agent or not info.attributes.get(ASSISTANT)):
            self._agents[event.call] = info.agent
        agent = self._agents.get(event.call)
        if agent is None:
            agent = await self._look_up(event.call)
            if info is not None:
                self._agents[event.call] = agent
        return agent

    async def _look_up(self, call: str) -> str:
        """As the database says. A call that nobody knows yet is not an agent's to see until its state tells."""
        found = await self._asked(snapshot.whose, self._database, HOUSE, call)
        if found is None:
            return ""
        agent, handover = found
        self._agents[call] = agent
        self.handovers.learn(call, handover)
        return agent


class _FeedResponse(StreamingResponse):
    """Counted from the first byte of the answer to its end, however that comes."""

    def __init__(self, events: AsyncIterator[bytes], name: str, streams: Counter[str], refusal: Response) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._name, self._streams, self._refusal = name, streams, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._streams[self._name] >= MOST_STREAMS:
            await self._refusal(scope, receive, send)
            return
        self._streams[self._name] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams[self._name] -= 1
            if not self._streams[self._name]:
                del self._streams[self._name]


_TOPICS = {topic.name: topic for topic in TOPICS}


def frame(name: str, json: bytes) -> bytes:
    """One server-sent event. JSON as we write it has no line breaks."""
    return b"event: " + name.encode() + b"\ndata: " + json + b"\n\n"
