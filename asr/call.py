"""A call being recognised: its channels, and its states on the calls topic.

CallStarted        -> live      (once; a successor finds it there, with all that is known of the call)
CallStarted again  -> live      if its medium has changed
CallEnded          -> ended     once every channel is written down; failed if the source broke
                      live      in writing, if only its audio is over
no audio           -> ended     "audio stopped"; live again if audio comes after all
recogniser refuses -> failed    with a reason a person understands; its audio is let go
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import msgspec
import structlog

from asr import metrics
from asr.audio.chunk_reader import ChunkRecord
from asr.audio.resampling import supported_rate
from asr.audio.source import AudioSource
from asr.channel import Channel
from asr.context import AsrContext
from asr.position import SPOKEN_ROLE, CallPosition
from asr.riva.client import ExpectedPhrases, house_vocabulary
from asr.riva.errors import RivaError
from asr.transcript_builder import TranscriptBuilder
from tenor.aio import run_to_completion
from tenor.assistant.handover import AGENT, agent_channel
from tenor.errors import TenorError
from tenor.events import AUDIO_STOPPED, CALLS, AudioChunk, Call, CallEnded, CallState, State

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AudioEnd:
    reason: str
    failed: bool
    offset: int | None
    """Of CallEnded on the audio topic; None when nothing there says so."""
    audio_only: bool = False
    """The call goes on in writing."""

    @property
    def audio_stopped(self) -> bool:
        """Nobody ended it, there was only no more audio: if there is more, it goes on."""
        return self.offset is None

    @property
    def revivable(self) -> bool:
        """Whether the call is recognised again if there is more audio."""
        return self.audio_stopped or self.audio_only


class AsrCall:
    def __init__(
        self, context: AsrContext, source: AudioSource, call: str, position: CallPosition, first_offset: int
    ) -> None:
        """`first_offset`: where its first record lies that we have read."""
        self.id = call
        self.position = position
        self.last_offset = first_offset
        """Of the newest record of this call."""
        self.calls_end = 0
        """Offset after our last event on the calls topic."""
        self.touched = time.monotonic()
        self.end: AudioEnd | None = None
        self._context = context
        self._source = source
        self._first_offset = first_offset
        self._channels: dict[int, Channel] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._announced = asyncio.Event()
        """Its `live` is published: transcripts may follow."""
        self._settled = asyncio.Event()
        """Every channel is done, or none will ever be."""
        self._renewed = asyncio.Event()
        """Something else is known of the call, and not yet published."""
        self._waiting_for = ""
        position.audio_offset = first_offset if position.audio_offset is None else position.audio_offset
        position.roles.on_change = self._rename
        if position.shared and position.info.roles != position.roles.roles:
            self._rename()  # a predecessor did not come to say so
        self._refused: RivaError | None = None
        self._fault: BaseException | None = None
        for number in position.channels:
            if self._recognises(number):
                self._channel(number)

    # -- what the partition asks

    @property
    def resume_offset(self) -> int:
        """Where the oldest record lies that a successor would still need."""
        places = [channel.resume_offset for channel in self._channels.values() if not channel.done]
        if self.position.live_offset is None:
            places.append(self._first_offset)
        if self.end is not None and self.end.offset is not None:
            places.append(self.end.offset)
        return min(places, default=self._source.next_offset)

    @property
    def next_offset(self) -> int:
        """Everything before has gone to the recogniser."""
        places = (channel.next_offset for channel in self._channels.values() if not channel.done)
        return min(places, default=self._source.next_offset)

    @property
    def transcripts_end(self) -> int:
        """Offset after the last transcript of this call that we published."""
        return max((channel.transcripts_end for channel in self._channels.values()), default=0)

    def check(self, now: float) -> None:
        for channel in self._channels.values():
            channel.check(now)

    # -- what the partition says

    def add(self, chunk: AudioChunk, offset: int) -> None:
        self.touch(offset)
        info = self.position.info
        if not self._recognises(chunk.channel):
            return
        if not info.rate:
            self.position.info = msgspec.structs.replace(info, rate=chunk.rate)
        self._channel(chunk.channel).reader.hand(ChunkRecord(offset, chunk))

    def hang_up(self, event: CallEnded, offset: int) -> None:
        """No more audio will come, as the record at `offset` says."""
        if self.end is None:
            self.end = AudioEnd(event.reason, event.failed, offset, event.audio_only)
            for channel in self._channels.values():
                channel.reader.hand(ChunkRecord(offset, None))
            self.touch(offset)
            self._settle()

    def stop(self) -> None:
        """No audio has come for so long that none is expected."""
        if self.end is None:
            self.end = AudioEnd(AUDIO_STOPPED, failed=False, offset=None)
            for channel in self._channels.values():
                channel.reader.close()
            self._settle()

    def renew(self, info: Call) -> None:
        """Its source said again what it knows of the call."""
        if info.medium != self.position.info.medium:
            self.position.info = msgspec.structs.replace(self.position.info, medium=info.medium)
            self._renewed.set()

    def _rename(self) -> None:
        """The voices on its channel have other names than was thought."""
        self.position.info = msgspec.structs.replace(self.position.info, roles=self.position.roles.roles)
        self._renewed.set()

    def touch(self, offset: int) -> None:
        """A record of it was read."""
        self.touched = time.monotonic()
        self.last_offset = max(self.last_offset, offset)

    async def run(self) -> None:
        """Until the call has ended or failed and that is published."""
        try:
            with metrics.OPEN_CALLS.track_inprogress():
                if self.position.live_offset is None:
                    await self._announce("live")
                self._announced.set()
                await self._announce_changes()
                if self._fault is not None:
                    raise self._fault
                if self._refused is not None:
                    await self._fail(self._refused)
                else:
                    assert self.end is not None
                    await self._announce_end(self.end)
        finally:
            await self._stop_channels()

    async def _stop_channels(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    # -- channels

    def _recognises(self, number: int) -> bool:
        """What the assistant says is not: what plays it knows every word of it."""
        roles = self.position.info.roles
        return number >= len(roles) or roles[number] != SPOKEN_ROLE

    def _channel(self, number: int) -> Channel:
        if number in self._channels:
            return self._channels[number]
        info = self.position.info
        role = info.roles[number] if number < len(info.roles) else f"channel {number}"
        if SPOKEN_ROLE in info.roles and number == agent_channel(info.roles):
            role = AGENT
        redactor = self._context.redactor.at(info.redact) if info.redact != "off" else None
        channel = self._channels[number] = Channel(
            self._context,
            self._source,
            TranscriptBuilder(self.id, number, role, redactor, self.position.roles if self.position.shared else None),
            self.position,
            self._language,
            self._model,
            self._say_waiting,
            self._expected,
        )
        task = self._tasks[number] = asyncio.create_task(self._run_channel(channel))
        task.add_done_callback(lambda _: self._settle())
        return channel

    @property
    def _expected(self) -> list[ExpectedPhrases]:
        info = self.position.info
        house = house_vocabulary(self._context.speech, info.queue)
        return [self._context.expected, house] if info.attributes.get(SPOKEN_ROLE) else [house]

    async def _run_channel(self, channel: Channel) -> None:
        await self._announced.wait()
        try:
            await channel.run()
        except RivaError as error:
            self._refused = error
        except TenorError as error:
            self._fault = error  # the bus is gone: the whole stage has to stop
        except Exception:
            channel.log.exception("hearing failed")
            self._refused = RivaError("broken", "an internal error; the worker's log has the details")

    def _settle(self) -> None:
        over = self.end is not None and all(task.done() for task in self._tasks.values())
        if over or self._refused is not None or self._fault is not None:
            self._settled.set()

    async def _model(self) -> str:
        """Asked whenever a stream is opened: the server may be another one, but the answer is the call's."""
        return await self._context.models.of(self.position, self._language)

    # -- states

    @property
    def _language(self) -> str:
        return self.position.info.language or self._context.speech.language

    async def _fail(self, error: RivaError) -> None:
        reason = await self._explain(error)
        metrics.CALLS_FAILED.inc()
        log.error("call failed", call=self.id, reason=reason)
        await self._announce("failed", reason)

    async def _explain(self, error: RivaError) -> str:
        if "navailable model" not in error.reason:
            return f"The recogniser does not take this call: {error.reason}"
        speech = self._context.speech
        wanted = f"model {speech.model!r} for " if speech.model else "a model for "
        try:
            models = ", ".join(await self._context.riva.models()) or "none"
        except RivaError:
            models = "unknown, it did not say"
        return f"The recogniser has not {wanted}{self._language}. It has: {models}"

    async def _say_waiting(self, reason: str) -> None:
        """Say on the call, once for each reason, why it is live and yet nothing is recognised."""
        if reason != self._waiting_for:
            self._waiting_for = reason
            log.error("recogniser refuses us; audio waits on the bus", call=self.id, reason=reason)
            text = f"Waiting: the recogniser refuses us ({reason}). The audio is kept until it accepts."
            await self._announce("live", text)

    async def _announce_changes(self) -> None:
        """Until every channel is done: that the medium has changed, whenever it has."""
        settled = asyncio.create_task(self._settled.wait())
        try:
            while not settled.done():
                renewed = asyncio.create_task(self._renewed.wait())
                try:
                    await asyncio.wait([settled, renewed], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    renewed.cancel()
                if self._renewed.is_set() and not settled.done():
                    self._renewed.clear()
                    await self._announce("live")
        finally:
            settled.cancel()

    async def _announce_end(self, end: AudioEnd) -> None:
        if end.audio_only:
            self.position.info = msgspec.structs.replace(self.position.info, medium="chat", rate=0)
            await self._announce("live", end.reason)
        else:
            state: State = "failed" if end.failed else "ended"
            await self._announce(state, end.reason, audio_stopped=end.audio_stopped)

    async def _announce(self, state: State, reason: str = "", *, audio_stopped: bool = False) -> None:
        """Published and known to be, even if we are cancelled meanwhile."""
        event = CallState(
            call=self.id,
            state=state,
            at=time.time(),
            reason=reason,
            info=self._described(),
            audio_stopped=audio_stopped,
        )
        await run_to_completion(self._publish(event))

    async def _publish(self, event: CallState) -> None:
        place = await self._context.publish(CALLS, event)
        if place is None:  # the call is another worker's, and we are about to be told
            return
        self.calls_end = place.offset + 1
        if self.position.live_offset is None:
            self.position.live_offset = place.offset

    def _described(self) -> Call:
        """What is known of the call, with the rate it was recognised at if that is not its own."""
        info = self.position.info
        rate = self._context.riva.rate(self._language) or supported_rate(info.rate)
        if not info.rate or rate == info.rate:
            return info
        return msgspec.structs.replace(info, attributes={**info.attributes, "resampled": f"{info.rate} to {rate} Hz"})
