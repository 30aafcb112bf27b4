"""The seam between the services and the engines: what a recognition stream is asked, and what it answers.

A service turns a Riva request into a `RecognitionOptions`, opens a `RecognitionStream`, feeds it PCM and
turns every `RecognitionResult` into Riva's result. It never sees an engine; an engine never sees gRPC.

Timeline of one utterance, all positions counted in samples, never in wall-clock time, so that the
same audio gives the same results however it was cut into messages and however busy the machine was:

    silence | speech ............ speech | silence ........ | next utterance
            ^ onset                      ^ end of speech    ^ the final
              interims ->                 |--stop_history---|
                                               |-- lead ----|  of the next utterance
                                               ^ processed_ms of the final
                                                 (detector, resampler, decoder start clean)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int16]
CLEAN_LEAD_MS = 320
"""A stream starts clean this long before the place at which it knew that an utterance was over, so that the next one
may begin there."""


@dataclass(frozen=True, slots=True)
class Boost:
    """A phrase the caller expects; a negative weight suppresses it. Its casing is the output's casing."""

    phrase: str
    weight: float


@dataclass(frozen=True, slots=True)
class Endpointing:
    """When an utterance begins and ends. Histories in ms, thresholds as shares (0..1) of that window."""

    start_history_ms: int = 300
    start_threshold: float = 0.2
    stop_history_ms: int = 440
    stop_threshold: float = 0.98
    stop_history_eou_ms: int | None = None
    """First pass: after this much silence an interim with stability 1.0 holds the whole utterance."""
    stop_threshold_eou: float | None = None
    max_utterance_ms: int = 20_000
    """An utterance is cut here even if the speaker goes on, so that work always advances."""


@dataclass(frozen=True, slots=True)
class RecognitionOptions:
    """What one stream asks for."""

    rate: int
    """Samples per second of what will come (8000..96000); the stream resamples."""
    engine: str = ""
    """Name of the engine for finals; empty takes the default."""
    interim: bool = False
    punctuation: bool = True
    verbatim: bool = False
    """True keeps the spoken form; False writes plain numbers as digits."""
    profanity_filter: bool = False
    word_times: bool = False
    alternatives: int = 1
    boosts: tuple[Boost, ...] = ()
    context: tuple[str, ...] = ()
    """Sentences that are likely to be said, the likeliest last: told to the engine before it decodes."""
    endpointing: Endpointing = field(default_factory=Endpointing)
    patient: bool = False
    """Nobody waits: finals may come minutes later if they are better for it."""
    clean_points: bool = False
    """Tell, as a `RecognitionResult` without alternatives, each position in silence at which the stream started
    clean: a client that resumes there gets the results it would have got without interruption."""
    speakers: int = 0
    """Tell at most so many speakers apart; 0: nobody asks. The words of finals then say whose they are."""
    known_ms: int = 0
    """The client knows everything before this, as of a stream that broke: it is only listened to for who speaks."""
    vad_probabilities: bool = False
    """Tell the probabilities of voice activity, one for each frame, as a `RecognitionResult` without alternatives."""


@dataclass(frozen=True, slots=True)
class RecognizedWord:
    text: str
    start_ms: int
    end_ms: int
    confidence: float
    speaker: int = 0
    """Counted from 1; 0: nobody asked."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    text: str
    """No trailing space; the servicer adds Riva's."""
    confidence: float
    words: tuple[RecognizedWord, ...] = ()


@dataclass(frozen=True, slots=True)
class RecognitionResult:
    """One result. Times are ms from the start of the stream."""

    final: bool
    stability: float
    """0 for a final, 0.1 volatile, 0.9 stable prefix, 1.0 first-pass end of utterance."""
    alternatives: tuple[Hypothesis, ...]
    processed_ms: int
    """For a final or a clean point: exactly where the stream started clean; for the finals of utterances that were
    decoded together, before the first of them. Else: how far the stream is."""
    speech_ms: tuple[int, int] = (0, 0)
    """For a final: start and end of speech by the voice activity detector."""
    vad: tuple[float, ...] = ()


class RecognitionStream(Protocol):
    """Recognises one mono stream."""

    async def feed(self, samples: Samples) -> list[RecognitionResult]:
        """Take the next samples, in any amount; answers when everything they decide is decided."""
        ...

    async def end_utterance(self) -> list[RecognitionResult]:
        """Finalise what has been said up to now and go on (Riva's `force_eou`)."""
        ...

    async def finish(self) -> list[RecognitionResult]:
        """The stream is over: the last final, if there is one."""
        ...

    def close(self) -> None:
        """Give up at once without deciding anything more (the client went away)."""
        ...


@dataclass(frozen=True, slots=True)
class EngineInfo:
    name: str
    """As it stands in model names: `whisper-tiny`, `moonshine-tiny`."""
    language: str
    rate: int
    replaces: str = ""
    """The engine whose place a promoted model has taken, for clients that name none."""


class Busy(Exception):
    """More is being said than can be decoded in time; `retry_ms` says when to ask again."""

    def __init__(self, retry_ms: int) -> None:
        super().__init__(f"all recogniser slots are busy, try again in {retry_ms} ms")
        self.retry_ms = retry_ms


class Recognizer(Protocol):
    """The engines of one process, shared by all its streams."""

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        """What can be asked for; the first is the default."""
        ...

    def refresh(self) -> None:
        """See whether a model was promoted, and load it. Takes as long as that does; streams go on meanwhile."""
        ...

    def open_stream(self, options: RecognitionOptions) -> RecognitionStream:
        """Open a stream. Raises `Busy` at the limit and `KeyError` for an unknown engine."""
        ...

    def close(self) -> None: ...
