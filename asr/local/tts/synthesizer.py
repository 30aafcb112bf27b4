"""A text on its way to speech, in pieces, whichever protocol asked for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from asr.local.codecs.encoders import AudioEncoder, make_encoder
from asr.local.errors import invalid, unimplemented
from asr.local.stt.types import Samples
from asr.local.tts.ssml import SsmlSentence, plain_text, split_sentences
from asr.local.tts.voices import HOW_TO_GET_ONE, Voice

DEFAULT_LANGUAGE = "en-US"
SUBVOICE = "Female-1"
_LANGUAGE_NAMES = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian"}
_LOUD = 300


@dataclass(frozen=True, slots=True)
class WordTiming:
    """Times are estimates: the sentence's sound shared out by the letters of its words."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class SynthesizedSentence:
    """One sentence, encoded. Word times count from the start of the request's audio."""

    text: str
    audio: bytes
    seconds: float
    words: tuple[WordTiming, ...]


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """A request that has been found good, before anything is spoken."""

    sentences: list[SsmlSentence]
    language: str
    encoder: AudioEncoder

    @property
    def text(self) -> str:
        return plain_text(self.sentences)


def voice_family(language: str) -> str:
    """Riva's name for the voices of a language: English-US."""
    short, _, region = language.partition("-")
    return f"{_LANGUAGE_NAMES.get(short, short)}-{region}"


class Synthesizer:
    """The voice of the server. Two sentences at a time: more would only take turns on the same cores."""

    def __init__(self, voice: Voice | None, aliases: Sequence[str] = ()) -> None:
        """`aliases`: further names of the voice."""
        self.voice = voice
        self._aliases = aliases
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="voice")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def voices(self) -> dict[str, list[str]]:
        """Full voice names by language."""
        languages = self.voice.languages if self.voice else ()
        return {language: [f"{voice_family(language)}.{SUBVOICE}"] for language in languages}

    def prepare(self, text: str, language: str, voice_name: str, encoding: int, rate: int) -> SynthesisRequest:
        if self.voice is None:
            raise unimplemented(HOW_TO_GET_ONE)
        found = self._language(language, voice_name)
        return SynthesisRequest(split_sentences(text), found, make_encoder(encoding, rate, self.voice.rate))

    def _language(self, language: str, voice_name: str) -> str:
        assert self.voice is not None
        asked = language or DEFAULT_LANGUAGE
        for known in self.voice.languages:
            family = voice_family(known)
            names = ("", family, f"{family}.{SUBVOICE}", f"{family}-{SUBVOICE}", *self._aliases)
            if asked.lower() == known.lower() and voice_name.lower() in map(str.lower, names):
                return known
        raise invalid(
            f"Model is not available on server: Voice {voice_name} for language {asked} not found. "
            "Please specify the voice name in your SynthesizeSpeechRequest."
        )

    async def synthesize(self, request: SynthesisRequest) -> AsyncIterator[SynthesizedSentence]:
        """Each sentence as soon as it is spoken; the last one carries what the encoder held back."""
        assert self.voice is not None
        loop = asyncio.get_running_loop()
        synthesized_ms = 0.0
        last = len(request.sentences) - 1
        for place, sentence in enumerate(request.sentences):
            one = await loop.run_in_executor(
                self._threads, self._synthesize_sentence, request, sentence, round(synthesized_ms), place == last
            )
            synthesized_ms += one.seconds * 1000
            yield one

    def _synthesize_sentence(
        self, request: SynthesisRequest, sentence: SsmlSentence, offset_ms: int, last: bool
    ) -> SynthesizedSentence:
        assert self.voice is not None
        samples = np.empty(0, np.int16)
        if sentence.text:
            samples = self.voice.synthesize(sentence.text, request.language)
        words = _estimate_word_times(sentence.text, samples, self.voice.rate, offset_ms)
        if sentence.pause_ms:
            samples = np.pad(samples, (0, sentence.pause_ms * self.voice.rate // 1000))
        audio = request.encoder.encode(samples)
        if last:
            audio += request.encoder.finish()
        return SynthesizedSentence(sentence.text, audio, len(samples) / self.voice.rate, words)


def _estimate_word_times(text: str, samples: Samples, rate: int, offset_ms: int) -> tuple[WordTiming, ...]:
    words = text.split()
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > _LOUD)
    if not words or not len(loud):
        return ()
    start, end = offset_ms + loud[0] * 1000 / rate, offset_ms + (loud[-1] + 1) * 1000 / rate
    letters = np.cumsum([0, *(len(word) + 1 for word in words)])
    edges = [round(start + (end - start) * passed / letters[-1]) for passed in letters]
    return tuple(WordTiming(word, edges[at], edges[at + 1]) for at, word in enumerate(words))
