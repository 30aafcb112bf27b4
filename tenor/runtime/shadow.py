"""A shadow run: a candidate answers what another model answered, and nobody is told but the person who asks.

Counts are kept; words are shown and forgotten.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.events import SENTENCES, Sentence, Unreadable
from tenor.model_store.card import Kind
from tenor.settings import Settings

if TYPE_CHECKING:
    from storage.registry.shadows import KeptLine

AT_ONCE = 64
Answers = Mapping[str, str]
"""By head."""
Ask = Callable[[Sequence["KeptLine"]], Sequence[Answers]]


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    text: str
    head: str
    before: str
    after: str


@dataclass(slots=True)
class ShadowRun:
    show: int
    """So many changes are kept to be shown."""
    sentences: int = 0
    changed: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    examples: list[ChangedAnswer] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.changed / self.sentences if self.sentences else 0.0

    def add(self, text: str, before: Answers, after: Answers) -> None:
        self.sentences += 1
        differing = [head for head in before if head in after and before[head] != after[head]]
        self.changed += bool(differing)
        for head in differing:
            self.counts.setdefault(head, Counter())[f"{before[head]} > {after[head]}"] += 1
            if len(self.examples) < self.show:
                self.examples.append(ChangedAnswer(text, head, before[head], after[head]))

    def counted(self) -> dict[str, dict[str, int]]:
        """As they are kept: the most frequent first."""
        return {head: dict(changes.most_common()) for head, changes in sorted(self.counts.items())}


def open_asking(kind: Kind, folder: Path | None, settings: Settings) -> Ask:
    """What a model answers, with the label sets of this site; without a folder the one that ships."""
    if kind == "language":
        from nlp.inference.backend import open_local
        from nlp.inference.types import SentenceContext

        backend = open_local(settings.language.model_copy(update={"model": ""}), folder)

        def ask(lines: Sequence[KeptLine]) -> list[Answers]:
            contexts = [SentenceContext(line.role, line.before) for line in lines]
            found = backend.analyze([line.text for line in lines], contexts)
            return [{"sentiment": one.sentiment, "intent": one.intent} for one in found]

        return ask
    if kind == "assistant":
        from tenor.runtime.assistant.understanding import understander

        reader = understander(folder)
        return lambda lines: [{"intent": reader.read(line.text).intents[0].name} for line in lines]
    raise BadInput("recognisers are compared by the gate, which has recordings", "a shadow run is for words")


def compare_kept(
    lines: Iterable[KeptLine], champion: Ask, candidate: Ask, *, show: int, told: Callable[[int], None] = lambda _: None
) -> ShadowRun:
    """Both models on what is kept."""
    run, rest = ShadowRun(show), iter(lines)
    while some := list(islice(rest, AT_ONCE)):
        for line, before, after in zip(some, champion(some), candidate(some), strict=True):
            run.add(line.text, before, after)
        told(len(some))
    return run


async def compare_live(bus: Bus, candidate: Ask, *, seconds: float, run: ShadowRun) -> None:
    """The candidate on sentences as they are published, for so long. `run` counts what has come so far."""
    from storage.registry.shadows import KeptLine

    until = time.monotonic() + seconds
    before: dict[str, str] = {}
    async with bus.follower([SENTENCES]) as follower:
        while (left := until - time.monotonic()) > 0:
            heard: list[tuple[Sentence, KeptLine]] = []
            for record in await follower.poll(AT_ONCE, min(left, 0.5)):
                try:
                    sentence = SENTENCES.decode(record.value)
                except Unreadable:
                    continue
                if sentence.language == "en":
                    heard.append((sentence, KeptLine(sentence.text, sentence.role, before.get(sentence.call))))
                    before[sentence.call] = sentence.text
            answers = await asyncio.to_thread(candidate, [line for _, line in heard]) if heard else ()
            for (sentence, line), after in zip(heard, answers, strict=True):
                run.add(line.text, {"sentiment": sentence.sentiment, "intent": sentence.intent}, after)
