"""One channel of one call, from its chunks on the bus to its transcripts on the bus.

    chunks      |--|--|--|--|--|--|--|--|--|--|--|--|--|
    stream      o=====================x   o==================   x: the stream dies
    finals            F1        F2    .   F3      F4
    heard_ms     ---->|-------->|     .   |
                                '-----'-->' the channel is parked and hears again from F2 on

Everything a channel must know to go on is its ledger (what is written down) and the offset of the
oldest chunk that is not. A broken stream, a restart, a rebalance and a slow recogniser are all the
same: rewind to there, skip what lies before `heard_ms`, go on.

Where that is:
- a server with clean points (ours) says so: `audio_processed` of a final or of a clean point;
- any other: the end of a final's last word, and in silence well behind what it has answered for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog
from riva.client.proto import riva_asr_pb2 as asr

from asr import metrics
from asr.bench import Bench
from asr.ledger import Ledger
from asr.reel import Piece, Reel
from asr.scribe import STRIDE_MS, Scribe
from asr.sound import USUAL, Sound
from asr.splice import Join, Splice
from asr.stream import Stream
from asr.trail import Mark, Trail
from asr.trouble import Backoff, Trouble
from asr.utterance import Speaker

log = structlog.get_logger(__name__)

FORCED_FINAL_S = 1.0
"""How long a forced final may take before we end the stream instead."""
OVERTIME_MS = 2000
"""How much longer than the longest utterance one may be before we ask the server to cut it."""
LAST_OVERTIME_MS = 7000
"""And before we end the stream to have it cut."""
RENEW_MS = 3_600_000
"""A stream is replaced by another when it is this long."""
IDLE_S = 5.0
"""A stream that ends this long after the last audio ended because there was none."""


class Channel:
    def __init__(
        self, bench: Bench, speaker: Speaker, language: str, reel: Reel, ledger: Ledger,
        level: Callable[[], Awaitable[bool]], notice: Callable[[str], Awaitable[None]],
    ) -> None:  # fmt: skip
        self.reel = reel
        self.ledger = ledger
        self.done = False
        """All of the call's audio on this channel is written down."""
        self._bench = bench
        self._language = language
        self._level = level
        """Whether everything on the bus has been read."""
        self._notice = notice
        """Told, in words for people, why nothing is heard although the call is live."""
        self._trail = Trail()
        self._splice = Splice(ledger.heard_ms)
        self._scribe = Scribe(bench, speaker, language, ledger, self._trail, self._progress)
        self._backoff = Backoff()
        self._stream: Stream | None = None
        self._sound = Sound(USUAL)
        self._in_hand: Piece | None = None
        """Taken from the reel, not yet on the trail."""
        self._advanced = asyncio.Event()
        self._forced_ms = 0.0
        self._closing = False
        self.log = log.bind(call=speaker.call, channel=speaker.channel)

    @property
    def offset(self) -> int:
        """Where the oldest audio lies that is not written down."""
        places = (self.reel.offset, self._trail.offset, self._in_hand and self._in_hand.offset)
        return min(place for place in places if place is not None)

    @property
    def reached(self) -> int:
        """Where the audio lies that is to be sent to the recogniser next."""
        return self._in_hand.offset if self._in_hand is not None else self.reel.offset

    @property
    def published(self) -> int:
        return self._scribe.published

    def close_when_level(self) -> None:
        """No more audio will come: end when everything on the bus is heard."""
        self._closing = True
        self.reel.wake()

    def check(self, now: float) -> None:
        if self._stream is not None:
            self._stream.check(now, self._bench.speech.timeout_s)

    async def run(self) -> None:
        """Until the call's audio is over and written down. Raises Trouble when it will never be."""
        try:
            while True:
                try:
                    await self._hear()
                    self.done = True
                    return
                except Trouble as trouble:
                    await self._park(trouble)
        finally:
            await self._drop()

    async def _hear(self) -> None:
        while True:
            piece = await self._next()
            if self._stream is not None and self._stream.over:
                raise self._stream.trouble or Trouble("lost", "the recogniser ended the stream")
            if piece is None:
                await self._force()
            elif piece.chunk is None:
                await self._flush()
                self._in_hand = None
                return
            elif join := self._splice.join(piece.chunk):
                if join.fresh:
                    await self._flush()
                await self._send(piece, join)
                await self._limit()
                if self._stream is not None and self._stream.length_ms > RENEW_MS:
                    await self._renew()
            else:
                metrics.SKIPPED.inc()
                self._in_hand = None

    async def _next(self) -> Piece | None:
        patience: float | None = None
        if self._closing:
            patience = 0.0
        elif self._stream is not None:
            patience = self._bench.speech.force_final_s
        piece = await self.reel.take(patience)
        if piece is None and self._closing:
            piece = Piece(self.reel.offset, None)
        self._in_hand = piece
        return piece

    async def _send(self, piece: Piece, join: Join) -> None:
        chunk = piece.chunk
        assert chunk is not None
        if self._stream is None:
            self._sound = Sound(chunk.rate)
            self._stream = await self._bench.recogniser.open(
                self._sound.rate, self._language, join.start_ms, self._on_response, careful=self._backoff.tries > 0
            )
            self._stream.on_over = self.reel.wake
            if self._bench.speech.patient and self.ledger.heard_ms is None:
                # Its first words may come long after the other side's; nobody must take it for a side without sound.
                await self._scribe.silent_until(round(join.start_ms), 0)
        end_ms = join.start_ms + len(join.pcm) * 500 / chunk.rate
        self._trail.append(Mark(join.start_ms, end_ms, piece.offset, chunk.captured_at, time.time()))
        self._trail.levels.hear(join.start_ms, join.pcm, chunk.rate)
        self._in_hand = None
        for block in self._sound.blocks(join.pcm):
            await self._stream.send(block)

    async def _on_response(self, response: asr.StreamingRecognizeResponse) -> None:
        self._backoff.answered()
        if self._stream is not None:
            await self._scribe.hear(self._stream, response)

    def _progress(self) -> None:
        self._backoff.advanced()
        self._advanced.set()

    async def _force(self) -> None:
        """Audio has stopped: ask for the final; end the stream if none comes."""
        stream = self._stream
        if stream is None or not self._trail or not await self._level():
            return
        self._advanced.clear()
        self._scribe.stride_ms = 1
        try:
            await stream.force_final()
            await asyncio.wait_for(self._advanced.wait(), FORCED_FINAL_S)
        except TimeoutError:
            await self._flush()
        finally:
            self._scribe.stride_ms = STRIDE_MS

    async def _limit(self) -> None:
        """Cut an utterance that the server does not cut."""
        if self._scribe.interim is None or self._stream is None:
            return
        sent_ms = self._trail.end_ms
        over_ms = sent_ms - self._scribe.interim.start_ms - self._bench.speech.max_utterance_s * 1000
        if over_ms > LAST_OVERTIME_MS:
            await self._flush()
        elif over_ms > OVERTIME_MS and sent_ms - self._forced_ms > OVERTIME_MS:
            self._forced_ms = sent_ms
            await self._stream.force_final()

    async def _flush(self) -> None:
        """End the stream and take all it has to say; a new one is opened when there is audio."""
        stream = self._stream
        if stream is None:
            return
        for block in self._sound.rest():
            await stream.send(block)
        await stream.finish()
        self._stream = None
        self._scribe.interim = None
        await self._scribe.silent_until(round(self._trail.end_ms))
        self._trail.clear()

    async def _drop(self) -> None:
        if self._stream is not None:
            await self._stream.close()
            self._stream = None
        self._scribe.interim = None

    def _rewind(self) -> None:
        """To the oldest audio that is not written down."""
        self.reel.rewind(self.offset)
        self._trail.clear()
        self._in_hand = None
        self._splice.restart(self.ledger.heard_ms)

    async def _renew(self) -> None:
        """Go on with another stream: after hours the server's clock, a 32-bit float, is not exact any more."""
        await self._drop()
        self._rewind()

    async def _park(self, trouble: Trouble) -> None:
        """Leave the audio on the bus until there is a stream again."""
        idle = (
            trouble.kind == "lost"
            and self._in_hand is None
            and self._scribe.interim is None
            and self._stream is not None
            and self._stream.resting_s > IDLE_S
        )
        await self._drop()
        if trouble.kind == "refused":
            raise trouble
        self._bench.recogniser.forget()
        if idle:
            # Not an error: servers close streams without audio. Wait until there is some.
            while self._in_hand is None and not self._closing:
                self._in_hand = await self.reel.take()
        self._rewind()
        if idle:
            return
        wait = self._backoff.next(trouble)
        if self._backoff.hopeless:
            raise Trouble("refused", f"the recogniser keeps failing on this audio ({trouble.reason})")
        metrics.RECONNECTS.labels(trouble.kind).inc()
        tell = self.log.warning if self._backoff.tries == 1 else self.log.debug
        tell("stream lost", cause=trouble.kind, reason=trouble.reason, retry_s=round(wait, 2))
        if trouble.kind == "setup":
            await self._notice(trouble.reason)
        with metrics.PARKED.track_inprogress():
            await asyncio.sleep(wait)
