"""A language worker on an embedded bus, and both ends of it for a test to hold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlp.inference.types import Entity, ScoredLabel, SentenceAnalysis, SentenceContext
from nlp.worker import NlpWorker
from tenor.events import (
    CALLS,
    SENTENCES,
    TRANSCRIPTS,
    Call,
    CallMetrics,
    CallState,
    Heard,
    Sentence,
    Transcript,
    Word,
)
from tenor.settings import Settings
from tenor.taxonomy.sentiments import valence_of
from tests.worker_rig import WorkerRig

GOOD, BAD = {"great", "thanks", "lovely"}, {"terrible", "angry", "broken"}


class WordLists:
    """Analyzes by single words, so that a test knows what it will say."""

    versions = {"sentiment": "lists-1", "intent": "lists-1", "slots": "lists-1"}
    tasks = frozenset({"balance", "refund"})

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.contexts: dict[str, SentenceContext] = {}
        """What was told of each text."""

    valence = staticmethod(valence_of)

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        self.batches.append(len(texts))
        self.contexts |= zip(texts, contexts, strict=False)
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> SentenceAnalysis:
        if "explode" in text:
            raise RuntimeError(text)
        words = {word.strip(".,!?") for word in text.lower().split()}
        mood = float(bool(words & GOOD)) - float(bool(words & BAD))
        sentiment = {1.0: "positive", -1.0: "negative"}.get(mood, "neutral")
        wanted = next((task for task in sorted(self.tasks) if task in words), "unknown")
        at = text.find("Monday")
        entities = (Entity("Monday", ScoredLabel("date", 1.0), at, at + 6),) if at >= 0 else ()
        return SentenceAnalysis(
            text, sentiment, {sentiment: 1.0}, wanted, 0.9, entities, {wanted: 0.9}, mood=mood, models=self.versions
        )


def said(
    text: str, start_ms: int, *, call: str = "c", channel: int = 0, word_ms: int = 300, **fields: Any
) -> Transcript:
    """A final whose words take `word_ms` each."""
    words = tuple(
        Word(text=word, start_ms=start_ms + number * word_ms, end_ms=start_ms + (number + 1) * word_ms)
        for number, word in enumerate(text.split())
    )
    end_ms = words[-1].end_ms if words else start_ms
    return Transcript(
        **{
            "call": call,
            "channel": channel,
            "role": ("caller", "agent")[channel],
            "utterance": f"{call}/{channel}/{start_ms}",
            "start_ms": start_ms,
            "end_ms": end_ms,
            "text": text,
            "final": True,
            "words": words,
            "heard_ms": end_ms + 400,
            "times": {"captured": 1.0, "published": 2.0},
            **fields,
        }
    )


def heard(heard_ms: int, *, call: str = "c", channel: int = 0) -> Heard:
    return Heard(call=call, channel=channel, heard_ms=heard_ms)


def info(**fields: Any) -> Call:
    return Call(**{"source": "file", "roles": ("caller", "agent"), "started_at": 1000.0, **fields})


class Rig(WorkerRig):
    def __init__(self, folder: Path, backend: Any = None, **language: Any) -> None:
        super().__init__()
        self.backend = backend or WordLists()
        self.settings = Settings.model_validate(
            {"home": folder, "bus": {"partitions": 2, "lease_s": 1.0}, "language": language}
        )

    def worker(self) -> NlpWorker:
        return NlpWorker(self.bus, self.settings, self.backend)

    async def state(self, state: str, call: str = "c", *, reason: str = "", **fields: Any) -> None:
        event = CallState(call=call, state=state, at=time.time(), reason=reason, info=info(**fields))  # type: ignore[arg-type]
        await self.bus.publish(CALLS, event)

    async def say(self, *events: Transcript | Heard) -> None:
        await self.bus.publish_many(TRANSCRIPTS, events)

    async def sentences(self, call: str = "c") -> list[Sentence]:
        return await self.events(SENTENCES, call)

    async def metrics(self, call: str = "c") -> list[CallMetrics]:
        return [event for event in await self.events(CALLS, call) if isinstance(event, CallMetrics)]

    async def states(self, call: str = "c") -> list[str]:
        return [event.state for event in await self.events(CALLS, call) if isinstance(event, CallState)]

    async def analysed(self, call: str = "c", times: int = 1) -> None:
        async def over() -> bool:
            return (await self.states(call)).count("analysed") >= times

        await self.until(over)
