"""The switchboard: all calls and sockets that are open, and what happens to them as time passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import structlog

from ingest.gateway import metrics
from ingest.gateway.call import CallClock, PhoneCall
from ingest.gateway.errors import Full
from ingest.gateway.leg import CallSocket, Leg
from ingest.gateway.outbox import CallOutbox, HeldAudio
from ingest.gateway.playback import PlaybackService
from tenor.assistant.handover import ASSISTANT, agent_channel
from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus
from tenor.events import Call
from tenor.settings import Settings

log = structlog.get_logger(__name__)

FLUSH_S = 10.0
"""How long a stop waits for the bus to take what is held."""
DRAIN_LOOK_S = 0.1
REMEMBERED = 10_000
"""Ids of ended calls kept, so that a platform that uses one again gets a call of its own."""


class Switchboard:
    def __init__(self, bus: Bus, settings: Settings) -> None:
        self.settings = settings
        self.draining = False
        self.stopping = False
        self._bus = bus
        self._calls: dict[str, PhoneCall] = {}
        self._lines: set[CallSocket] = set()
        self._publishers: set[asyncio.Task[None]] = set()
        self._ended: BoundedDict[str, int] = BoundedDict(REMEMBERED)
        self._held = HeldAudio()
        self._playbacks = PlaybackService(bus, settings.speech)

    @property
    def open_calls(self) -> int:
        return len(self._calls)

    @property
    def bus_behind(self) -> bool:
        return any(call.outbox.behind for call in self._calls.values())

    @property
    def bus_full(self) -> bool:
        """The bus is away, and no more audio can be held for it."""
        return self._held.full

    @property
    def crowded(self) -> bool:
        """More sockets than any number of allowed calls needs: they are refused at the door."""
        return self.stopping or len(self._lines) >= 2 * self.settings.gateway.max_calls + 16

    def connect(self, line: CallSocket) -> None:
        self._lines.add(line)
        metrics.SOCKETS.labels(line.platform).inc()

    def disconnect(self, line: CallSocket) -> None:
        self._lines.discard(line)
        metrics.SOCKETS.labels(line.platform).dec()

    def find(self, call: str) -> PhoneCall | None:
        """The open call of this id."""
        return self._calls.get(self._current(call))

    def join(
        self,
        call: str,
        line: CallSocket,
        channels: frozenset[int],
        info: Callable[[float], Call],
        *,
        in_writing: bool = False,
    ) -> Leg:
        """The socket's leg in the call of this id: a new call, its second stream, its return, the person to whom the
        assistant has handed it over, or the assistant once more after that person.

        `info` makes what is known of the call from the time it begins; it counts only when the call is new.
        `in_writing`: the call began elsewhere, when `info` says, and its id stays when it is spoken again."""
        known = self._calls.get(self._current(call))
        if known is not None and known.handed_over_at is not None:
            told = info(known.clock.started_at)
            if ASSISTANT not in told.roles:
                return self._join_person(known, line, channels, told.agent)
            return self._give_back(known, line, channels)
        name = call if in_writing else self._current(call)
        known = self._calls.get(name)
        phone_call = known or self._begin(name, info, in_writing=in_writing)
        began_ms = phone_call.clock.joined_ms
        offset_ms = max(known.clock.elapsed_ms(), known.end_of(channels)) if known else began_ms
        leg = Leg(phone_call, line, channels, offset_ms)
        phone_call.attach(leg)
        return leg

    def _join_person(self, call: PhoneCall, line: CallSocket, channels: frozenset[int], agent: str) -> Leg:
        """The platform streams the conversation with a person, after the assistant's: the same call goes on. The person
        is on a channel of their own, for the second one is the assistant's."""
        theirs = agent_channel(call.info.roles)
        channels = frozenset(theirs if channel == 1 else channel for channel in channels)
        leg = Leg(call, line, channels, max(call.clock.elapsed_ms(), call.end_of(channels)), agent=theirs)
        call.attach(leg)
        if theirs in channels:
            call.take_over(agent)
        return leg

    def _give_back(self, call: PhoneCall, line: CallSocket, channels: frozenset[int]) -> Leg:
        """The platform brings the caller back: the same call goes on with the assistant, on this socket alone."""
        self._playbacks.end(call)
        leg = Leg(call, line, channels, max(call.clock.elapsed_ms(), call.end_of(channels)))
        call.attach(leg)
        call.give_back(self._playbacks.begin(call))
        return leg

    def _begin(self, name: str, info: Callable[[float], Call], *, in_writing: bool) -> PhoneCall:
        if self.draining:
            raise Full("the gateway is stopping")
        if len(self._calls) >= self.settings.gateway.max_calls:
            raise Full("too many calls are open (gateway.max_calls)")
        if self.bus_full:
            raise Full("the event bus is away, and no more audio can be held")
        clock = CallClock()
        call_info = info(clock.started_at)
        if in_writing:
            clock = CallClock(call_info.started_at)
        outbox = CallOutbox(self._bus, name, 1 if call_info.speakers else len(call_info.roles), self._held)
        chunk_ms = self.settings.ingest.chunk_ms
        call = PhoneCall(name, call_info, clock, outbox, chunk_ms, self._over, in_writing=in_writing)
        self._calls[name] = call
        call.playback = self._playbacks.begin(call)
        publisher = asyncio.create_task(self._publish(call), name=f"publish {name}")
        self._publishers.add(publisher)
        publisher.add_done_callback(self._publishers.discard)
        metrics.CALLS.labels(call.platform).inc()
        metrics.OPEN.labels(call.platform).inc()
        log.info("call begins", call=name, channels=len(call_info.roles))
        return call

    async def _publish(self, call: PhoneCall) -> None:
        if call.playback is not None:
            await self._playbacks.ready(call)
        await call.outbox.run()

    def _current(self, call: str) -> str:
        """An id used again after its call ended means another call: `twilio-CA1`, `twilio-CA1-2`, ..."""
        times = self._ended.get(call, 0)
        return f"{call}-{times + 1}" if times else call

    def _over(self, call: PhoneCall) -> None:
        if self._calls.pop(call.id, None) is None:
            return
        self._playbacks.end(call)
        metrics.OPEN.labels(call.platform).dec()
        if call.in_writing:
            return
        base, _, times = call.id.rpartition("-")
        if base in self._ended and times.isdecimal() and int(times) == self._ended[base] + 1:
            self._ended[base] += 1
        else:
            self._ended[call.id] = 1

    async def watch(self) -> None:
        """Until cancelled: close silent sockets, end calls that nobody came back to, keep the others alive."""
        gateway = self.settings.gateway
        pause = max(0.02, min(1.0, gateway.silence_s / 4, (gateway.resume_s or 1.0) / 4))
        while True:
            await asyncio.sleep(pause)
            now = time.monotonic()
            metrics.HELD.set(self._held.bytes)
            for line in [line for line in self._lines if now - line.heard_at > gateway.silence_s]:
                log.warning("socket is silent", platform=line.platform, seconds=gateway.silence_s)
                line.heard_at = now
                line.drop(f"nothing was heard for {gateway.silence_s:g} s", 1001)
            for call in list(self._calls.values()):
                if not call.give_up(gateway, now):
                    call.catch_up()

    async def drain(self, limit_s: float) -> None:
        """Take no new calls, and wait for those that are open to end; they are watched as before."""
        self.draining = True
        watching = asyncio.create_task(self.watch())
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._calls:  # noqa: ASYNC110 -- calls end by many ways
                    await asyncio.sleep(DRAIN_LOOK_S)
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    async def stop(self) -> None:
        """End every call, close every socket, and give the bus time to take what is held."""
        self.draining = self.stopping = True
        for call in list(self._calls.values()):
            call.end("stopped", code=1001)
        for line in list(self._lines):
            line.drop("the gateway is stopping", 1001)
        await self._flush()
        await self._playbacks.stop()

    async def _flush(self) -> None:
        if not self._publishers:
            return
        _, waiting = await asyncio.wait(self._publishers, timeout=FLUSH_S)
        for publisher in waiting:
            publisher.cancel()
        if waiting:
            log.error("stopped before the bus took everything", calls=len(waiting))
            await asyncio.wait(waiting)
