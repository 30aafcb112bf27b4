"""Whisper through CTranslate2: the engine for finals."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import ctranslate2
import numpy as np
from tokenizers import Tokenizer

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions, EngineHypothesis, estimate_word_times, normalize_peak
from asr.local.stt.engines.mel import FRAMES_PER_SECOND, filters, spectrogram
from asr.local.stt.engines.whisper_folder import checked_folder, packaged_folder
from asr.local.stt.types import RecognizedWord
from tenor.errors import BadInput

_FULL_WINDOW_S = 30.0
_SILENCE_AFTER_S = 1.0
"""Whisper ends its text where the sound ends; without some silence there it starts to invent."""
_BRIEF_S, _LEAST_S, _MARGIN_S = 1.5, 9.0, 4.0
"""What is briefer is decoded in a whole window. Of one that is filled up, so much at least is looked at, and so much
after the speech. With less of any of these, Whisper says things twice."""
_TOKENS_PER_SECOND = 8
_MOST_TOKENS = 224
_MOST_CONTEXT = 200
"""Tokens that it is told; the text itself may have as many as are left of the model's 448."""
_LONGEST_REPEAT = 4
_BEAM = 5
_LEAST_PROBABILITY = 1e-6
_LEAST_DIFFERENCE = -4.5
"""What was proposed and is less likely than the best hypothesis by more than this (log-probability) was not said."""
_LEAST_SCORE = -0.9
"""A hypothesis below this mean log-probability is noise taken for speech."""


@dataclass(frozen=True, slots=True)
class _TokenHypothesis:
    ids: list[int]
    score: float
    """Mean log-probability of a token."""
    loops: bool
    """It repeats itself over and over, or came to no end."""
    repeats_end: bool
    """It ends with the same words twice."""
    judged: bool = False
    """It was proposed, and judged beside one that is no noise."""

    @property
    def repeats(self) -> bool:
        return self.loops or self.repeats_end


class WhisperEngine:
    """What it is given is decoded on its own: beam search, temperature 0. It knows nothing of what was said before; in
    its place it is told what is likely to be said, if that is known.

    The model was trained on windows of 30 s, and the encoder's cost is the window's, not the speech's. So it takes a
    shorter window where the utterance fits. In a hurry it encodes only the first part of that, with the speech: what
    silence looks like to the encoder is known, and fills up the rest. A hypothesis from that which says something twice
    is checked in the whole window, and one that still loops is decoded again, without repetitions; a second look at
    every doubtful one would come too late.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        window_s: float,
        workers: int,
        name: str = "",
        compute_type: Literal["int8", "float32"] = "int8",
    ) -> None:
        """`path` is a folder with another Whisper model in CTranslate2's format, `window_s` the sound it looks at for a
        short utterance: longer is more accurate, and later. `workers` utterances are decoded at once."""
        path = packaged_folder() if path is None else checked_folder(path)
        self.name = name or "whisper-tiny"
        self.language = "en-US"
        self.punctuates = True
        self.joint_window_s = _FULL_WINDOW_S - 2 * _SILENCE_AFTER_S
        self._window_s = window_s
        try:
            self._model = ctranslate2.models.Whisper(
                str(path), device="cpu", compute_type=compute_type, inter_threads=workers, intra_threads=1
            )
            self._tokenizer = _tokenizer((path / "tokenizer.json").read_text("utf-8"))
            self._suppressed = json.loads((path / "config.json").read_text()).get("suppress_ids", [-1])
        except Exception as error:  # what the two libraries raise is of no narrower type
            raise BadInput(f"{path} cannot be loaded: {error}", "make or copy the folder again") from error
        self._bank = filters(int(self._model.n_mels))
        self._start = [self._token("<|startoftranscript|>")]
        if self._model.is_multilingual:
            self._start += [self._token(f"<|{self.language[:2]}|>"), self._token("<|transcribe|>")]
        self._prompt = [*self._start, self._token("<|notimestamps|>")]
        self._said_before = self._token("<|startofprev|>")
        silence = spectrogram(np.zeros(RATE, np.float32), _frames(window_s), self._bank)
        self._silence = np.array(self._encode(silence))

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        seconds = len(samples) / RATE
        if not seconds:
            return []
        window_s = min(max(self._window_s, seconds + _SILENCE_AFTER_S), _FULL_WINDOW_S)
        features = spectrogram(normalize_peak(samples), _frames(window_s), self._bank)
        sound, hypotheses = self._hypotheses(features, seconds, options)
        decoded = []
        for number, hypothesis in enumerate(hypotheses):
            if (hypothesis.score < _LEAST_SCORE and not hypothesis.judged) or not options.wanted():
                continue
            if options.word_times and number == 0:
                words = self._aligned(sound, hypothesis.ids, seconds)
            else:
                words = self._estimated(hypothesis, options.speech_ms or (0, int(seconds * 1000)))
            if words:
                decoded.append(EngineHypothesis(words, math.exp(hypothesis.score)))
        return decoded

    def close(self) -> None:
        self._model.unload_model()

    def _hypotheses(self, features: Any, seconds: float, options: DecodeOptions) -> tuple[Any, list[_TokenHypothesis]]:
        """Best first, with the encoded sound they came from; none when nobody wants them any more."""
        if options.low_latency and (sound := self._encoded_with_silence(features, seconds)) is not None:
            hypotheses = self._generate_told(sound, seconds, options)
            if not hypotheses or not hypotheses[0].repeats:
                return sound, [*hypotheses, *self._judged(sound, hypotheses, seconds, options)]
        sound = self._encode(features)
        hypotheses = self._generate_told(sound, seconds, options)
        if hypotheses and hypotheses[0].loops:
            hypotheses = self._generate(sound, seconds, replace(options, context=()), repeat=_LONGEST_REPEAT)
        return sound, [*hypotheses, *self._judged(sound, hypotheses, seconds, options)]

    def _judged(
        self, sound: Any, hypotheses: list[_TokenHypothesis], seconds: float, options: DecodeOptions
    ) -> list[_TokenHypothesis]:
        """What the best hypothesis may have been instead, with the probability that the sound gives to it."""
        if options.proposals is None or not hypotheses or not options.wanted():
            return []
        best = hypotheses[0]
        if best.score < _LEAST_SCORE:
            return []
        known = {tuple(hypothesis.ids) for hypothesis in hypotheses}
        proposed = []
        for words in options.proposals(self._tokenizer.decode(best.ids).split()):
            ids = self._tokenizer.encode(" " + " ".join(words), add_special_tokens=False).ids
            if tuple(ids) not in known:
                known.add(tuple(ids))
                proposed.append(ids)
        if not proposed:
            return []
        texts = [best.ids, *proposed]
        sounds = ctranslate2.StorageView.from_array(np.repeat(np.array(sound), len(texts), axis=0))
        heard_frames = min(int(seconds * FRAMES_PER_SECOND), 3000)
        base, *others = (
            float(np.log(np.maximum(aligned.text_token_probs, _LEAST_PROBABILITY)).sum())
            for aligned in self._model.align(sounds, self._start, texts, heard_frames)
        )
        likely = best.score * (len(best.ids) + 1)
        return [
            _TokenHypothesis(ids, (likely + other - base) / (len(ids) + 1), loops=False, repeats_end=False, judged=True)
            for ids, other in zip(proposed, others, strict=True)
            if other - base >= _LEAST_DIFFERENCE
        ]

    def _generate_told(self, sound: Any, seconds: float, options: DecodeOptions) -> list[_TokenHypothesis]:
        """What it is told tempts it to say things twice; if it does, it has to do without. Nobody may choose another
        hypothesis that does."""
        hypotheses = self._generate(sound, seconds, options)
        if options.context and hypotheses and hypotheses[0].repeats:
            hypotheses = self._generate(sound, seconds, replace(options, context=()))
        return hypotheses[:1] + [other for other in hypotheses[1:] if not other.repeats]

    def _encode(self, features: Any) -> Any:
        return self._model.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(features[None])))

    def _encoded_with_silence(self, features: Any, seconds: float) -> Any:
        """The encoded speech with encoded silence after it; None where that saves too little."""
        frames = _frames(max(_LEAST_S, seconds + _MARGIN_S))
        if seconds < _BRIEF_S or frames > 0.9 * features.shape[1]:
            return None
        speech = np.array(self._encode(features[:, :frames]))
        return ctranslate2.StorageView.from_array(np.concatenate([speech, self._silence[:, speech.shape[1] :]], axis=1))

    def _generate(self, sound: Any, seconds: float, options: DecodeOptions, repeat: int = 0) -> list[_TokenHypothesis]:
        """`repeat`: so many tokens in a row may not come twice."""
        if not options.wanted():
            return []
        most = min(8 + int(seconds * _TOKENS_PER_SECOND), _MOST_TOKENS)
        prompt = [*self._context(options.context), *self._prompt]
        found = self._model.generate(
            sound,
            [prompt],
            beam_size=max(_BEAM, options.alternatives),
            num_hypotheses=options.alternatives,
            no_repeat_ngram_size=repeat,
            max_length=max(2 * most, most + len(prompt)),  # CTranslate2 lets the text have half of it, or the rest
            suppress_tokens=self._suppressed,
            return_scores=True,
        )[0]
        return [
            _TokenHypothesis(
                ids,
                score * len(ids) / (len(ids) + 1),
                loops=len(ids) >= most or _has_loop(ids),
                repeats_end=_repeats_end(self._tokenizer.decode(ids)),
            )
            for ids, score in zip(found.sequences_ids, found.scores, strict=True)
        ]

    def _context(self, phrases: tuple[str, ...]) -> list[int]:
        """As if they had just been said: as many of them, from the last, as there is room for."""
        ids: list[int] = []
        for phrase in reversed(phrases):
            more = self._tokenizer.encode(f" {phrase}", add_special_tokens=False).ids
            if len(ids) + len(more) > _MOST_CONTEXT:
                break
            ids = [*more, *ids]
        return [self._said_before, *ids] if ids else []

    def _aligned(self, sound: Any, ids: list[int], seconds: float) -> tuple[RecognizedWord, ...]:
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
                words.append(RecognizedWord(text, starts[first], starts[last], min(max(probability, 0.001), 1.0)))
            first = last
        return tuple(words)

    def _estimated(self, hypothesis: _TokenHypothesis, span_ms: tuple[int, int]) -> tuple[RecognizedWord, ...]:
        texts = [text for group in self._groups(hypothesis.ids) if (text := self._tokenizer.decode(group).strip())]
        return estimate_word_times(texts, *span_ms, math.exp(hypothesis.score))

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


@lru_cache(maxsize=4)
def _tokenizer(text: str) -> Tokenizer:
    """One for all engines that have the same: it takes ten times the memory of its text."""
    return Tokenizer.from_str(text)


def _frames(seconds: float) -> int:
    return int(seconds * FRAMES_PER_SECOND) // 2 * 2  # the encoder joins two


def _has_loop(ids: list[int]) -> bool:
    """Whether some tokens in a row come three times: a loop, not a way of speaking."""
    runs = [tuple(ids[at : at + _LONGEST_REPEAT]) for at in range(len(ids) - _LONGEST_REPEAT + 1)]
    return any(runs.count(run) > 2 for run in set(runs))


def _repeats_end(text: str) -> bool:
    words = re.findall(r"[\w']+", text.lower())
    return any(words[-run:] == words[-2 * run : -run] for run in range(1, len(words) // 2 + 1))
