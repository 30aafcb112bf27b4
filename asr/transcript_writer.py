"""Writes down what the recogniser says of one channel: interims, finals, and how far nothing was said.

speech   ....wwww wwww ww............................
chunks   |-------|-------|-------|-------|  `arrived`: the chunk that decided the end was complete
sent     ---------------------------------|  `ended`: it had been sent
answer                                     |---| `recognised`
bus                                            || `published`
`captured` is when the last word was spoken, so arrived - captured is the silence that was waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from asr import metrics
from asr.bench import Bench
from asr.ledger import Ledger
from asr.stream import Stream
from asr.trail import Trail
from asr.utterance import Speaker
from asr.whole import whole
from tenor.events import TRANSCRIPTS, Heard, Transcript
from tenor.telemetry import trace_stages

STRIDE_MS = 2000
"""Silence is noted in steps of at least this, so that a quiet channel does not fill the topic."""
MARGIN_MS = 5000
"""Beyond the longest utterance, how far behind the answered audio silence is taken as confirmed."""


class Scribe:
    def __init__(
        self, bench: Bench, speaker: Speaker, language: str, ledger: Ledger, trail: Trail,
        on_progress: Callable[[], None],
    ) -> None:  # fmt: skip
        self.ledger = ledger
        self.interim: Transcript | None = None
        """What is being said, as far as it was shown; None between utterances."""
        self.published = 0
        """Offset after the last event of ours on the transcripts topic."""
        self.stride_ms = STRIDE_MS
        self._bench = bench
        self._speaker = speaker
        self._language = language
        self._trail = trail
        self._on_progress = on_progress

    async def hear(self, stream: Stream, response: Any) -> None:
        received = time.time()
        recogniser = self._bench.recogniser
        interim: list[Any] = []
        for result in response.results:
            if result.is_final:
                self.interim, interim = None, []
                await self._final(stream, result, received)
            elif result.alternatives:
                interim.append(result)
            elif result.audio_processed > 0 and not result.HasField("pipeline_states"):
                recogniser.clean_points = True
                await self.silent_until(_processed_ms(stream, result), self.stride_ms)
        if interim:
            await self._say(stream, interim)
        elif not recogniser.clean_points and self.interim is None:
            longest_ms = self._bench.speech.max_utterance_s * 1000
            await self.silent_until(int(stream.answered_ms - longest_ms - MARGIN_MS), self.stride_ms)

    async def silent_until(self, heard_ms: int, stride_ms: int = 1) -> None:
        """Nothing was said up to `heard_ms`; noted if that is `stride_ms` further than what is."""
        known_ms = self.ledger.heard_ms
        if heard_ms - (known_ms if known_ms is not None else 0) >= stride_ms:
            await whole(self._write(Heard(call=self._speaker.call, channel=self._speaker.channel, heard_ms=heard_ms)))

    async def _final(self, stream: Stream, result: Any, received: float) -> None:
        exact = self._bench.recogniser.clean_points
        best = result.alternatives[0] if result.alternatives else None
        if best is None or not best.transcript.strip():
            if exact:
                await self.silent_until(_processed_ms(stream, result))
            return
        if best.words and not exact:
            heard_ms = round(stream.base_ms + best.words[-1].end_time)
        else:
            heard_ms = _processed_ms(stream, result)
        heard_ms = max(self.ledger.heard_ms or 0, min(heard_ms, round(self._trail.end_ms)))
        start_ms = round(stream.base_ms + best.words[0].start_time) if best.words else heard_ms
        final = self._speaker.final(
            result,
            stream.base_ms,
            heard_ms=heard_ms,
            before=self.ledger.before(start_ms),
            model=self._bench.recogniser.model(self._language),
        )
        if self.ledger.has(final):
            return
        decided_ms = max(heard_ms, final.end_ms) if exact else self._trail.end_ms
        ended = self._trail.sent(decided_ms) or received
        captured = self._trail.captured(final.end_ms) or ended
        arrived = self._trail.arrived(decided_ms) or ended
        published = time.time()
        metrics.LATENCY.labels("silence").observe(max(0.0, arrived - captured))
        metrics.LATENCY.labels("recogniser").observe(max(0.0, received - ended))
        metrics.LATENCY.labels("ours").observe(max(0.0, ended - arrived) + published - received)
        metrics.FINALS.inc()
        times = {
            "captured": captured,
            "arrived": arrived,
            "ended": ended,
            "recognised": received,
            "published": published,
        }
        spoken = [(word.start_ms, word.end_ms) for word in final.words] or [(final.start_ms, final.end_ms)]
        loudness = self._trail.levels.loudness(spoken)
        await whole(self._write(msgspec.structs.replace(final, loudness=loudness, times=times)))
        trace_stages("utterance", times, call=final.call, channel=final.channel, role=final.role)

    async def _say(self, stream: Stream, results: list[Any]) -> None:
        at_ms = max(_processed_ms(stream, result) for result in results)
        last, heard_ms = self.interim, self.ledger.heard_ms or 0
        number = int(last.utterance.rpartition("~")[2]) if last else heard_ms
        start_ms = last.start_ms if last else max(heard_ms, at_ms)
        before = self.ledger.before(start_ms)
        interim = self._speaker.interim(results, number, start_ms, at_ms, before)
        if last is None or last.text != interim.text or last.stability != interim.stability:
            self.interim = interim
            metrics.INTERIMS.inc()
            await whole(self._write(msgspec.structs.replace(interim, times={"published": time.time()})))

    async def _write(self, event: Transcript | Heard) -> None:
        place = await self._bench.bus.publish(TRANSCRIPTS, event)
        self.published = place.offset + 1
        if isinstance(event, Heard) or event.final:
            self.ledger.enter(event, place.offset)
            self._trail.forget(self.ledger.heard_ms or 0)
            self._on_progress()


def _processed_ms(stream: Stream, result: Any) -> int:
    return round(stream.base_ms + float(result.audio_processed) * 1000)
