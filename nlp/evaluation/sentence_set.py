"""How often a model is right about sentences that people labelled: a set of one's own, one sentence per line.

    {"text", "sentiment", "intent", "also": [], "role", "before", "medium", "tags": [], "call"}

`text` and one of `sentiment` and `intent` are needed. `also` are intents that would do as well; `role` and `before` are
told to the model; by `role`, `medium` and each of `tags` the figures are told apart. Sentences of one `call` resemble
each other, so the intervals come from drawing whole calls; where none is named, every sentence is one of its own.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from nlp.evaluation.agreement import ConfusionCounts, Estimate
from nlp.inference.types import Backend, SentenceAnalysis, SentenceContext
from tenor.errors import BadInput
from tenor.taxonomy.intents import UNKNOWN

LUMPS = 1000
"""More calls than this are drawn together in so many lumps: as certain, and the draws fit into memory."""
LARGEST_BYTES = 256 << 20
BATCH = 256
TOLD, NO_ROLE, NOTHING = "role and before", "before", "nothing"
"""What the model is told beside the text."""
_RIGHT, _WRONG = "right", "wrong"


class LabelledSentence(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    sentiment: str | None = None
    intent: str | None = None
    also: tuple[str, ...] = ()
    role: Literal["caller", "agent", ""] = ""
    before: str | None = None
    medium: str = ""
    tags: tuple[str, ...] = ()
    call: str = ""

    @property
    def accepted(self) -> tuple[str, ...]:
        return (self.intent, *self.also) if self.intent else ()


@dataclass(frozen=True, slots=True)
class LineFault:
    line: int
    error: str


def read_sentences(path: Path) -> tuple[list[LabelledSentence], list[LineFault]]:
    """From JSON lines or CSV with these columns (lists separated by ";"), compressed or not. A line that is wrong is
    told, and the others are read."""
    found: list[LabelledSentence] = []
    faults: list[LineFault] = []
    for number, read in _lines(path):
        try:
            row = read()
            if not row.text.strip():
                raise ValueError("`text` is empty")
            if not row.sentiment and not row.intent:
                raise ValueError("it has neither `sentiment` nor `intent`")
            found.append(row)
        except (ValueError, msgspec.MsgspecError) as error:  # UnicodeDecodeError is a ValueError
            faults.append(LineFault(number, "not UTF-8 text" if isinstance(error, UnicodeError) else str(error)))
    if not found:
        why = f", line {faults[0].line}: {faults[0].error}" if faults else " holds no sentences"
        raise BadInput(f"{path}{why}", 'lines of {"text", "sentiment", "intent"}, or CSV with these columns')
    return found, faults


def _lines(path: Path) -> Iterator[tuple[int, Callable[[], LabelledSentence]]]:
    content = _content(path)
    if path.name.removesuffix(".gz").endswith(".csv"):
        try:
            table = csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
            rows = list(enumerate(table, 2))
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadInput(f"{path} is no CSV in UTF-8: {error}") from None
        for number, row in rows:
            yield number, lambda row=row: _from_columns(row)  # type: ignore[misc]
        return
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield number, lambda line=line: msgspec.json.decode(line, type=LabelledSentence)  # type: ignore[misc]


def _content(path: Path) -> bytes:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    if len(content) > LARGEST_BYTES:
        raise BadInput(f"{path} is larger than {LARGEST_BYTES >> 20} MB", "measure with a part of it")
    return content


def _from_columns(row: dict[str, Any]) -> LabelledSentence:
    known = {name: value for name, value in row.items() if name in LabelledSentence.__struct_fields__ and value}
    lists = {name: [one.strip() for one in known[name].split(";")] for name in ("also", "tags") if name in known}
    return msgspec.convert(known | lists, LabelledSentence)


@dataclass(frozen=True, slots=True)
class Answered:
    """A sentence and what the model said of it."""

    wanted: LabelledSentence
    got: SentenceAnalysis

    @property
    def intent_right(self) -> bool:
        return self.got.intent in self.wanted.accepted

    @property
    def wrong_by(self) -> float:
        """How much more likely than the right answer the model found a wrong one; 0 where it is right in everything."""
        wanted, got = self.wanted, self.got
        sentiment = intent = 0.0
        if wanted.sentiment and got.sentiment != wanted.sentiment:
            scores = got.sentiment_scores
            sentiment = scores.get(got.sentiment, 0.0) - scores.get(wanted.sentiment, 0.0)
        if wanted.intent and not self.intent_right:
            best = max(got.intent_scores.get(name, 0.0) for name in wanted.accepted)
            intent = max(got.intent_score - best, 0.0)
        return max(sentiment, intent)

    def document(self) -> dict[str, Any]:
        told = {name: value for name, value in msgspec.to_builtins(self.wanted).items() if value}
        scores = {"sentiment_score": round(self.got.sentiment_scores.get(self.got.sentiment, 0.0), 4)}
        return told | {
            "got": {
                "sentiment": self.got.sentiment, **scores,
                "intent": self.got.intent, "intent_score": round(self.got.intent_score, 4),
            },
            "wrong_by": round(self.wrong_by, 4),
        }  # fmt: skip


@dataclass(frozen=True)
class GroupFigures:
    """Of some sentences of a set."""

    name: str
    sentences: int
    figures: dict[str, Estimate]

    @classmethod
    def of(cls, name: str, answered: Sequence[Answered], labels: frozenset[str]) -> GroupFigures:
        """`labels`: the sentiments of the whole set. Where some are never meant, a mean over labels says nothing."""
        figures: dict[str, Estimate] = {}
        felt = [one for one in answered if one.wanted.sentiment]
        if felt:
            estimates = _counts(felt, lambda one: (str(one.wanted.sentiment), one.got.sentiment)).estimates()
            if labels == {one.wanted.sentiment for one in felt}:
                figures["sentiment macro-F1"] = estimates["macro-F1"]
            figures["sentiment accuracy"] = estimates["accuracy"]
        meant = [one for one in answered if one.wanted.intent]
        if meant:
            given = [one for one in meant if one.got.intent != UNKNOWN]
            figures |= {
                "intent accuracy": _share_of(meant, lambda one: one.intent_right),
                "answered with an intent": _share_of(meant, lambda one: one.got.intent != UNKNOWN),
            }
            if given:
                figures["right of those answered"] = _share_of(given, lambda one: one.intent_right)
        return cls(name, len(answered), figures)

    def document(self) -> dict[str, Any]:
        plain = {name: estimate.plain() for name, estimate in self.figures.items()}
        return {"name": self.name, "sentences": self.sentences, "figures": plain}


def _share_of(answered: Sequence[Answered], holds: Callable[[Answered], bool]) -> Estimate:
    """How many of them it holds for."""
    return _counts(answered, lambda one: (_RIGHT, _RIGHT if holds(one) else _WRONG)).estimates()["accuracy"]


def _counts(answered: Sequence[Answered], pair: Callable[[Answered], tuple[str, str]]) -> ConfusionCounts:
    calls: dict[str, list[tuple[str, str]]] = {}
    for number, one in enumerate(answered):
        calls.setdefault(one.wanted.call or f"sentence {number}", []).append(pair(one))
    lumps: dict[str, list[tuple[str, str]]] = {}
    for number, pairs in enumerate(calls.values()):
        lumps.setdefault(str(number % LUMPS), []).extend(pairs)
    labels = sorted({label for pairs in lumps.values() for each in pairs for label in each})
    return ConfusionCounts.of(labels, dict.fromkeys(labels, 0.0), lumps)


@dataclass(frozen=True)
class SentenceSetReport:
    models: dict[str, str]
    told: list[GroupFigures]
    """All sentences, by how much the model is told of them."""
    groups: dict[str, list[GroupFigures]]
    """By role, medium and tag, with everything told."""
    answered: Sequence[Answered]
    """The worst first, then those that are right."""
    confusion: ConfusionCounts | None
    """Of sentiments."""
    strange: dict[str, int]
    """Labels of the set that the model does not have, and how often."""

    def document(self, worst: int) -> dict[str, Any]:
        return {
            "sentences": len(self.answered),
            "models": self.models,
            "told": [one.document() for one in self.told],
            "by": {kind: [one.document() for one in groups] for kind, groups in self.groups.items()},
            "confusion": None if self.confusion is None else {
                "labels": list(self.confusion.labels), "counts": self.confusion.matrix.astype(int).tolist()
            },
            "unknown_labels": self.strange,
            "worst": [one.document() for one in self.wrong[:worst]],
        }  # fmt: skip

    @property
    def wrong(self) -> list[Answered]:
        return [one for one in self.answered if one.wrong_by > 0]


def measure(
    backend: Backend, rows: Sequence[LabelledSentence], on_done: Callable[[int, int], None] = lambda done, total: None
) -> SentenceSetReport:
    """Ask about every sentence with all that is known of it and, where that differs, with less. `on_done` hears of how
    many questions how many are answered."""
    ways = {TOLD: [SentenceContext(row.role, row.before) for row in rows]}
    if any(row.role for row in rows):
        ways[NO_ROLE] = [SentenceContext("", row.before) for row in rows]
    if any(row.before for row in rows) or any(row.role for row in rows):
        ways[NOTHING] = [SentenceContext() for _ in rows]
    else:
        ways = {NOTHING: ways[TOLD]}
    asked: dict[str, list[Answered]] = {}
    for number, (way, contexts) in enumerate(ways.items()):
        answered: list[Answered] = []
        for done, found in _asked(backend, rows, contexts):
            answered += found
            on_done(number * len(rows) + done, len(ways) * len(rows))
        asked[way] = answered
    best = next(iter(asked.values()))
    labels = frozenset(row.sentiment for row in rows if row.sentiment)
    by_kind = {
        "role": _grouped(best, lambda one: [one.wanted.role]),
        "medium": _grouped(best, lambda one: [one.wanted.medium]),
        "tag": _grouped(best, lambda one: one.wanted.tags),
    }
    groups = {
        kind: [GroupFigures.of(name, members, labels) for name, members in found] for kind, found in by_kind.items()
    }
    felt = [one for one in best if one.wanted.sentiment]
    return SentenceSetReport(
        models=dict(best[0].got.models),
        told=[GroupFigures.of(way, answered, labels) for way, answered in asked.items()],
        groups={kind: found for kind, found in groups.items() if found},
        answered=sorted(best, key=lambda one: -one.wrong_by),
        confusion=_counts(felt, lambda one: (str(one.wanted.sentiment), one.got.sentiment)) if felt else None,
        strange=_strange(best),
    )


def _asked(
    backend: Backend, rows: Sequence[LabelledSentence], contexts: Sequence[SentenceContext]
) -> Iterator[tuple[int, list[Answered]]]:
    """Batch by batch, with how many are done."""
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH]
        answers = backend.analyze([row.text for row in part], contexts[first : first + BATCH])
        yield first + len(part), [Answered(row, answer) for row, answer in zip(part, answers, strict=True)]


def _grouped(
    answered: Sequence[Answered], names_of: Callable[[Answered], Iterable[str]]
) -> list[tuple[str, list[Answered]]]:
    """The largest first."""
    members: dict[str, list[Answered]] = {}
    for one in answered:
        for name in filter(None, dict.fromkeys(names_of(one))):
            members.setdefault(name, []).append(one)
    return sorted(members.items(), key=lambda item: -len(item[1]))


def _strange(answered: Sequence[Answered]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in answered:
        known = {*one.got.intent_scores, UNKNOWN}
        if one.wanted.sentiment and one.wanted.sentiment not in one.got.sentiment_scores:
            counts[one.wanted.sentiment] = counts.get(one.wanted.sentiment, 0) + 1
        if one.wanted.intent and one.got.intent_scores and not known.intersection(one.wanted.accepted):
            counts[one.wanted.intent] = counts.get(one.wanted.intent, 0) + 1
    return counts
