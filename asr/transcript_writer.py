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
from typing import Any

import msgspec

from asr import metrics
from asr.audio.in_flight import InFlightAudio
from asr.context import AsrContext
from asr.position import CallPosition
from asr.riva.recording import RecordingStream
from asr.riva.stream import RivaStream, is_clean_point
from asr.transcript_builder import SpokenPart, TranscriptBuilder
from tenor.aio import run_to_completion
from tenor.events import TRANSCRIPTS, Heard, Transcript
from tenor.telemetry import trace_stages

STRIDE_MS = 2000
"""Silence is noted in steps of at least this, so that a quiet channel does not fill the topic."""
MARGIN_MS = 5000
"""Beyond the longest utterance, how far behind the answered audio silence is taken as confirmed."""


class TranscriptWriter:
    """Only it changes the channel's position, and forgets the audio in flight that is written down."""

    def __init__(
        self, context: AsrContext, builder: TranscriptBuilder, call: CallPosition, in_flight: InFlightAudio
    ) -> None:
        self.transcripts_end = 0
        """Offset after the last event of ours on the transcripts topic."""
        self._context = context
        self._builder = builder
        self._call = call
        self._position = call.channel(builder.channel)
        self._in_flight = in_flight
        self._interim: Transcript | None = None
        """What is being said, as far as it was shown; None between utterances."""

    @property
    def speech_start_ms(self) -> int | None:
        """Where what is being said began; None between utterances."""
        return None if self._interim is None else self._interim.start_ms

    def drop_interim(self) -> None:
        """The stream that showed it is gone."""
        self._interim = None

    async def write_response(
        self, stream: RivaStream | RecordingStream, response: Any, stride_ms: int = STRIDE_MS
    ) -> bool:
        """True when more of the audio is written down than before."""
        received = time.time()
        advanced = False
        interim: list[Any] = []
        for result in response.results:
            if result.is_final:
                shown, self._interim, interim = self._interim, None, []
                advanced |= await self._write_final(stream, result, received)
                if shown is not None and shown.channel != self._builder.speaking:
                    await self._take_back(shown)
            elif result.alternatives:
                interim.append(result)
            elif is_clean_point(result):
                advanced |= await self.write_silence(_processed_ms(stream, result), stride_ms)
        if interim:
            await self._write_interim(stream, interim)
        elif not stream.clean_points and self._interim is None:
            longest_ms = self._context.speech.max_utterance_s * 1000
            advanced |= await self.write_silence(int(stream.answered_ms - longest_ms - MARGIN_MS), stride_ms)
        return advanced

    async def write_silence(self, heard_ms: int, stride_ms: int = 1) -> bool:
        """Nothing was said up to `heard_ms`. Noted, and True, if that is `stride_ms` further than what is known."""
        if heard_ms - (self._position.heard_ms or 0) < stride_ms:
            return False
        await self._write_down(Heard(call=self._builder.call, channel=self._builder.channel, heard_ms=heard_ms))
        return True

    async def _write_final(self, stream: RivaStream | RecordingStream, result: Any, received: float) -> bool:
        exact = stream.clean_points
        best = result.alternatives[0] if result.alternatives else None
        if best is None or not best.transcript.strip():
            return exact and await self.write_silence(_processed_ms(stream, result))
        if best.words and not exact:
            heard_ms = round(stream.base_ms + best.words[-1].end_time)
        else:
            heard_ms = _processed_ms(stream, result)
        before_ms = self._position.heard_ms or 0
        heard_ms = max(before_ms, min(heard_ms, round(self._in_flight.end_ms)))
        *firsts, last = self._builder.parts(result)
        advanced = False
        # Only with the last of them all of it is written down.
        for part, until_ms in [*((first, before_ms) for first in firsts), (last, heard_ms)]:
            advanced |= await self._write_part(stream, part, until_ms, received)
        return advanced

    async def _write_part(
        self, stream: RivaStream | RecordingStream, part: SpokenPart, heard_ms: int, received: float
    ) -> bool:
        exact = stream.clean_points
        start_ms = round(stream.base_ms + part.words[0].start_time) if part.words else heard_ms
        final = self._builder.final(
            part,
            stream.base_ms,
            heard_ms=heard_ms,
            before=self._position.text_before(start_ms, part.channel),
            model=stream.model,
        )
        if self._call.shared and not exact and final.end_ms <= (self._position.heard_ms or 0):
            return False  # it was sent again only so that the voices are known
        if self._position.has(final):
            return False
        decided_ms = max(heard_ms + stream.clean_lead_ms, final.end_ms) if exact else self._in_flight.end_ms
        ended = self._in_flight.sent(decided_ms) or received
        captured, arrived = self._in_flight.captured(final.end_ms), self._in_flight.arrived(decided_ms)
        published = time.time()
        times = {"ended": ended, "recognised": received, "published": published}
        if captured is not None and arrived is not None:  # somebody waits for it
            times = {"captured": captured, "arrived": arrived, **times}
            metrics.LATENCY.labels("silence").observe(max(0.0, arrived - captured))
            metrics.LATENCY.labels("recogniser").observe(max(0.0, received - ended))
            metrics.LATENCY.labels("ours").observe(max(0.0, ended - arrived) + published - received)
        metrics.FINALS.inc()
        spoken = [(word.start_ms, word.end_ms) for word in final.words] or [(final.start_ms, final.end_ms)]
        loudness = self._in_flight.loudness(spoken)
        await self._write_down(msgspec.structs.replace(final, loudness=loudness, times=times))
        trace_stages("utterance", times, call=final.call, channel=final.channel, role=final.role)
        return True

    async def _write_interim(self, stream: RivaStream | RecordingStream, results: list[Any]) -> None:
        at_ms = max(_processed_ms(stream, result) for result in results)
        last, heard_ms = self._interim, self._position.heard_ms or 0
        number = int(last.utterance.rpartition("~")[2]) if last else heard_ms
        start_ms = last.start_ms if last else max(heard_ms, at_ms)
        before = self._position.text_before(start_ms, self._builder.speaking)
        interim = self._builder.interim(results, number, start_ms, at_ms, before)
        if last is None or last.text != interim.text or last.stability != interim.stability:
            self._interim = interim
            metrics.INTERIMS.inc()
            published = msgspec.structs.replace(interim, times={"published": time.time()})
            await run_to_completion(self._publish(published))

    async def _take_back(self, shown: Transcript) -> None:
        """Another voice said it than the one that was shown to: its final does not replace it."""
        nothing = msgspec.structs.replace(shown, text="", times={"published": time.time()})
        await run_to_completion(self._publish(nothing))

    async def _write_down(self, event: Transcript | Heard) -> None:
        """Published and known to be: torn apart, it would be published again after a restart of the stream."""
        await run_to_completion(self._publish_and_note(event))

    async def _publish_and_note(self, event: Transcript | Heard) -> None:
        offset = await self._publish(event)
        if offset is None:  # the call is another worker's, and we are about to be told
            return
        self._call.add(event, offset)
        self._in_flight.forget(self._position.heard_ms or 0)

    async def _publish(self, event: Transcript | Heard) -> int | None:
        place = await self._context.publish(TRANSCRIPTS, event)
        if place is None:
            return None
        self.transcripts_end = place.offset + 1
        return place.offset


def _processed_ms(stream: RivaStream | RecordingStream, result: Any) -> int:
    return round(stream.base_ms + float(result.audio_processed) * 1000)
