"""Recognition results, in Riva's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riva.client.proto import riva_asr_pb2

from asr.local.stt.types import Hypothesis, RecognitionOptions, RecognitionResult

STABLE = 0.9
"""Stability of a prefix that is not expected to change."""
_LEAST_CONFIDENCE = 0.001
"""Riva's finals always carry a confidence, and 0 on the wire means there is none."""


def select_results(results: Sequence[RecognitionResult], options: RecognitionOptions) -> list[RecognitionResult]:
    """What of one message's results the client gets.

    A final stands for every interim of its utterance that came with it, so simple clients that read
    only the first result read the final. Of the interims behind the last final only the newest
    hypothesis counts: its stable prefix, if it has one, and its volatile rest. Empty finals say
    nothing except, to those who asked, where the stream started clean.
    """
    last_final = max((at for at, one in enumerate(results) if one.final), default=-1)
    newest = [at for at, one in enumerate(results) if at > last_final and one.alternatives][-2:]
    if len(newest) == 2 and not results[newest[0]].stability == STABLE > results[newest[1]].stability:
        del newest[0]
    kept = []
    for at, one in enumerate(results):
        if one.final:
            if is_empty(one):
                if not options.clean_points:
                    continue
                one = RecognitionResult(final=False, stability=0, alternatives=(), processed_ms=one.processed_ms)
        elif one.alternatives:
            if not options.interim or at not in newest:
                continue
        elif not (options.vad_probabilities if one.vad else options.clean_points):
            continue
        kept.append(one)
    return kept


def is_empty(result: RecognitionResult) -> bool:
    return not (result.alternatives and result.alternatives[0].text.strip())


def streaming_result(result: RecognitionResult, options: RecognitionOptions, channel: int) -> Any:
    message = riva_asr_pb2.StreamingRecognitionResult(
        is_final=result.final,
        stability=0.0 if result.final else result.stability,
        channel_tag=channel,
        audio_processed=result.processed_ms / 1000,
    )
    if result.vad:
        message.pipeline_states.vad_probabilities.extend(result.vad)
    if result.final:
        message.alternatives.extend(_alternatives(result, options))
    elif result.alternatives:
        message.alternatives.add(transcript=result.alternatives[0].text)
    return message


def offline_result(result: RecognitionResult, options: RecognitionOptions, channel: int, seconds: float) -> Any:
    """One utterance of a recording; Riva reports the length of the recording on each."""
    return riva_asr_pb2.SpeechRecognitionResult(
        alternatives=_alternatives(result, options), channel_tag=channel, audio_processed=seconds
    )


def empty_final(processed_ms: int) -> RecognitionResult:
    """The final of a stream in which nobody spoke: clients index the first alternative unasked."""
    return RecognitionResult(final=True, stability=0, alternatives=(Hypothesis("", 0),), processed_ms=processed_ms)


def _alternatives(result: RecognitionResult, options: RecognitionOptions) -> list[Any]:
    """Best first; a trailing space, because clients join finals without one; words on the first only."""
    found = []
    for place, hypothesis in enumerate(result.alternatives[: options.alternatives]):
        text = hypothesis.text.strip()
        alternative = riva_asr_pb2.SpeechRecognitionAlternative(transcript=f"{text} " if text else "")
        if text:
            alternative.confidence = min(1.0, max(_LEAST_CONFIDENCE, hypothesis.confidence))
        if place == 0 and (options.word_times or options.speakers):
            for word in hypothesis.words:
                alternative.words.add(
                    word=word.text,
                    start_time=word.start_ms,
                    end_time=word.end_ms,
                    confidence=word.confidence,
                    speaker_tag=word.speaker,
                )
        found.append(alternative)
    return found
