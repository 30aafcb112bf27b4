"""CTC models as NeMo makes them (Conformer and others), through onnxruntime: words with the times at which they were
spoken, in one pass whose cost is the speech's length."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions, EngineHypothesis
from asr.local.stt.engines.ctc_features import FeatureExtractor
from asr.local.stt.engines.ctc_folder import WORD_START, checked_ctc_folder, read_description
from asr.local.stt.types import RecognizedWord
from tenor.errors import BadInput

_UNKNOWN = "<unk>"
"""What a model says where it has no token for a sound."""
_LEAST_CONFIDENCE = 0.001
_INPUTS = {"audio_signal", "length"}


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    first: int
    last: int
    """Frames of the output in which it is the likeliest."""
    probability: float


class CtcEngine:
    """Greedy: in every frame the likeliest token counts, repeated ones are one, and blanks are dropped. It writes what
    its tokens say: most models know no capitals and no marks."""

    def __init__(self, path: Path, *, name: str = "") -> None:
        folder = checked_ctc_folder(path)
        description = read_description(folder)
        self.name = name or "ctc"
        self.language = description.language
        self.joint_window_s = 0.0
        self._tokens = description.tokens
        self.punctuates = any(mark in token for token in self._tokens for mark in ".?")
        self._extractor = FeatureExtractor(description.front_end)
        self._subsampling = description.subsampling
        self._frame_ms = 1000 * description.front_end.hop * description.subsampling / RATE
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # utterances are decoded beside each other, each on one core
        try:
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # what onnxruntime raises is of no narrower type
            raise BadInput(f"{folder} cannot be loaded: {error}", "make or copy the folder again") from error
        if {one.name for one in self._session.get_inputs()} != _INPUTS:
            raise BadInput(f"{folder} is no CTC model: it does not take {' and '.join(sorted(_INPUTS))}")
        if self._log_probabilities(np.zeros(RATE, np.float32)).shape[1] != len(self._tokens) + 1:
            raise BadInput(f"{folder} has {len(self._tokens)} tokens, and the model has another number of them")

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        if not len(samples) or not options.wanted():
            return []
        tokens = list(self._greedy(self._log_probabilities(samples)))
        words = self._words(tokens, len(samples) * 1000 // RATE)
        if not words:
            return []
        return [EngineHypothesis(words, math.exp(sum(math.log(one.probability) for one in tokens) / len(tokens)))]

    def close(self) -> None:
        """onnxruntime frees the session with the engine."""

    def _log_probabilities(self, samples: Audio) -> npt.NDArray[np.float32]:
        """`frames x tokens`, of the frames that hold sound."""
        features, heard = self._extractor.features(samples)
        fed = {"audio_signal": features[None], "length": np.array([heard], np.int64)}
        found: npt.NDArray[np.float32] = self._session.run(None, fed)[0][0]
        return found[: -(-heard // self._subsampling)]

    def _greedy(self, frames: npt.NDArray[np.float32]) -> Iterator[_Token]:
        best = frames.argmax(axis=1)
        at = 0
        for token, run in groupby(best.tolist()):
            first, at = at, at + len(list(run))
            if token < len(self._tokens) and (text := self._tokens[token]) != _UNKNOWN:
                probability = math.exp(float(frames[first:at, token].max()))
                yield _Token(text, first, at - 1, min(max(probability, _LEAST_CONFIDENCE), 1.0))

    def _words(self, tokens: list[_Token], limit_ms: int) -> tuple[RecognizedWord, ...]:
        words: list[list[_Token]] = [[]]
        for token in tokens:
            if token.text.startswith(WORD_START):
                words.append([])
            if token.text != WORD_START:
                words[-1].append(token)
        return tuple(self._word(word, limit_ms) for word in words if word)

    def _word(self, tokens: list[_Token], limit_ms: int) -> RecognizedWord:
        text = "".join(token.text for token in tokens).removeprefix(WORD_START)
        start, end = tokens[0].first * self._frame_ms, (tokens[-1].last + 1) * self._frame_ms
        confidence = sum(token.probability for token in tokens) / len(tokens)
        return RecognizedWord(text, min(int(start), limit_ms), min(int(end), limit_ms), confidence)
