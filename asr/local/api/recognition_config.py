"""Riva's RecognitionConfig read into the options of a recognition stream, or refused in Riva's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from asr.local.codecs.decoder import MODEL_RATE, DeclaredFormat
from asr.local.errors import invalid, unavailable_model
from asr.local.stt.types import Boost, Endpointing, EngineInfo, RecognitionOptions

RIVA_STOP_HISTORY_MS = 800
SHORTEST_STOP_MS, LONGEST_STOP_MS = 160, 10_000
DEFAULT_SPEAKERS, MOST_SPEAKERS = 8, 32
"""Riva's `max_speaker_count` where it is 0, and what nobody asks beyond."""
MOST_ALTERNATIVES = 30
"""As many hypotheses the decoder keeps at every step."""
MOST_PHRASES, LONGEST_PHRASE = 5000, 500
MOST_CUSTOM = 100_000
"""Characters of custom_configuration."""
_LONGEST_NUMBER = 9
_SUFFIX = {"online": "streaming", "offline": "offline"}


def model_name(engine: EngineInfo, kind: str) -> str:
    """Riva's naming: `<model>-en-US-asr-streaming` and `-offline`."""
    return f"{engine.name}-{engine.language}-asr-{_SUFFIX[kind]}"


@dataclass(frozen=True, slots=True)
class SessionConfig:
    declared: DeclaredFormat
    options: RecognitionOptions
    """Its rate is a placeholder until the audio's own is known."""

    def with_rate(self, rate: int) -> RecognitionOptions:
        return replace(self.options, rate=rate)


def read_config(
    config: Any,
    kind: str,
    engines: Sequence[EngineInfo],
    *,
    interim: bool = False,
    separate_channels: bool = True,
    default: str = "",
    aliases: Sequence[str] = (),
) -> SessionConfig:
    """`kind` is Riva's: `online` for a stream, `offline` for a whole recording. `default` is the engine for who names
    no model; without one the recogniser chooses, once it knows the audio's rate. Who names one of the `aliases`
    names none."""
    model = "" if config.model in aliases else config.model
    declared = DeclaredFormat(
        encoding=config.encoding,
        rate=config.sample_rate_hertz,
        channels=config.audio_channel_count,
        separate_channels=separate_channels and config.enable_separate_recognition_per_channel,
    )
    declared.check()
    engine = _choose_engine(config, model, kind, engines)
    _within("max_alternatives", config.max_alternatives, 0, MOST_ALTERNATIVES)
    custom = config.custom_configuration
    if (size := sum(len(key) + len(custom[key]) for key in custom)) > MOST_CUSTOM:
        raise invalid(f"custom_configuration must not be longer than {MOST_CUSTOM} characters, got {size}")
    return SessionConfig(
        declared,
        RecognitionOptions(
            rate=declared.rate or MODEL_RATE,
            engine=engine.name if model or default else "",
            interim=interim,
            punctuation=config.enable_automatic_punctuation,
            verbatim=config.verbatim_transcripts,
            profanity_filter=config.profanity_filter,
            word_times=config.enable_word_time_offsets,
            alternatives=max(1, config.max_alternatives),
            boosts=_boosts(config.speech_contexts),
            context=_lines(custom, "context"),
            endpointing=_endpointing(config.endpointing_config, custom),
            patient=not interim and (kind == "offline" or _flag(custom, "patient")),
            clean_points=_flag(custom, "clean_points"),
            vad_probabilities=_flag(custom, "get_vad_probabilities"),
            speakers=_speakers(config.diarization_config),
            known_ms=max(0, _number(custom, "known_ms") or 0),
        ),
    )


def _choose_engine(config: Any, model: str, kind: str, engines: Sequence[EngineInfo]) -> EngineInfo:
    wanted = config.language_code.lower()
    for engine in engines:
        language = engine.language.lower()
        if wanted in ("", language, language.partition("-")[0]) and model in ("", model_name(engine, kind)):
            return engine
    raise unavailable_model(
        config.language_code,
        config.sample_rate_hertz or MODEL_RATE,
        kind,
        config.model,
        [model_name(engine, each) for engine in engines for each in _SUFFIX],
    )


def _boosts(contexts: Any) -> tuple[Boost, ...]:
    if (count := sum(len(context.phrases) for context in contexts)) > MOST_PHRASES:
        raise invalid(f"speech_contexts must not hold more than {MOST_PHRASES} phrases, got {count}")
    boosts = []
    for context in contexts:
        if not isfinite(context.boost):
            raise invalid(f"speech_contexts boost must be a number, got {context.boost:g}")
        for phrase in context.phrases:
            if len(phrase) > LONGEST_PHRASE:
                raise invalid(f"speech_contexts phrases must not be longer than {LONGEST_PHRASE} characters")
            if phrase.strip():
                boosts.append(Boost(phrase.strip(), context.boost))
    return tuple(boosts)


def _speakers(given: Any) -> int:
    """How many to tell apart at most; 0: nobody asks."""
    if not given.enable_speaker_diarization:
        return 0
    _within("diarization_config.max_speaker_count", given.max_speaker_count, 0, MOST_SPEAKERS)
    return given.max_speaker_count or DEFAULT_SPEAKERS


def _endpointing(given: Any, custom: Mapping[str, str]) -> Endpointing:
    """Presence counts, not value: a field that was not sent keeps its default."""

    def present(name: str) -> bool:
        return bool(given.HasField(name))

    ours = Endpointing()
    stop_ms = given.stop_history if present("stop_history") else ours.stop_history_ms
    _within("endpointing_config.stop_history", stop_ms, SHORTEST_STOP_MS, LONGEST_STOP_MS)
    start_ms = given.start_history if present("start_history") else ours.start_history_ms
    _within("endpointing_config.start_history", start_ms, 0, LONGEST_STOP_MS)
    start_share = given.start_threshold if present("start_threshold") else ours.start_threshold
    _within("endpointing_config.start_threshold", start_share, 0, 1)
    stop_share = given.stop_threshold if present("stop_threshold") else ours.stop_threshold
    _within("endpointing_config.stop_threshold", stop_share, 0, 1)
    eou_share = given.stop_threshold_eou if present("stop_threshold_eou") else None
    if eou_share is not None:
        _within("endpointing_config.stop_threshold_eou", eou_share, 0, 1)
    eou_ms = given.stop_history_eou if present("stop_history_eou") else _number(custom, "stop_history_eou")
    if eou_ms is not None:
        if not present("stop_history"):
            # Who sets only the first pass counts on Riva's default for the second.
            stop_ms = max(stop_ms, RIVA_STOP_HISTORY_MS)
        _within("stop_history_eou", eou_ms, 1, stop_ms - 1)
    longest = _number(custom, "max_utterance_ms")
    if longest is not None:
        _within("max_utterance_ms", longest, 1000, 60_000)
    return Endpointing(
        start_history_ms=start_ms,
        start_threshold=start_share,
        stop_history_ms=stop_ms,
        stop_threshold=stop_share,
        stop_history_eou_ms=eou_ms,
        stop_threshold_eou=eou_share,
        max_utterance_ms=longest or ours.max_utterance_ms,
    )


def _within(name: str, value: float, lowest: float, highest: float) -> None:
    if not lowest <= value <= highest:
        raise invalid(f"{name} must be between {lowest:g} and {highest:g}, got {value:g}")


def _number(custom: Mapping[str, str], key: str) -> int | None:
    if key not in custom:
        return None
    try:
        if len(custom[key]) <= _LONGEST_NUMBER:
            return int(custom[key])
    except ValueError:
        pass
    raise invalid(f"custom_configuration {key} must be a whole number, got {custom[key][:50]!r}")


def _lines(custom: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in custom[key].splitlines() if line.strip()) if key in custom else ()


def _flag(custom: Mapping[str, str], key: str) -> bool:
    return key in custom and custom[key].strip().lower() == "true"
