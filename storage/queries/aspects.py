"""What callers talk about, and how they feel then: product, service, support, brand, price and delivery.

A call counts once for each aspect that its caller spoke of, with the mean mood of those sentences, however many.
"""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import ColumnElement, String, func, select, type_coerce
from sqlmodel import Session

from storage.labels.effective import CALL, CALLER, SENTENCE, effective_side
from storage.queries.history import CallStatistics, Scope
from storage.queries.periods import Period
from storage.queries.statistics import MeasureSummary
from storage.viewer import Viewer
from tenor.taxonomy.aspects import CLASSIFIER, SEPARATOR, named


def by_aspect(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, CallStatistics]:
    """Calls and the mood of their callers by aspect, the most frequent first; of other measures nothing."""
    told = told_aspects().label("told")
    found = select(CALL.c.id, CALL.c.sample, told, func.count(), func.sum(SENTENCE.c.mood))
    found = found.select_from(SENTENCE).join(CALL, CALL.c.id == SENTENCE.c.call)
    found = found.where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at))
    found = found.where(told_aspects().is_not(None), effective_side() == CALLER)
    moods: dict[tuple[str, str], tuple[int, float, bool]] = {}
    for call, sample, aspects, count, mood in session.execute(found.group_by(CALL.c.id, CALL.c.sample, told)):
        for aspect in named(aspects):
            before = moods.get((aspect, call), (0, 0.0, sample))
            moods[aspect, call] = before[0] + count, before[1] + mood, sample
    by_name: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for (aspect, _), (count, mood, sample) in moods.items():
        by_name[aspect].append((mood / count, sample))
    summed = {name: _statistics(of_calls) for name, of_calls in by_name.items()}
    return dict(sorted(summed.items(), key=lambda item: (-item[1].calls, item[0])))


def told_aspects() -> ColumnElement[str]:
    """`delivery,product` of a sentence; NULL: nothing."""
    return type_coerce(SENTENCE.c.labels[CLASSIFIER].as_string(), String)


def has_aspect(aspect: str) -> ColumnElement[bool]:
    """Whether a sentence is about this, perhaps besides other things."""
    between = SEPARATOR + told_aspects() + SEPARATOR
    return between.contains(f"{SEPARATOR}{aspect}{SEPARATOR}", autoescape=True)


def _statistics(of_calls: list[tuple[float, bool]]) -> CallStatistics:
    moods = [mood for mood, _ in of_calls]
    measure = MeasureSummary(len(moods), sum(moods), sum(mood * mood for mood in moods), -1.0, 1.0)
    return CallStatistics(len(moods), sum(sample for _, sample in of_calls), {"mood_caller": measure})
