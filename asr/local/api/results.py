"""What was heard, in Riva's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riva.client.proto import riva_asr_pb2

from asr.local.hearing import Heard, HearingRequest, Hypothesis

STABLE = 0.9
"""Stability of a prefix that is not expected to change."""
_LEAST_CONFIDENCE = 0.001
"""Riva's finals always carry a confidence, and 0 on the wire means there is none."""


def presentable(heard: Sequence[Heard], request: HearingRequest) -> list[Heard]:
    """What of one message's results the client gets.

    A final stands for every interim of its utterance that came with it, so simple clients that read
    only the first result read the final. Of the interims behind the last final only the newest
    hypothesis counts: its stable prefix, if it has one, and its volatile rest. Empty finals say
    nothing except, to those who asked, where the listener started clean.
    """
    last_final = max((at for at, one in enumerate(heard) if one.final), default=-1)
    newest = [at for at, one in enumerate(heard) if at > last_final and one.alternatives][-2:]
    if len(newest) == 2 and not heard[newest[0]].stability == STABLE > heard[newest[1]].stability:
        del newest[0]
    kept = []
    for at, one in enumerate(heard):
        if one.final:
            if is_empty(one):
                if not request.clean_points:
                    continue
                one = Heard(final=False, stability=0, alternatives=(), processed_ms=one.processed_ms)
        elif one.alternatives:
            if not request.interim or at not in newest:
                continue
        elif not (request.vad_probabilities if one.vad else request.clean_points):
            continue
        kept.append(one)
    return kept


def is_empty(heard: Heard) -> bool:
    return not (heard.alternatives and heard.alternatives[0].text.strip())


def streaming_result(heard: Heard, request: HearingRequest, channel: int) -> Any:
    result = riva_asr_pb2.StreamingRecognitionResult(
        is_final=heard.final,
        stability=0.0 if heard.final else heard.stability,
        channel_tag=channel,
        audio_processed=heard.processed_ms / 1000,
    )
    if heard.vad:
        result.pipeline_states.vad_probabilities.extend(heard.vad)
    if heard.final:
        result.alternatives.extend(_alternatives(heard, request))
    elif heard.alternatives:
        result.alternatives.add(transcript=heard.alternatives[0].text)
    return result


def whole_result(heard: Heard, request: HearingRequest, channel: int, seconds: float) -> Any:
    """One utterance of a recording; Riva reports the length of the recording on each."""
    return riva_asr_pb2.SpeechRecognitionResult(
        alternatives=_alternatives(heard, request), channel_tag=channel, audio_processed=seconds
    )


def nothing_heard(processed_ms: int) -> Heard:
    """The final of a stream in which nobody spoke: clients index the first alternative unasked."""
    return Heard(final=True, stability=0, alternatives=(Hypothesis("", 0),), processed_ms=processed_ms)


def _alternatives(heard: Heard, request: HearingRequest) -> list[Any]:
    """Best first; a trailing space, because clients join finals without one; words on the first only."""
    found = []
    for place, hypothesis in enumerate(heard.alternatives[: request.alternatives]):
        text = hypothesis.text.strip()
        alternative = riva_asr_pb2.SpeechRecognitionAlternative(transcript=f"{text} " if text else "")
        if text:
            alternative.confidence = min(1.0, max(_LEAST_CONFIDENCE, hypothesis.confidence))
        if place == 0 and request.word_times:
            for word in hypothesis.words:
                alternative.words.add(
                    word=word.text, start_time=word.start_ms, end_time=word.end_ms, confidence=word.confidence
                )
        found.append(alternative)
    return found
