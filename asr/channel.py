"""One channel of one call, from its chunks on the bus to its transcripts on the bus.

    chunks      |--|--|--|--|--|--|--|--|--|--|--|--|--|
    stream      o=====================x   o==================   x: the stream dies
    finals            F1        F2    .   F3      F4
    heard_ms     ---->|-------->|     .   |
                                '-----'-->' the channel is parked and recognised again from F2 on

Everything a channel must know to go on is its position (what is written down) and the offset of the
oldest chunk that is not. A broken stream, a restart, a rebalance and a slow recogniser are all the
same: rewind to there, skip what lies before `heard_ms`, go on.

Where that is:
- a server with clean points (ours) says so: `audio_processed` of a final or of a clean point;
- any other: the end of a final's last word, and in silence well behind what it has answered for.

Who owns what; the audio goes from the top to the bottom:

    AudioPartition             one for each partition
      AudioSource                how far the worker has read it; what lies before, read again
      AsrCall                    one for each call
        CallPosition               what is published of the call
        Channel                    one for each channel
          ChunkReader                the next chunk: from the worker, or fallen behind from the source
          ChunkJoiner                chunks -> one unbroken signal
          InFlightAudio              what was sent and is not written down
          RivaStream                 signal -> results; another one after every breakdown
          TranscriptWriter           results -> redacted transcripts on the bus
            ChannelPosition            what is written down (kept in the CallPosition)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from riva.client.proto import riva_asr_pb2 as asr

from asr import metrics
from asr.audio.chunk_reader import ChunkReader, ChunkRecord
from asr.audio.in_flight import InFlightAudio
from asr.audio.joiner import FILL_MS, AudioSegment, ChunkJoiner
from asr.audio.source import AudioSource
from asr.context import AsrContext
from asr.position import CallPosition
from asr.riva.client import ExpectedPhrases
from asr.riva.errors import Backoff, RivaError
from asr.riva.recording import RecordingStream
from asr.riva.stream import RivaStream
from asr.transcript_builder import TranscriptBuilder
from asr.transcript_writer import STRIDE_MS, TranscriptWriter

log = structlog.get_logger(__name__)

FORCED_FINAL_S = 1.0
"""How long a forced final may take before we end the stream instead."""
OVERTIME_MS = 2000
"""How much longer than the longest utterance one may be before we ask the server to cut it."""
LAST_OVERTIME_MS = 7000
"""And before we end the stream to have it cut."""
SHARED_FILL_MS = 600_000
"""Holes that are filled where people share a channel: another stream would not know their voices."""
IDLE_S = 5.0
"""A stream that ends this long after the last audio ended because there was none."""

ModelOf = Callable[[], Awaitable[str]]
"""The name of the model that the call asks for; empty lets the server choose."""
OnWaiting = Callable[[str], Awaitable[None]]
"""Told, in words for people, why nothing is recognised although the call is live."""


class Channel:
    def __init__(
        self,
        context: AsrContext,
        source: AudioSource,
        builder: TranscriptBuilder,
        call: CallPosition,
        language: str,
        model: ModelOf,
        on_waiting: OnWaiting,
        expected: Sequence[ExpectedPhrases] = (),
    ) -> None:
        """`expected`: beyond what the settings of the recogniser say."""
        self.reader = ChunkReader(source, builder.call, builder.channel)
        self.done = False
        """All of the call's audio on this channel is written down."""
        self.log = log.bind(call=builder.call, channel=builder.channel)
        self._context = context
        self._source = source
        self._call = call
        self._position = position = call.channel(builder.channel)
        self._language = language
        self._model = model
        self._on_waiting = on_waiting
        self._expected = expected
        self._joiner = ChunkJoiner(self._begin_ms, SHARED_FILL_MS if call.shared else FILL_MS)
        self._in_flight = InFlightAudio()
        self._writer = TranscriptWriter(context, builder, call, self._in_flight)
        self._stream: RivaStream | RecordingStream | None = None
        self._backoff = Backoff()
        self._advanced = asyncio.Event()
        """Set when more is written down."""
        self._forcing = False
        """A final was asked for because there is no more audio: even a small step forward counts."""
        self._forced_ms = 0.0
        if call.shared and call.audio_offset is not None and position.heard_ms is not None:
            self.reader.rewind(call.audio_offset)

    @property
    def resume_offset(self) -> int:
        """Where the oldest audio lies that is not written down: a successor reads from there. Who tells voices apart
        must hear them all again, from the beginning."""
        if self._call.shared and self._call.audio_offset is not None:
            return self._call.audio_offset
        oldest = self._in_flight.oldest_offset
        return self.reader.next_offset if oldest is None else min(oldest, self.reader.next_offset)

    @property
    def _begin_ms(self) -> float | None:
        """Where a stream takes up the audio; None: with the first that comes."""
        return None if self._call.shared else self._position.heard_ms

    @property
    def next_offset(self) -> int:
        """Where the audio lies that is to be sent to the recogniser next."""
        return self.reader.next_offset

    @property
    def transcripts_end(self) -> int:
        """Offset after the last event of ours on the transcripts topic."""
        return self._writer.transcripts_end

    def check(self, now: float) -> None:
        if self._stream is not None:
            self._stream.check(now, self._context.speech.timeout_s)

    async def run(self) -> None:
        """Until the call's audio is over and written down. Raises RivaError when it will never be."""
        try:
            while True:
                try:
                    await self._recognise()
                    self.done = True
                    return
                except RivaError as error:
                    await self._park(error)
        finally:
            await self._drop_stream()

    async def _recognise(self) -> None:
        while True:
            record = await self.reader.take(None if self._stream is None else self._context.speech.force_final_s)
            if self._stream is not None and self._stream.over:
                raise self._stream.error or RivaError("lost", "the recogniser ended the stream")
            if record is None:
                await self._force_final()
            elif record.chunk is None:
                await self._flush()
                self.reader.done()
                return
            elif segment := self._joiner.join(record.chunk):
                if segment.fresh:
                    await self._flush()
                await self._send(record, segment)
                await self._limit_utterance()
                if self._stream is not None and self._stream.length_ms > self._stream.longest_ms:
                    await self._renew(self._stream)
            else:
                metrics.SKIPPED.inc()
                self.reader.done()

    async def _send(self, record: ChunkRecord, segment: AudioSegment) -> None:
        assert record.chunk is not None
        if self._stream is None:
            self._stream = await self._context.riva.open(
                segment.rate,
                self._language,
                segment.start_ms,
                self._on_response,
                expected=self._expected,
                model=await self._model(),
                speakers=len(self._call.info.speakers),
                known_ms=max(0, round((self._position.heard_ms or 0) - segment.start_ms)),
                careful=self._backoff.tries > 0,
            )
            self._stream.on_over = self.reader.wake
            if self._context.speech.patient and self._position.heard_ms is None:
                # Its first words may come long after the other side's; nobody must take it for a side without sound.
                await self._write_silence(segment.start_ms, 0)
        self._in_flight.add(segment, record.offset, record.chunk.captured_at)
        if self._call.shared:
            self._in_flight.forget(self._position.heard_ms or 0)
        self.reader.done()
        await self._stream.send(segment.pcm)

    async def _on_response(self, response: asr.StreamingRecognizeResponse) -> None:
        self._backoff.answered()
        if self._stream is not None:
            stride_ms = 1 if self._forcing else STRIDE_MS
            if await self._writer.write_response(self._stream, response, stride_ms):
                self._progress()

    async def _write_silence(self, until_ms: float, stride_ms: int = 1) -> None:
        if await self._writer.write_silence(round(until_ms), stride_ms):
            self._progress()

    def _progress(self) -> None:
        self._backoff.advanced()
        self._advanced.set()

    async def _force_final(self) -> None:
        """Audio has stopped: ask for the final; end the stream if none comes."""
        stream = self._stream
        if stream is None or stream.whole or not self._in_flight or not await self._source.exhausted():
            return
        self._advanced.clear()
        self._forcing = True
        try:
            await stream.force_final()
            await asyncio.wait_for(self._advanced.wait(), FORCED_FINAL_S)
        except TimeoutError:
            await self._flush()
            if self._call.shared:
                self._rewind()
        finally:
            self._forcing = False

    async def _limit_utterance(self) -> None:
        """Cut an utterance that the server does not cut."""
        start_ms = self._writer.speech_start_ms
        if start_ms is None or self._stream is None:
            return
        sent_ms = self._in_flight.end_ms
        over_ms = sent_ms - start_ms - self._context.speech.max_utterance_s * 1000
        if over_ms > LAST_OVERTIME_MS:
            await self._flush()
        elif over_ms > OVERTIME_MS and sent_ms - self._forced_ms > OVERTIME_MS:
            self._forced_ms = sent_ms
            await self._stream.force_final()

    async def _flush(self) -> None:
        """End the stream and take all it has to say; a new one is opened when there is audio."""
        if self._stream is None:
            return
        await self._stream.finish()
        self._stream = None
        self._writer.drop_interim()
        await self._write_silence(self._in_flight.end_ms)
        self._in_flight.clear()

    async def _drop_stream(self) -> None:
        if self._stream is not None:
            await self._stream.close()
            self._stream = None
        self._writer.drop_interim()

    def _rewind(self) -> None:
        """To the oldest audio that is not written down or must be heard again."""
        self.reader.rewind(self.resume_offset)
        self._in_flight.clear()
        self._joiner.restart(self._begin_ms)

    async def _renew(self, stream: RivaStream | RecordingStream) -> None:
        """Go on with another stream."""
        if stream.whole:
            await self._flush()
        else:
            await self._drop_stream()
            self._rewind()

    async def _park(self, error: RivaError) -> None:
        """Leave the audio on the bus until there is a stream again."""
        idle = self._was_idle(error)
        await self._drop_stream()
        if error.kind == "refused":
            raise error
        self._context.riva.forget_server()
        if idle:
            # Not an error: servers close streams without audio. Wait until there is some.
            while await self.reader.take() is None:
                pass
            self._rewind()
            return
        self._rewind()
        wait = self._backoff.next(error)
        if self._backoff.hopeless:
            raise RivaError("refused", f"the recogniser keeps failing on this audio ({error.reason})")
        metrics.RECONNECTS.labels(error.kind).inc()
        say = self.log.warning if self._backoff.tries == 1 else self.log.debug
        say("stream lost", cause=error.kind, reason=error.reason, retry_s=round(wait, 2))
        if error.kind == "setup":
            await self._on_waiting(error.reason)
        with metrics.PARKED.track_inprogress():
            await asyncio.sleep(wait)

    def _was_idle(self, error: RivaError) -> bool:
        """Whether the server ended the stream because nobody had said anything for a while."""
        return (
            error.kind == "lost"
            and not self.reader.holding
            and self._writer.speech_start_ms is None
            and self._stream is not None
            and self._stream.resting_s > IDLE_S
        )
