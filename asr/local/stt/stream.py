"""One mono stream, from samples to results.

    samples -> resampler -> VAD -> endpointer -> engine (in the pool) -> formatter -> RecognitionResult

Decoding starts when the pause after speech reaches `_TAIL`, long before `stop_history` says that the
utterance is over, and is thrown away if the speaker goes on. What is decoded is always the same
samples, [onset - _LEAD, end + _TAIL], so the text does not depend on when the decoder ran.

Who is patient gets better words, later: utterances wait until they fill a window of the engine (window.py). Who asks
for speakers gets their numbers on the words of finals; if he is patient, those of the first minutes wait until enough
was said to be sure of them.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from asr.local.speakers.diarizer import SURE_S, Diarizer, SpeakerTurn, with_speakers
from asr.local.speakers.encoder import VoiceEncoder
from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.endpointer import Endpointer, SpeechState
from asr.local.stt.engines.base import Audio, DecodeOptions, Engine, EngineHypothesis
from asr.local.stt.interim import InterimDecoder
from asr.local.stt.resampler import Resampler, frames_per_step
from asr.local.stt.text.formatter import TextFormatter
from asr.local.stt.types import (
    CLEAN_LEAD_MS,
    Hypothesis,
    RecognitionOptions,
    RecognitionResult,
    RecognizedWord,
    Samples,
)
from asr.local.stt.vad import FRAME_MS, VadModel, VoiceActivityDetector
from asr.local.stt.window import FinishedUtterance, decode_together, fit

_LEAD = CLEAN_LEAD_MS // FRAME_MS
_TAIL = 4
_EARLY_MS = 64
"""A word may begin this much before the voice detector notices, and end this much after it."""
_KEPT_IN_SILENCE = 40
"""Frames kept while nobody speaks: the lead and the start window of the next utterance."""
_IDLE = 5000 // FRAME_MS
"""Frames of silence after which the stream starts clean."""
_CONSIDERED = 8
"""Hypotheses to choose from where phrases are expected; the beam is as wide."""
_BREATH = 16
"""Frames after which other streams get their turn."""
_PATIENCE_MS = 120_000
"""An utterance waits no longer than this for others to be decoded with."""


@dataclass(frozen=True, slots=True)
class _Decoding:
    """A decoding under way."""

    end: int
    future: Future[list[EngineHypothesis]]
    cancelled: threading.Event


class LocalRecognitionStream:
    """Positions are frames since the last clean start; `_base_ms` is where that was in the stream."""

    def __init__(
        self,
        options: RecognitionOptions,
        *,
        engine: Engine,
        interim_engine: Engine,
        vad_model: VadModel,
        voice_encoder: VoiceEncoder,
        pool: DecodePool,
        on_close: Callable[[], None],
    ) -> None:
        self._options = options
        self._engine = engine
        self._pool = pool
        self._on_close = on_close
        self._closed = False
        self._step = frames_per_step(options.rate)
        self._resampler = Resampler(options.rate)
        self._vad = VoiceActivityDetector(vad_model)
        self._endpointer = Endpointer(options.endpointing, self._step)
        self._formatter = TextFormatter(options)
        self._interim = InterimDecoder(interim_engine, pool, self._formatter) if options.interim else None
        self._decoding: _Decoding | None = None
        self._context = (*self._formatter.boosting.told, *options.context)
        joint = options.patient and options.alternatives == 1 and not self._formatter.boosting.suppresses
        self._joint_window_s = engine.joint_window_s if joint else 0.0
        """How much sound is decoded together; 0: each utterance on its own, at once."""
        self._waiting: list[FinishedUtterance] = []
        self._clean_ms = 0
        """Where the stream started clean before the first of those."""
        self._samples = 0
        """All that came: nobody spoke after them, though the last frame may be longer."""
        self._diarizer = Diarizer(voice_encoder, options.speakers) if options.speakers else None
        self._known_ms = options.known_ms if options.speakers else 0
        """Before this nothing is decoded or told; 0: it is behind us."""
        self._held: list[RecognitionResult] = []
        """Results that wait until it is sure who speaks."""
        self._turns: dict[int, Sequence[SpeakerTurn]] = {}
        """Who speaks in utterances of which nothing was told yet, by where their speech begins."""
        self._base_ms = 0
        self._first_frame = 0
        self._frames: list[Audio] = []
        self._first_pass_sent = False
        self._vad_sent_ms = 0

    async def feed(self, samples: Samples) -> list[RecognitionResult]:
        self._samples += len(samples)
        self._resampler.feed(samples)
        return await self._process_frames()

    async def end_utterance(self) -> list[RecognitionResult]:
        if self._endpointer.onset is None:
            return await self._flush()
        results = await self._finalise(self._endpointer.frames) + await self._flush()
        return results + await self._process_frames()

    async def finish(self) -> list[RecognitionResult]:
        results = await self._process_frames(last=True)
        if self._endpointer.onset is not None:
            results += await self._finalise(self._endpointer.frames)
        return results + await self._flush()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._cancel_decoding()
            if self._interim is not None:
                self._interim.reset()
            self._on_close()

    # --- frames ---

    async def _process_frames(self, last: bool = False) -> list[RecognitionResult]:
        results: list[RecognitionResult] = []
        probabilities: list[float] = []
        count = 0
        while (frame := self._resampler.frame(last)) is not None:
            probability = self._vad.probability(frame)
            if self._now_ms() >= self._vad_sent_ms:
                probabilities.append(round(probability, 4))
                self._vad_sent_ms = self._now_ms() + FRAME_MS
            self._frames.append(frame)
            results += await self._on_frame(self._endpointer.update(probability))
            if self._known_ms and self._now_ms() >= self._known_ms:
                await self._begin_to_tell()
            count += 1
            if count % _BREATH == 0:
                await asyncio.sleep(0)
        if self._options.vad_probabilities and probabilities:
            heard_ms = self._ms(self._endpointer.settled)
            results.append(RecognitionResult(False, 0.0, (), heard_ms, vad=tuple(probabilities)))
        return results

    async def _on_frame(self, state: SpeechState) -> list[RecognitionResult]:
        point = self._endpointer
        if state is SpeechState.SILENCE:
            return await self._on_silence()
        if state is SpeechState.END:
            return await self._finalise(self._before_next())
        if state is SpeechState.CUT:
            return await self._finalise(point.end)
        if state is SpeechState.PAUSE:
            if point.silence == _TAIL and not self._joint_window_s and not self._known_ms:
                self._start_decoding()
            return await self._first_pass()
        self._cancel_decoding()
        self._first_pass_sent = False
        if self._interim is None or self._known_ms:
            return []
        assert point.onset is not None
        utterance = await self._interim.update(point.frames - point.onset, lambda: self._audio(point.frames))
        heard_ms = self._ms(point.settled)
        return [
            RecognitionResult(False, stability, (Hypothesis(text, 0.0),), heard_ms) for stability, text in utterance
        ]

    def _before_next(self) -> int:
        """Where the stream starts clean after an utterance: so early that one that follows at once keeps its lead.
        Without it, its first word is lost or it is taken for the middle of a sentence."""
        point = self._endpointer
        if self._joint_window_s:
            return point.frames  # its neighbours in the window say enough of how it begins
        return min(point.frames, max(point.end + _TAIL, point.frames - _LEAD))

    async def _on_silence(self) -> list[RecognitionResult]:
        """Silence: forget what cannot become part of an utterance, and now and then start clean."""
        point = self._endpointer
        excess = len(self._frames) - _KEPT_IN_SILENCE
        if excess > 0:
            del self._frames[:excess]
            self._first_frame += excess
        if point.frames < _IDLE or not point.quiet:
            return []
        # Not here but a little earlier, so that an utterance that begins now keeps its lead.
        self._start_clean(point.frames - _LEAD)
        untold_ms = None if self._diarizer is None else self._diarizer.untold_ms
        if untold_ms is not None and self._base_ms - untold_ms >= _PATIENCE_MS:
            await self._ask_speakers()
        if self._waiting and self._base_ms - self._waiting[0].offset_ms < _PATIENCE_MS:
            return []
        return await self._decode_waiting() + self._tell(self._clean_point(self._base_ms))

    # --- decoding ---

    def _audio(self, end: int) -> Audio:
        """The utterance with a little of what came before it, up to frame `end`."""
        return np.concatenate(self._frames[self._start() - self._first_frame : end - self._first_frame])

    def _start(self) -> int:
        onset = self._endpointer.onset
        assert onset is not None
        return max(0, onset - _LEAD)

    def _start_decoding(self, limit: int | None = None) -> _Decoding:
        """Decode the utterance as it stands; `limit` is a frame that belongs to the next one."""
        end = self._end(limit)
        if self._decoding is not None and self._decoding.end == end:
            return self._decoding
        self._cancel_decoding()
        cancelled = threading.Event()
        audio, options = self._audio(end), replace(self._decode_options(), wanted=lambda: not cancelled.is_set())
        self._decoding = _Decoding(end, self._pool.submit(lambda: self._engine.decode(audio, options)), cancelled)
        return self._decoding

    def _end(self, limit: int | None) -> int:
        """Where the sound to decode ends."""
        point = self._endpointer
        return min(point.end + _TAIL, point.frames if limit is None else limit)

    def _decode_options(self) -> DecodeOptions:
        point, start = self._endpointer, self._start()
        assert point.onset is not None
        proposing = self._formatter.boosting.expects and not self._joint_window_s
        return DecodeOptions(
            alternatives=self._alternatives_wanted,
            word_times=self._options.word_times or self._diarizer is not None,
            speech_ms=((point.onset - start) * FRAME_MS, (point.end - start) * FRAME_MS),
            low_latency=not self._joint_window_s,
            context=self._context,
            proposals=self._formatter.boosting.proposals if proposing else None,
        )

    @property
    def _alternatives_wanted(self) -> int:
        return max(self._options.alternatives, _CONSIDERED if self._formatter.boosting.chooses else 1)

    def _cancel_decoding(self) -> None:
        if self._decoding is not None:
            self._decoding.future.cancel()
            self._decoding.cancelled.set()
            self._decoding = None

    async def _first_pass(self) -> list[RecognitionResult]:
        if (
            self._first_pass_sent
            or self._known_ms
            or self._endpointer.silence < _TAIL
            or not self._endpointer.first_pass
        ):
            return []
        self._first_pass_sent = True
        hypotheses = await asyncio.wrap_future(self._start_decoding().future)
        if not hypotheses:
            return []
        text = " ".join(word.text for word in self._formatter.interim(hypotheses[0].words))
        return (
            [RecognitionResult(False, 1.0, (Hypothesis(text, 0.0),), self._ms(self._endpointer.settled))]
            if text
            else []
        )

    async def _finalise(self, clean: int) -> list[RecognitionResult]:
        """The final of the utterance under way; the stream starts clean at frame `clean`."""
        utterance = self._make_utterance(clean)
        if self._known_ms:
            self._start_clean(clean)
            await self._identify(utterance)
            return []
        if self._joint_window_s:
            self._start_clean(clean)
            await self._identify(utterance)
            results = [] if fit([*self._waiting, utterance], self._joint_window_s) else await self._decode_waiting()
            self._waiting.append(utterance)
            return results
        hypotheses = await asyncio.wrap_future(self._start_decoding(limit=clean).future)
        self._decoding = None
        self._start_clean(clean)
        await self._identify(utterance)
        return self._tell(
            self._final(utterance, hypotheses, utterance.clean_ms) or self._clean_point(utterance.clean_ms)
        )

    def _make_utterance(self, clean: int) -> FinishedUtterance:
        point, end = self._endpointer, self._end(clean)
        assert point.onset is not None
        heard_ms = self._samples * 1000 // self._options.rate
        speech = self._ms(point.onset), min(self._ms(min(point.end, clean)), heard_ms)
        return FinishedUtterance(
            samples=self._audio(end),
            options=self._decode_options(),
            offset_ms=self._ms(self._start()),
            speech_ms=speech,
            until_ms=min(self._ms(end), speech[1] + _EARLY_MS, heard_ms),
            clean_ms=self._ms(clean - clean % self._step),
        )

    async def _decode_waiting(self) -> list[RecognitionResult]:
        """The finals of the utterances that wait. Who resumes in the middle of them would fill the window otherwise,
        so all name the place before the first, and the place after the last comes after them."""
        if not (waiting := self._waiting):
            return []
        self._waiting = []
        decoding: Future[list[list[EngineHypothesis]]] = self._pool.submit(
            lambda: decode_together(self._engine, waiting)
        )
        hypotheses = await asyncio.wrap_future(decoding)
        results = [
            final
            for utterance, alternatives in zip(waiting, hypotheses, strict=True)
            for final in self._final(utterance, alternatives, self._clean_ms)
        ]
        return self._tell(results + self._clean_point(waiting[-1].clean_ms))

    async def _flush(self) -> list[RecognitionResult]:
        """Everything that waits."""
        results = await self._decode_waiting()
        await self._ask_speakers()
        return results + self._tell([])

    def _final(
        self, utterance: FinishedUtterance, hypotheses: list[EngineHypothesis], clean_ms: int
    ) -> list[RecognitionResult]:
        alternatives = self._alternatives(hypotheses, utterance)
        return [RecognitionResult(True, 0.0, alternatives, clean_ms, utterance.speech_ms)] if alternatives else []

    def _clean_point(self, clean_ms: int) -> list[RecognitionResult]:
        self._clean_ms = clean_ms
        if self._known_ms:
            return []
        return [RecognitionResult(False, 0.0, (), clean_ms)] if self._options.clean_points else []

    def _alternatives(self, hypotheses: list[EngineHypothesis], utterance: FinishedUtterance) -> tuple[Hypothesis, ...]:
        hypotheses = sorted(hypotheses, key=self._rank)
        alternatives: dict[str, Hypothesis] = {}
        for hypothesis in hypotheses:
            words = self._formatter.final(_with_stream_times(hypothesis.words, utterance))
            text = " ".join(word.text for word in words)
            if any(letter.isalnum() for letter in text):
                wanted = self._options.word_times or self._diarizer is not None
                timed = tuple(words) if wanted and not alternatives else ()
                alternatives.setdefault(text, Hypothesis(text, min(max(hypothesis.confidence, 0.001), 1.0), timed))
        return tuple(alternatives.values())[: self._options.alternatives]

    def _rank(self, hypothesis: EngineHypothesis) -> tuple[int, float]:
        """Least unwanted first, then the likeliest, with what is expected counting for it."""
        boosting, words = self._formatter.boosting, hypothesis.words
        return boosting.unwanted_in(words), -math.log(max(hypothesis.confidence, 1e-9)) - boosting.preference(words)

    # --- speakers ---

    async def _identify(self, utterance: FinishedUtterance) -> None:
        """Listen to who speaks in it. When that is asked depends on nothing but the samples."""
        if (diarizer := self._diarizer) is None:
            return
        listen = partial(diarizer.listen, utterance.samples, utterance.offset_ms, utterance.speech_ms)
        await asyncio.wrap_future(self._pool.submit(listen))
        if not self._options.patient or diarizer.speech_s >= SURE_S:
            await self._ask_speakers()

    async def _ask_speakers(self) -> None:
        if self._diarizer is not None and self._diarizer.untold_ms is not None:
            self._turns |= await asyncio.wrap_future(self._pool.submit(self._diarizer.tell))

    def _tell(self, results: list[RecognitionResult]) -> list[RecognitionResult]:
        """The results with whose words they are, as far as that is known; the others wait, and so do those after."""
        if self._diarizer is None:
            return results
        held = [*self._held, *results]
        ready = next((n for n, one in enumerate(held) if one.final and one.speech_ms[0] not in self._turns), len(held))
        self._held = held[ready:]
        return [self._with_speakers(one) if one.final else one for one in held[:ready]]

    def _with_speakers(self, result: RecognitionResult) -> RecognitionResult:
        best, *others = result.alternatives
        words = with_speakers(best.words, self._turns.pop(result.speech_ms[0]))
        return replace(result, alternatives=(replace(best, words=words), *others))

    async def _begin_to_tell(self) -> None:
        """Here the client goes on: the stream starts clean, and from now on it is decoded."""
        if self._endpointer.onset is not None:
            await self._finalise(self._endpointer.frames)
        else:
            self._start_clean(self._endpointer.frames)
        self._known_ms = 0

    # --- positions ---

    def _ms(self, frame: int) -> int:
        return self._base_ms + frame * FRAME_MS

    def _now_ms(self) -> int:
        return self._ms(self._endpointer.frames)

    def _start_clean(self, frame: int) -> None:
        """Everything before `frame` is forgotten; what came after it is processed again from there."""
        frame -= frame % self._step
        self._base_ms = self._ms(frame)
        self._resampler.restart(frame)
        self._vad.reset()
        self._endpointer.reset()
        self._cancel_decoding()
        if self._interim is not None:
            self._interim.reset()
        self._frames.clear()
        self._first_frame = 0
        self._first_pass_sent = False


def _with_stream_times(words: tuple[RecognizedWord, ...], utterance: FinishedUtterance) -> list[RecognizedWord]:
    """Times of the stream, never decreasing and never outside the utterance. Somebody is heard until the end of the
    speech, so the last word lasts until then: engines are not sure of it, least of all after numbers."""
    timed: list[RecognizedWord] = []
    at, until = max(utterance.offset_ms, utterance.speech_ms[0] - _EARLY_MS), utterance.until_ms
    for number, word in enumerate(words, 1):
        start = min(max(word.start_ms + utterance.offset_ms, at), until)
        end = max(word.end_ms + utterance.offset_ms, utterance.speech_ms[1] if number == len(words) else start)
        at = min(max(end, start), until)
        timed.append(RecognizedWord(word.text, start, at, word.confidence))
    return timed
