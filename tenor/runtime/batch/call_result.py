"""What became of one call of a batch, and the documents that `--json` prints of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from tenor.errors import TenorError
from tenor.events import Alert, Call, CallMetrics, Sentence, Transcript

OF_UTTERANCE = ("channel", "role", "start_ms", "end_ms", "text", "words", "confidence", "model")
OF_SENTENCE = (
    *("channel", "role", "start_ms", "end_ms", "text", "sentiment", "sentiment_scores", "intent", "intent_score"),
    "slots",
)
OF_ALERT = ("rule", "severity", "text", "at_ms", "escalation", "sentence")


@dataclass
class CallResult:
    """What became of one call, or of a file that is none."""

    file: str
    """What it came from, without folders."""
    call: str = ""
    """The call's id, made of its content; empty if the file could not be read."""
    info: Call | None = None
    duration_ms: int = 0
    warnings: list[str] = field(default_factory=list)
    utterances: list[Transcript] = field(default_factory=list)
    """What was recognised, of a call that was transcribed, in the order of time."""
    sentences: list[Sentence] = field(default_factory=list)
    """What was said and what it means, of a call that was analysed, in the order of time."""
    metrics: CallMetrics | None = None
    alerts: list[Alert] = field(default_factory=list)
    error: TenorError | None = None
    """Why there is no result or only a part of one; it can be raised."""
    already_stored: bool = False
    """Nothing was done: it was in the database already, and this is what the database says."""
    stored: bool = False
    """It is in the database now, so other commands can be given its id."""
    last_of_file: bool = True
    """The file holds no further call."""
    files: int = 1
    """More than one where a folder is a conversation."""

    def notices(self) -> list[str]:
        """The warnings, and whether something was said in a language the models do not know."""
        count = sum(sentence.language == "other" for sentence in self.sentences)
        if not count:
            return self.warnings
        sentences, them = ("1 sentence is", "it") if count == 1 else (f"{count} sentences are", "them")
        return [*self.warnings, f"{sentences} in a language the models do not know; nothing was told of {them}"]


def transcript_document(result: CallResult) -> dict[str, Any]:
    """What `tenor transcribe --json` prints: the call and its utterances."""
    return {
        "call": {
            "id": result.call,
            "file": result.file,
            "state": "failed" if result.error else "ended",
            "reason": result.error.message if result.error else "",
            "duration_ms": result.duration_ms,
            "warnings": result.warnings,
            **_info(result),
        },
        "utterances": [
            {key: value[key] for key in OF_UTTERANCE} for value in map(msgspec.to_builtins, result.utterances)
        ],
    }


def analysis_document(result: CallResult) -> dict[str, Any]:
    """What `tenor analyze --json` prints: call, sentences, summary, metrics, alerts."""
    return {
        "call": {
            "id": result.call,
            "file": result.file,
            "state": "failed" if result.error else "analysed",
            "reason": result.error.message if result.error else "",
            "duration_ms": result.duration_ms,
            "task": result.metrics.task if result.metrics else "",
            "task_score": result.metrics.task_score if result.metrics else 0.0,
            "warnings": result.notices(),
            **_info(result),
        },
        "sentences": [_sentence(sentence) for sentence in result.sentences],
        "summary": msgspec.to_builtins(result.metrics.summary) if result.metrics and result.metrics.summary else {},
        "metrics": result.metrics.values if result.metrics else {},
        "alerts": [{key: getattr(alert, key) for key in OF_ALERT} for alert in result.alerts],
    }


def _info(result: CallResult) -> dict[str, Any]:
    return msgspec.to_builtins(result.info) if result.info else {}


def _sentence(sentence: Sentence) -> dict[str, Any]:
    document = {key: getattr(sentence, key) for key in OF_SENTENCE}
    if sentence.labels:
        document["labels"] = sentence.labels
    return document if sentence.language == "en" else {**document, "language": sentence.language}
