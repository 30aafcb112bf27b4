"""An engine that writes neither marks nor capitals, with both written into what it hears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from asr.local.stt.engines.base import Audio, DecodeOptions, Engine, EngineHypothesis

Punctuate = Callable[[Sequence[str]], list[str]]
"""Words as they are written, one for each that it is given."""


class PunctuatedEngine:
    """Marks are written where the words are decoded, in the pool's threads: a stream waits for neither."""

    def __init__(self, engine: Engine, punctuate: Punctuate) -> None:
        self.name = engine.name
        self.language = engine.language
        self.joint_window_s = engine.joint_window_s
        self.punctuates = True
        self._engine = engine
        self._punctuate = punctuate

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        return [self._punctuated(one) for one in self._engine.decode(samples, options)]

    def close(self) -> None:
        self._engine.close()

    def _punctuated(self, hypothesis: EngineHypothesis) -> EngineHypothesis:
        texts = self._punctuate([word.text for word in hypothesis.words])
        words = tuple(replace(word, text=text) for word, text in zip(hypothesis.words, texts, strict=True))
        return replace(hypothesis, words=words)
