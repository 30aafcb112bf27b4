"""What every measure came to on a day: each call counts once, for the house, for its queue and for its site."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from storage.archive.days import FINISHED, bounds, day_of
from storage.drift.measures import ACCURACY, ANSWERS, SCOPES, Measure, Scope
from storage.drift.ratios import RatioSums
from storage.drift.vocabulary import Vocabulary
from storage.labels.trust.checks import trusted_labels
from storage.tables import Call, DriftSum, Sentence

CALL = Call.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
MOST_GROUPS = 100
"""Queues, or sites, of a day that are measured: the busiest."""
OTHER = "other"
"""Language of a sentence that the models do not know; their answers mean nothing."""
PIECE = 500
"""Sentences that are asked for at a time."""


class Figure(NamedTuple):
    """What a whole is of, of which labels are parts."""

    measure: Measure
    model: str
    answer: str = ""
    """The kind of answer, where the measure is of answers and not of labels."""


Parts = dict[str, float]
"""Of each label its part of the whole; of what has no labels one part without a name."""
Figures = dict[Figure, tuple[float, Parts]]
"""Of one call: each whole, and its parts."""


class DaySums:
    """The sums of one day."""

    def __init__(self) -> None:
        self._whole: dict[tuple[Scope, str, Figure, str], RatioSums] = {}
        self._common: dict[tuple[Scope, str, Figure], RatioSums] = defaultdict(RatioSums)
        self._calls: dict[Scope, Counter[str]] = {scope: Counter() for scope in SCOPES}

    def add_call(self, queue: str, site: str, figures: Figures) -> None:
        groups: tuple[tuple[Scope, str], ...] = (("house", ""), ("queue", queue), ("site", site))
        for scope, name in groups:
            if scope != "house" and not name:
                continue
            self._calls[scope][name] += 1
            for figure, (whole, parts) in figures.items():
                self._common[scope, name, figure] += RatioSums.of_call(0.0, whole)
                for value, part in parts.items():
                    key = (scope, name, figure, value)
                    known = self._whole.get(key, RatioSums())
                    self._whole[key] = known + RatioSums(0, part, 0.0, part * part, part * whole, 0.0)

    def rows(self, day: str) -> Iterator[DriftSum]:
        """Of calls that had nothing of a value the whole counts, too."""
        busiest = {scope: {name for name, _ in calls.most_common(MOST_GROUPS)} for scope, calls in self._calls.items()}
        for (scope, name, figure, value), own in self._whole.items():
            if name in busiest[scope]:
                sums = own + self._common[scope, name, figure]
                yield DriftSum(
                    day=day, scope=scope, name=name, measure=figure.measure, value=figure.answer or value,
                    model=figure.model, **asdict(sums),
                )  # fmt: skip


def sums_of_day(session: Session, day: str, vocabulary: Vocabulary) -> list[DriftSum]:
    """Everything but accuracy, over the finished calls that began on that day."""
    start, end = bounds(day)
    columns = (
        *(SENTENCE.c.call, CALL.c.queue, CALL.c.site, SENTENCE.c.text, SENTENCE.c.language, SENTENCE.c.models),
        *(SENTENCE.c.sentiment, SENTENCE.c.sentiment_scores, SENTENCE.c.intent, SENTENCE.c.intent_score),
        *(SENTENCE.c.novelty, SENTENCE.c.confidence),
    )
    found = select(*columns).join(CALL, CALL.c.id == SENTENCE.c.call).where(CALL.c.state.in_(FINISHED))
    found = found.where(CALL.c.started_at >= start, CALL.c.started_at < end).order_by(SENTENCE.c.call)
    sums = DaySums()
    rows = session.execute(found.execution_options(yield_per=PIECE))
    for _, said in groupby(rows, key=lambda row: row.call):
        sentences = list(said)
        sums.add_call(sentences[0].queue, sentences[0].site, _figures(sentences, vocabulary))
    return list(sums.rows(day))


def sums_of_accuracy(session: Session, experts: Collection[str]) -> list[DriftSum]:
    """Live accuracy of every day, by all labels that models can be measured with: random sentences on which two people
    agree, or of which an expert says what they are."""
    settled = {
        (label.item, kind): label.value
        for kind in ANSWERS
        for label in trusted_labels(session, kind, experts)
        if label.settled and not label.is_turn
    }
    days: dict[str, DaySums] = defaultdict(DaySums)
    rows = sorted(_labelled(session, {item for item, _ in settled}), key=lambda row: row.call)
    for _, said in groupby(rows, key=lambda row: row.call):
        sentences = list(said)
        figures: Figures = {}
        for row in sentences:
            for kind in ANSWERS:
                if (row.id, kind) in settled:
                    right = float(settled[row.id, kind] == getattr(row, kind))
                    _count(figures, Figure(ACCURACY, row.models.get(kind, ""), kind), part=right)
        first = sentences[0]
        days[day_of(first.started_at)].add_call(first.queue, first.site, figures)
    return [row for day, sums in days.items() for row in sums.rows(day)]


def _labelled(session: Session, items: Collection[str]) -> Iterator[Any]:
    columns = (SENTENCE.c.id, SENTENCE.c.call, SENTENCE.c.sentiment, SENTENCE.c.intent, SENTENCE.c.models)
    found = select(*columns, CALL.c.queue, CALL.c.site, CALL.c.started_at).join(CALL, CALL.c.id == SENTENCE.c.call)
    ordered = sorted(items)
    for first in range(0, len(ordered), PIECE):
        yield from session.execute(found.where(SENTENCE.c.id.in_(ordered[first : first + PIECE])))


def _figures(sentences: Iterable[Any], vocabulary: Vocabulary) -> Figures:
    """Of one call."""
    figures: Figures = {}
    for row in sentences:
        model = row.models.get("sentiment", "")
        _count(figures, Figure("foreign", model), part=float(row.language == OTHER))
        if row.language == OTHER:
            continue
        _count(figures, Figure("sentiment", model), row.sentiment)
        sure = row.sentiment_scores.get(row.sentiment, 0.0)
        _count(figures, Figure("expected", model, "sentiment"), part=sure)
        own = row.models.get("intent", "")
        _count(figures, Figure("intent", own), row.intent)
        _count(figures, Figure("expected", own, "intent"), part=row.intent_score)
        unknown, words = vocabulary.unknown(row.text, model)
        if words:
            _count(figures, Figure("unknown words", model), part=unknown, whole=words)
        if row.novelty is not None:
            _count(figures, Figure("novelty", model), part=row.novelty)
        if row.confidence is not None:
            _count(figures, Figure("confidence", row.models.get("speech", "")), part=row.confidence)
    return figures


def _count(figures: Figures, figure: Figure, label: str = "", part: float = 1.0, whole: float = 1.0) -> None:
    known, parts = figures.get(figure, (0.0, {}))
    parts[label] = parts.get(label, 0.0) + part
    figures[figure] = known + whole, parts
