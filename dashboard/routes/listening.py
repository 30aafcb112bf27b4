"""Listening in: the sound of a call that is going on, from the bus into a browser.

    audio topic --fetch, every POLL_S--> PartitionReader --chunks of the call--> Listener's queue --> its WebSocket

Only the partitions of calls that somebody hears are read, from where they end now. Who is too slow loses the oldest
sound and is never more than QUEUE_S behind. What is heard is the raw audio: nothing is redacted in it. That is why it
is off until `dashboard.listen` says which role may hear which queues, why every time is in the audit trail before the
first sound, and why a call whose audio is redacted before it is kept cannot be heard at all.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections import deque
from contextlib import suppress
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.auth.origins import is_allowed_origin
from dashboard.auth.tokens import PAGE, SignedTokens
from dashboard.routes.denied import Denied
from storage.db.engine import Database
from storage.queries import calls
from storage.tables import Audit
from storage.viewer import Viewer
from tenor.aio import in_thread
from tenor.bus import Bus, Partition
from tenor.bus.partitioning import partition_of
from tenor.errors import Unavailable
from tenor.events import AUDIO, AudioChunk, Call, CallEnded, Unreadable
from tenor.redaction import mode
from tenor.settings import Settings

log = structlog.get_logger(__name__)

POLL_S: Final = 0.1
QUEUE_S: Final = 1.0
"""How far a browser may be behind."""
CHUNKS_S: Final = 20
"""Chunks of both sides in a second."""
HELLO_S: Final = 10.0
STAYS_S: Final = 2.0
"""How often it is asked whether the listener may still hear it."""
RETRY_S: Final = 1.0
NO_TOKEN, DENIED, AGAIN, OVER = 4401, 4403, 1012, 4410
"""Why it is closed: no session, not allowed, come again, the call is over."""
GOING_ON = ("ringing", "live")
EVERY_QUEUE = "*"
HEAD: Final = struct.Struct("<BxxxIId")
"""Before the samples of a chunk (16-bit little-endian): channel, rate, position in ms, when it was spoken."""


class Hello(msgspec.Struct):
    token: str


class Listener:
    """One browser that hears one call."""

    def __init__(self, call: str) -> None:
        self.call = call
        self.over = self.lost = False
        """The call is over, or we are."""
        self._chunks: deque[bytes] = deque(maxlen=round(QUEUE_S * CHUNKS_S))
        self._woken = asyncio.Event()

    def hear(self, event: AudioChunk | CallEnded) -> None:
        if isinstance(event, CallEnded):
            self.over = self.over or not event.audio_only
        else:
            self._chunks.append(HEAD.pack(event.channel, event.rate, event.start_ms, event.captured_at) + event.pcm)
        self._woken.set()

    def stop(self) -> None:
        self.lost = True
        self._woken.set()

    async def take(self, timeout_s: float) -> list[bytes]:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        self._woken.clear()
        taken = list(self._chunks)
        self._chunks.clear()
        return taken


class PartitionReader:
    """Reads one partition of audio for as long as somebody hears a call on it."""

    def __init__(self, bus: Bus, number: int) -> None:
        self._bus, self._partition = bus, Partition(AUDIO.name, number)
        self.listeners: set[Listener] = set()

    async def run(self) -> None:
        position: int | None = None
        while True:
            try:
                if position is None:  # from now on
                    position = (await self._bus.bounds(self._partition))[1]
                while records := await self._bus.fetch(self._partition, position):
                    position = records[-1].offset + 1
                    for record in records:
                        self._pass_on(record.key, record.value)
                await asyncio.sleep(POLL_S)
            except Unavailable as error:
                log.warning("listening in lost the bus", error=error.message)
                position = None
                await asyncio.sleep(RETRY_S)

    def _pass_on(self, call: str, value: bytes) -> None:
        wanted = [listener for listener in self.listeners if listener.call == call]
        if not wanted:
            return
        try:
            event = AUDIO.decode(value)
        except Unreadable:
            return  # its stage reports it
        if isinstance(event, AudioChunk | CallEnded):
            for listener in wanted:
                listener.hear(event)


class ListeningIn:
    def __init__(self, bus: Bus, database: Database, tokens: SignedTokens, settings: Settings) -> None:
        self._bus, self._database, self._tokens, self._settings = bus, database, tokens, settings
        self._readers: dict[int, tuple[PartitionReader, asyncio.Task[None]]] = {}

    def routes(self) -> list[BaseRoute]:
        return [WebSocketRoute("/listen/{call:path}", self._listen)]

    def close(self) -> None:
        """End every stream: they never end by themselves, and nobody should wait for them when we stop."""
        for reader, task in self._readers.values():
            task.cancel()
            for listener in reader.listeners:
                listener.stop()

    async def _listen(self, socket: WebSocket) -> None:
        if not is_allowed_origin(socket, []):
            await socket.close(DENIED, "pages of this web site may not listen")
            return
        await socket.accept()
        try:
            token = await self._token(socket)
            viewer = await asyncio.to_thread(self._tokens.viewer, token, PAGE)
            if viewer is None:
                await socket.close(NO_TOKEN, "your session has ended: reload the page")
                return
            call = socket.path_params["call"]
            await asyncio.to_thread(self._begin, viewer, call)
            await self._stream(socket, viewer, token, call)
        except Denied as denied:
            await socket.close(DENIED, denied.reason)
        except SQLAlchemyError:
            await socket.close(AGAIN, "the database does not answer, and nobody listens without a note of it")
        except Unavailable:
            await socket.close(AGAIN, "the bus does not answer")
        except WebSocketDisconnect:
            pass

    async def _token(self, socket: WebSocket) -> str:
        try:
            async with asyncio.timeout(HELLO_S):
                return msgspec.json.decode(await socket.receive_text(), type=Hello).token
        except (TimeoutError, msgspec.MsgspecError, KeyError):
            return ""

    def _begin(self, viewer: Viewer, call_id: str) -> None:
        """Note it down, if this viewer may hear this call now."""
        with self._database.begin() as session:
            call = calls.find(session, viewer, call_id)
            if call is None:
                raise Denied(404, "there is no such call")
            if call.state not in GOING_ON or call.medium != "voice":
                raise Denied(409, "nobody is speaking on this call now")
            if reason := refusal(self._settings, viewer, call.queue, call.redact):
                raise Denied(403, reason)
            session.add(_note(viewer, "call.heard_live", call_id, queue=call.queue))

    async def _stream(self, socket: WebSocket, viewer: Viewer, token: str, call: str) -> None:
        listener, began = Listener(call), time.time()
        number = partition_of(call, await self._bus.partitions(AUDIO))
        self._join(number, listener)
        gone = asyncio.create_task(_until_gone(socket))
        try:
            asked_at = time.monotonic()
            while not gone.done():
                for chunk in await listener.take(STAYS_S):
                    await socket.send_bytes(chunk)
                if listener.lost:
                    await socket.close(AGAIN, "the dashboard stops")
                    return
                if listener.over:
                    await socket.close(OVER, "the call is over")
                    return
                if time.monotonic() - asked_at >= STAYS_S:
                    asked_at = time.monotonic()
                    with suppress(SQLAlchemyError):  # nobody can tell now
                        if await asyncio.to_thread(self._tokens.viewer, token, PAGE) is None:
                            await socket.close(NO_TOKEN, "your session has ended")
                            return
        finally:
            gone.cancel()
            self._leave(number, listener)
            with suppress(SQLAlchemyError):
                await in_thread(lambda: self._end(viewer, call, time.time() - began))

    def _end(self, viewer: Viewer, call: str, seconds: float) -> None:
        with self._database.begin() as session:
            session.add(_note(viewer, "call.heard_live_end", call, seconds=round(seconds, 1)))

    def _join(self, number: int, listener: Listener) -> None:
        if number not in self._readers:
            reader = PartitionReader(self._bus, number)
            self._readers[number] = reader, asyncio.create_task(reader.run())
        self._readers[number][0].listeners.add(listener)

    def _leave(self, number: int, listener: Listener) -> None:
        reader, task = self._readers[number]
        reader.listeners.discard(listener)
        if not reader.listeners:
            task.cancel()
            del self._readers[number]


def refusal(settings: Settings, viewer: Viewer, queue: str, redact: str) -> str:
    """Why this viewer may not hear calls of this queue; empty: they may."""
    said: Any = redact or None
    about = Call(source="", roles=(), started_at=0, queue=queue, redact=said)
    allowed = settings.dashboard.listen.get(viewer.role, []) if viewer.role != "agent" else []
    if not settings.dashboard.listen:
        return "listening in is off (dashboard.listen)"
    if EVERY_QUEUE not in allowed and (not queue or queue not in allowed):
        return f"your role, {viewer.role}, does not listen in on calls of {queue or 'no queue'}"
    if mode(about, settings.speech) == "audio":
        return "the audio of this call is redacted before it is kept, so nobody listens in"
    return ""


def _note(viewer: Viewer, action: str, call: str, **detail: Any) -> Audit:
    return Audit(at=time.time(), who=viewer.name, action=action, subject=call, detail=detail)


async def _until_gone(socket: WebSocket) -> None:
    """A browser says nothing more; that it is gone is heard only by listening."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
