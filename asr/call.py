"""A call being heard: its channels, and its states on the calls topic.

CallStarted        -> live      (once; a successor finds it there, with all that is known of the call)
CallEnded          -> ended     once every channel is written down; failed if the source broke
no audio           -> ended     "audio stopped"; live again if audio comes after all
recogniser refuses -> failed    with a reason a person understands; its audio is let go
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
import structlog

from asr import metrics
from asr.bench import Bench
from asr.channel import Channel
from asr.ledger import Ledger
from asr.pages import Pages
from asr.reel import Piece, Reel
from asr.sound import playable
from asr.trouble import Trouble
from asr.utterance import Speaker
from asr.whole import whole
from tenor.errors import TenorError
from tenor.events import CALLS, AudioChunk, Call, CallState, State

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class End:
    reason: str
    failed: bool
    offset: int | None
    """Of CallEnded; None when nothing on the bus says so."""


class HeardCall:
    def __init__(
        self, bench: Bench, pages: Pages, call: str, info: Call, offset: int,
        position: Callable[[], int], level: Callable[[], Awaitable[bool]], ledgers: dict[int, Ledger],
        announced: int | None = None,
    ) -> None:  # fmt: skip
        self.id = call
        self.info = info
        self.ledgers = ledgers
        self.first_offset = offset
        self.last_offset = offset
        """Of the newest record of this call."""
        self.announced = announced
        """Where its `live` lies on the calls topic; None: not yet."""
        self.published = 0
        """Offset after our last event on the calls topic."""
        self.touched = time.monotonic()
        self.end: End | None = None
        self._bench = bench
        self._pages = pages
        self._position = position
        self._level = level
        self._channels: dict[int, Channel] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ready = asyncio.Event()
        self._settled = asyncio.Event()
        self._noticed = ""
        self._refusal: Trouble | None = None
        self._fault: BaseException | None = None
        for number in ledgers:
            self._channel(number)

    # -- what the desk asks

    @property
    def offset(self) -> int:
        """Where the oldest record lies that a successor would still need."""
        places = [channel.offset for channel in self._channels.values() if not channel.done]
        if self.announced is None:
            places.append(self.first_offset)
        if self.end is not None and self.end.offset is not None:
            places.append(self.end.offset)
        return min(places, default=self._position())

    @property
    def reached(self) -> int:
        """Everything before has gone to the recogniser."""
        places = (channel.reached for channel in self._channels.values() if not channel.done)
        return min(places, default=self._position())

    @property
    def transcribed(self) -> int:
        """Offset after the last transcript of this call that we published."""
        return max((channel.published for channel in self._channels.values()), default=0)

    def check(self, now: float) -> None:
        for channel in self._channels.values():
            channel.check(now)

    # -- what the desk says

    def hear(self, chunk: AudioChunk, offset: int) -> None:
        self._touch(offset)
        if not self.info.rate:
            self.info = msgspec.structs.replace(self.info, rate=chunk.rate)
        self._channel(chunk.channel).reel.hand(Piece(offset, chunk))

    def hang_up(self, reason: str, *, failed: bool = False, offset: int | None = None) -> None:
        """No more audio will come, as a record at `offset` says, or as the watchdog concludes."""
        if self.end is not None:
            return
        self.end = End(reason, failed, offset)
        for channel in self._channels.values():
            if offset is None:
                channel.close_when_level()
            else:
                channel.reel.hand(Piece(offset, None))
        if offset is not None:
            self._touch(offset)
        self._settle()

    def again(self, offset: int) -> None:
        """Its source has reconnected."""
        self._touch(offset)

    async def run(self) -> None:
        """Until the call has ended or failed and that is published."""
        try:
            with metrics.OPEN_CALLS.track_inprogress():
                if self.announced is None:
                    await whole(self._announce("live"))
                self._ready.set()
                await self._settled.wait()
                if self._fault is not None:
                    raise self._fault
                if self._refusal is not None:
                    await self._fail(self._refusal)
                else:
                    assert self.end is not None
                    state: State = "failed" if self.end.failed else "ended"
                    await whole(self._announce(state, self.end.reason))
        finally:
            await self._stop_channels()

    async def _stop_channels(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # -- channels

    def _touch(self, offset: int) -> None:
        self.touched = time.monotonic()
        self.last_offset = max(self.last_offset, offset)

    def _channel(self, number: int) -> Channel:
        if number in self._channels:
            return self._channels[number]
        roles = self.info.roles
        role = roles[number] if number < len(roles) else f"channel {number}"
        redactor = self._bench.redactor if self.info.redact != "off" else None
        reel = Reel(self._pages, self.id, number, self._position)
        channel = self._channels[number] = Channel(
            self._bench,
            Speaker(self.id, number, role, redactor),
            self.info.language or self._bench.speech.language,
            reel,
            self.ledgers.setdefault(number, Ledger()),
            self._level,
            self._notice,
        )
        task = self._tasks[number] = asyncio.create_task(self._run_channel(channel))
        task.add_done_callback(lambda _: self._settle())
        return channel

    async def _run_channel(self, channel: Channel) -> None:
        await self._ready.wait()
        try:
            await channel.run()
        except Trouble as trouble:
            self._refusal = trouble
        except TenorError as error:
            self._fault = error  # the bus is gone: the whole stage has to stop
        except Exception:
            channel.log.exception("hearing failed")
            self._refusal = Trouble("broken", "an internal error; the worker's log has the details")

    def _settle(self) -> None:
        over = self.end is not None and all(task.done() for task in self._tasks.values())
        if over or self._refusal is not None or self._fault is not None:
            self._settled.set()

    # -- states

    async def _fail(self, trouble: Trouble) -> None:
        reason = await self._explain(trouble)
        metrics.CALLS_FAILED.inc()
        log.error("call failed", call=self.id, reason=reason)
        await whole(self._announce("failed", reason))

    async def _explain(self, trouble: Trouble) -> str:
        if "navailable model" not in trouble.reason:
            return f"The recogniser does not take this call: {trouble.reason}"
        speech = self._bench.speech
        wanted = f"model {speech.model!r} for " if speech.model else "a model for "
        language = self.info.language or speech.language
        try:
            models = ", ".join(await self._bench.recogniser.models()) or "none"
        except Trouble:
            models = "unknown, it did not say"
        return f"The recogniser has not {wanted}{language}. It has: {models}"

    async def _notice(self, reason: str) -> None:
        """Say on the call, once for each reason, why it is live and yet nothing is heard."""
        if reason != self._noticed:
            self._noticed = reason
            log.error("recogniser refuses us; audio waits on the bus", call=self.id, reason=reason)
            text = f"Waiting: the recogniser refuses us ({reason}). The audio is kept until it accepts."
            await whole(self._announce("live", text))

    async def _announce(self, state: State, reason: str = "") -> None:
        event = CallState(call=self.id, state=state, at=time.time(), reason=reason, info=self._described())
        place = await self._bench.bus.publish(CALLS, event)
        self.published = place.offset + 1
        if self.announced is None:
            self.announced = place.offset

    def _described(self) -> Call:
        """What is known of the call, with the rate it was recognised at if that is not its own."""
        info = self.info
        language = info.language or self._bench.speech.language
        rate = self._bench.recogniser.rate(language) or playable(info.rate)
        if not info.rate or rate == info.rate:
            return info
        return msgspec.structs.replace(info, attributes={**info.attributes, "resampled": f"{info.rate} to {rate} Hz"})
