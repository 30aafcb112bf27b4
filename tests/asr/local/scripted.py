"""Ears that hear without a model: every loud 200 ms are one word, silence ends an utterance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from asr.local.stt.types import (
    Busy,
    EngineInfo,
    Hypothesis,
    RecognitionOptions,
    RecognitionResult,
    RecognizedWord,
    Samples,
)

SENTENCE = ("what", "is", "natural", "language", "processing")
LOUD = 1000
FRAME_MS = 20
WORD_MS = 200


def speech(words: int, rate: int = 16000, *, silence_ms: int = 0, channels: int = 1) -> Samples:
    """A tone as long as so many words, then silence."""
    loud = np.sin(np.arange(words * WORD_MS * rate // 1000) * 2 * np.pi * 300 / rate) * 12000
    mono = np.concatenate([loud.astype(np.int16), np.zeros(silence_ms * rate // 1000, np.int16)])
    return mono if channels == 1 else np.repeat(mono[:, None], channels, axis=1)


@dataclass
class ScriptedStream:
    options: RecognitionOptions
    recognizer: ScriptedRecognizer
    position: int = 0
    start: int | None = None
    loud_until: int = 0
    words_sent: int = 0
    first_pass: bool = False
    closed: bool = False
    rest: Samples = field(default_factory=lambda: np.empty(0, np.int16))

    @property
    def ms(self) -> int:
        return self.position * 1000 // self.options.rate

    async def feed(self, samples: Samples) -> list[RecognitionResult]:
        if self.recognizer.failure:
            raise self.recognizer.failure
        results: list[RecognitionResult] = []
        pending = np.concatenate([self.rest, samples])
        size = self.options.rate * FRAME_MS // 1000
        whole = len(pending) - len(pending) % size
        self.rest = pending[whole:]
        for frame in pending[:whole].reshape(-1, size):
            self.position += size
            results += self._frame(bool(np.abs(frame.astype(np.int32)).max() > LOUD))
        return results

    def _frame(self, loud: bool) -> list[RecognitionResult]:
        endpointing = self.options.endpointing
        results: list[RecognitionResult] = []
        if self.options.vad_probabilities:
            results.append(RecognitionResult(False, 0, (), self.ms, vad=(1.0 if loud else 0.0,)))
        if loud:
            if self.start is None:
                self.start = self.position
            self.loud_until = self.position
            words = self._words()
            if self.options.interim and len(words) > self.words_sent:
                self.words_sent = len(words)
                if len(words) > 2:
                    results.append(self._interim(" ".join(words[:2]) + " ", 0.9))
                    results.append(self._interim(" ".join(words[2:]), 0.1))
                else:
                    results.append(self._interim(" ".join(words), 0.1))
        elif self.start is not None:
            quiet = (self.position - self.loud_until) * 1000 // self.options.rate
            eou = endpointing.stop_history_eou_ms
            if eou and quiet >= eou and not self.first_pass:
                self.first_pass = True
                results.append(self._interim(" ".join(self._words()), 1.0))
            if quiet >= endpointing.stop_history_ms:
                results += self._final()
        elif self.options.clean_points and self.ms % 1000 == 0:
            results.append(RecognitionResult(False, 0, (), self.ms))
        return results

    def _interim(self, text: str, stability: float) -> RecognitionResult:
        return RecognitionResult(False, stability, (Hypothesis(text, 0),), self.ms)

    def _words(self) -> list[str]:
        assert self.start is not None
        count = max(1, round((self.loud_until - self.start) * 1000 / self.options.rate / WORD_MS))
        return [SENTENCE[place % len(SENTENCE)] for place in range(count)]

    def _final(self) -> list[RecognitionResult]:
        if self.start is None:
            return []
        words = self._words()
        if self.options.punctuation:
            words[0], words[-1] = words[0].capitalize(), words[-1] + "?"
        begin = self.start * 1000 // self.options.rate
        timed = tuple(
            RecognizedWord(word, begin + place * WORD_MS, begin + (place + 1) * WORD_MS, 0.9, self._speaker(place))
            for place, word in enumerate(words)
        )
        best = Hypothesis(" ".join(words), 0.9, timed)
        others = tuple(Hypothesis(f"{best.text} {place}", 0.5) for place in range(1, 5))
        final = RecognitionResult(
            True,
            0,
            (best, *others),
            self.ms,
            speech_ms=(begin, self.loud_until * 1000 // self.options.rate),
        )
        self.start, self.words_sent, self.first_pass = None, 0, False
        return [final]

    def _speaker(self, place: int) -> int:
        """Two take turns word by word."""
        return 1 + place % 2 if self.options.speakers else 0

    async def end_utterance(self) -> list[RecognitionResult]:
        return self._final()

    async def finish(self) -> list[RecognitionResult]:
        return self._final()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.recognizer.open -= 1


class ScriptedRecognizer:
    engines = (EngineInfo("whisper-tiny", "en-US", 16000), EngineInfo("moonshine-tiny", "en-US", 16000))

    def __init__(self) -> None:
        self.options: list[RecognitionOptions] = []
        self.streams: list[ScriptedStream] = []
        self.open = 0
        self.full = False
        self.failure: Exception | None = None

    def refresh(self) -> None:
        """Nothing is promoted here."""

    def open_stream(self, options: RecognitionOptions) -> ScriptedStream:
        if self.full:
            raise Busy(250)
        self.options.append(options)
        stream = ScriptedStream(options, self)
        self.streams.append(stream)
        self.open += 1
        return stream

    def close(self) -> None:
        return None
