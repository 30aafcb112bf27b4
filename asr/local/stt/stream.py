"""One mono stream, from samples to results.

    samples -> resampler -> voice -> endpointer -> engine (in the pool) -> wording -> Heard

Decoding starts when the pause after speech reaches `_TAIL`, long before `stop_history` says that the
utterance is over, and is thrown away if the speaker goes on. What is decoded is always the same
samples, [onset - _LEAD, end + _TAIL], so the text does not depend on when the decoder ran.

Who is patient gets better words, later: utterances wait until they fill a window of the engine (window.py).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np

from asr.local.endpointer import Endpointer, Moment
from asr.local.engine import Audio, Decoded, Engine, Hints
from asr.local.hearing import Heard, HearingRequest, Hypothesis, Samples, Word
from asr.local.interim import Interim
from asr.local.pool import DecodePool
from asr.local.resampler import Resampler, frames_per_step
from asr.local.voice import FRAME_MS, Voice, VoiceModel
from asr.local.window import Utterance, decode_together, fit
from asr.local.wording import Wording

_LEAD = 10
_TAIL = 4
_EARLY_MS = 64
"""A word may begin this much before the voice detector notices, and end this much after it."""
_KEPT_IN_SILENCE = 40
"""Frames kept while nobody speaks: the lead and the start window of the next utterance."""
_IDLE = 5000 // FRAME_MS
"""Frames of silence after which the listener starts clean."""
_BREATH = 16
"""Frames after which other streams get their turn."""
_PATIENCE_MS = 120_000
"""An utterance waits no longer than this for others to be decoded with."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A decoding under way."""

    end: int
    future: Future[list[Decoded]]
    given_up: threading.Event


class LocalListener:
    """Positions are frames since the last clean start; `_base_ms` is where that was in the stream."""

    def __init__(
        self,
        request: HearingRequest,
        *,
        engine: Engine,
        quick: Engine,
        voice: VoiceModel,
        pool: DecodePool,
        on_close: Callable[[], None],
    ) -> None:
        self._request = request
        self._engine = engine
        self._pool = pool
        self._on_close = on_close
        self._closed = False
        self._step = frames_per_step(request.rate)
        self._resampler = Resampler(request.rate)
        self._voice = Voice(voice)
        self._endpointer = Endpointer(request.endpointing, self._step)
        self._wording = Wording(request)
        self._interim = Interim(quick, pool, self._wording) if request.interim else None
        self._attempt: _Attempt | None = None
        self._room_s = engine.room_s if request.patient and self._alternatives_wanted == 1 else 0.0
        """How much sound is decoded together; 0: each utterance on its own, at once."""
        self._waiting: list[Utterance] = []
        self._clean_ms = 0
        """Where the listener started clean before the first of those."""
        self._samples = 0
        """All that were heard: nobody spoke after them, though the last frame may be longer."""
        self._base_ms = 0
        self._first_kept = 0
        self._kept: list[Audio] = []
        self._first_pass_told = False
        self._vad_told_ms = 0

    async def hear(self, samples: Samples) -> list[Heard]:
        self._samples += len(samples)
        self._resampler.feed(samples)
        return await self._listen()

    async def end_utterance(self) -> list[Heard]:
        if self._endpointer.onset is None:
            return await self._read_together()
        heard = await self._finalise(self._endpointer.frames) + await self._read_together()
        return heard + await self._listen()

    async def finish(self) -> list[Heard]:
        heard = await self._listen(last=True)
        if self._endpointer.onset is not None:
            heard += await self._finalise(self._endpointer.frames)
        return heard + await self._read_together()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._give_up()
            if self._interim is not None:
                self._interim.reset()
            self._on_close()

    # --- frames ---

    async def _listen(self, last: bool = False) -> list[Heard]:
        heard: list[Heard] = []
        probabilities: list[float] = []
        count = 0
        while (frame := self._resampler.frame(last)) is not None:
            probability = self._voice.probability(frame)
            if self._now_ms() >= self._vad_told_ms:
                probabilities.append(round(probability, 4))
                self._vad_told_ms = self._now_ms() + FRAME_MS
            self._kept.append(frame)
            heard += await self._follow(self._endpointer.hear(probability))
            count += 1
            if count % _BREATH == 0:
                await asyncio.sleep(0)
        if self._request.vad_probabilities and probabilities:
            heard_ms = self._ms(self._endpointer.settled)
            heard.append(Heard(False, 0.0, (), heard_ms, vad=tuple(probabilities)))
        return heard

    async def _follow(self, moment: Moment) -> list[Heard]:
        point = self._endpointer
        if moment is Moment.SILENCE:
            return await self._idle()
        if moment is Moment.END:
            return await self._finalise(point.frames)
        if moment is Moment.CUT:
            return await self._finalise(point.end)
        if moment is Moment.PAUSE:
            if point.silence == _TAIL and not self._room_s:
                self._begin()
            return await self._first_pass()
        self._give_up()
        self._first_pass_told = False
        if self._interim is None:
            return []
        assert point.onset is not None
        said = await self._interim.update(point.frames - point.onset, lambda: self._audio(point.frames))
        heard_ms = self._ms(point.settled)
        return [Heard(False, stability, (Hypothesis(text, 0.0),), heard_ms) for stability, text in said]

    async def _idle(self) -> list[Heard]:
        """Silence: forget what cannot become part of an utterance, and now and then start clean."""
        point = self._endpointer
        excess = len(self._kept) - _KEPT_IN_SILENCE
        if excess > 0:
            del self._kept[:excess]
            self._first_kept += excess
        if point.frames < _IDLE or not point.quiet:
            return []
        # Not here but a little earlier, so that an utterance that begins now keeps its lead.
        self._start_clean(point.frames - _LEAD)
        if self._waiting and self._base_ms - self._waiting[0].offset_ms < _PATIENCE_MS:
            return []
        return await self._read_together() + self._clean_point(self._base_ms)

    # --- decoding ---

    def _audio(self, end: int) -> Audio:
        """The utterance with a little of what came before it, up to frame `end`."""
        return np.concatenate(self._kept[self._start() - self._first_kept : end - self._first_kept])

    def _start(self) -> int:
        onset = self._endpointer.onset
        assert onset is not None
        return max(0, onset - _LEAD)

    def _begin(self, limit: int | None = None) -> _Attempt:
        """Decode the utterance as it stands; `limit` is a frame that belongs to the next one."""
        end = self._end(limit)
        if self._attempt is not None and self._attempt.end == end:
            return self._attempt
        self._give_up()
        given_up = threading.Event()
        audio, hints = self._audio(end), replace(self._hints(), wanted=lambda: not given_up.is_set())
        self._attempt = _Attempt(end, self._pool.submit(lambda: self._engine.decode(audio, hints)), given_up)
        return self._attempt

    def _end(self, limit: int | None) -> int:
        """Where the sound to decode ends."""
        point = self._endpointer
        return min(point.end + _TAIL, point.frames if limit is None else limit)

    def _hints(self) -> Hints:
        point, start = self._endpointer, self._start()
        assert point.onset is not None
        return Hints(
            alternatives=self._alternatives_wanted,
            word_times=self._request.word_times,
            speech_ms=((point.onset - start) * FRAME_MS, (point.end - start) * FRAME_MS),
            hurry=not self._room_s,
        )

    @property
    def _alternatives_wanted(self) -> int:
        return max(self._request.alternatives, 4 if self._wording.boosting.suppresses else 1)

    def _give_up(self) -> None:
        if self._attempt is not None:
            self._attempt.future.cancel()
            self._attempt.given_up.set()
            self._attempt = None

    async def _first_pass(self) -> list[Heard]:
        if self._first_pass_told or self._endpointer.silence < _TAIL or not self._endpointer.first_pass:
            return []
        self._first_pass_told = True
        readings = await asyncio.wrap_future(self._begin().future)
        if not readings:
            return []
        text = " ".join(word.text for word in self._wording.interim(readings[0].words))
        return [Heard(False, 1.0, (Hypothesis(text, 0.0),), self._ms(self._endpointer.settled))] if text else []

    async def _finalise(self, clean: int) -> list[Heard]:
        """The final of the utterance under way; the listener starts clean at frame `clean`."""
        said = self._utterance(clean)
        if self._room_s:
            self._start_clean(clean)
            heard = [] if fit([*self._waiting, said], self._room_s) else await self._read_together()
            self._waiting.append(said)
            return heard
        readings = await asyncio.wrap_future(self._begin(limit=clean).future)
        self._attempt = None
        self._start_clean(clean)
        return self._final(said, readings, said.clean_ms) or self._clean_point(said.clean_ms)

    def _utterance(self, clean: int) -> Utterance:
        point, end = self._endpointer, self._end(clean)
        assert point.onset is not None
        heard_ms = self._samples * 1000 // self._request.rate
        speech = self._ms(point.onset), min(self._ms(min(point.end, clean)), heard_ms)
        return Utterance(
            samples=self._audio(end),
            hints=self._hints(),
            offset_ms=self._ms(self._start()),
            speech_ms=speech,
            until_ms=min(self._ms(end), speech[1] + _EARLY_MS, heard_ms),
            clean_ms=self._ms(clean - clean % self._step),
        )

    async def _read_together(self) -> list[Heard]:
        """The finals of the utterances that wait. Who resumes in the middle of them would fill the window otherwise,
        so all name the place before the first, and the place after the last comes after them."""
        if not (waiting := self._waiting):
            return []
        self._waiting = []
        decoded: Future[list[list[Decoded]]] = self._pool.submit(lambda: decode_together(self._engine, waiting))
        readings = await asyncio.wrap_future(decoded)
        heard = [
            final
            for said, found in zip(waiting, readings, strict=True)
            for final in self._final(said, found, self._clean_ms)
        ]
        return heard + self._clean_point(waiting[-1].clean_ms)

    def _final(self, said: Utterance, readings: list[Decoded], clean_ms: int) -> list[Heard]:
        alternatives = self._alternatives(readings, said)
        return [Heard(True, 0.0, alternatives, clean_ms, said.speech_ms)] if alternatives else []

    def _clean_point(self, clean_ms: int) -> list[Heard]:
        self._clean_ms = clean_ms
        return [Heard(False, 0.0, (), clean_ms)] if self._request.clean_points else []

    def _alternatives(self, readings: list[Decoded], said: Utterance) -> tuple[Hypothesis, ...]:
        readings = sorted(readings, key=lambda reading: self._wording.boosting.unwanted_in(reading.words))
        found: dict[str, Hypothesis] = {}
        for reading in readings:
            words = self._wording.final(_timed(reading.words, said))
            text = " ".join(word.text for word in words)
            if any(letter.isalnum() for letter in text):
                timed = tuple(words) if self._request.word_times and not found else ()
                found.setdefault(text, Hypothesis(text, min(max(reading.confidence, 0.001), 1.0), timed))
        return tuple(found.values())[: self._request.alternatives]

    # --- positions ---

    def _ms(self, frame: int) -> int:
        return self._base_ms + frame * FRAME_MS

    def _now_ms(self) -> int:
        return self._ms(self._endpointer.frames)

    def _start_clean(self, frame: int) -> None:
        """Everything before `frame` is forgotten; what was heard after it is heard again from there."""
        frame -= frame % self._step
        self._base_ms = self._ms(frame)
        self._resampler.restart(frame)
        self._voice.reset()
        self._endpointer.reset()
        self._give_up()
        if self._interim is not None:
            self._interim.reset()
        self._kept.clear()
        self._first_kept = 0
        self._first_pass_told = False


def _timed(words: tuple[Word, ...], said: Utterance) -> list[Word]:
    """Times of the stream, never decreasing and never outside the utterance. Somebody is heard until the end of the
    speech, so the last word lasts until then: engines are not sure of it, least of all after numbers."""
    timed: list[Word] = []
    at, until = max(said.offset_ms, said.speech_ms[0] - _EARLY_MS), said.until_ms
    for number, word in enumerate(words, 1):
        start = min(max(word.start_ms + said.offset_ms, at), until)
        end = max(word.end_ms + said.offset_ms, said.speech_ms[1] if number == len(words) else start)
        at = min(max(end, start), until)
        timed.append(Word(word.text, start, at, word.confidence))
    return timed
