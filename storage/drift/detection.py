"""Whether a day differs from what was usual, and whether that is an alarm.

    |-- the first 28 days of a model: what is usual --|  ...  | day | day |
                                                                 |     |
                      p < .001 on two days running ............. p ... p
                      or p < .000001 of the last two days, or of the last seven, together

Data are compared with the first days of the same model, since another model gives other answers to the same words.
Live accuracy has few labels a day, so it is that of the last four weeks; it is compared with what the gate measured
when it let the model pass.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlmodel import Session, col

from storage.drift.measures import ACCURACY, ANSWERS, Measure, kind_of, side_of
from storage.drift.ratios import Baseline, Comparison, RatioSums, added, compare, compare_with, holm
from storage.tables import DriftSum, DriftTest, Gate

ALARM_P = 0.001
"""So improbable a difference, two days running, is an alarm;"""
TOGETHER_P = ALARM_P**2
"""and so is one that is as improbable as both of these, of the days of a window together."""
WINDOWS = (2, 7)
"""Days: what is sudden shows in few, what is small in many,"""
RECENT_DAYS = 2 * max(WINDOWS)
"""of the last that had calls, at most so long ago."""
USUAL_DAYS, FEWEST_DAYS = 28, 7
"""Days of a model with which others are compared: the first ones that had calls; with fewer nothing is compared."""
APART_DAYS = 7
"""Of a young model, days so close are not compared: what has just begun would soon be usual."""
LABEL_DAYS = 28
"""Days whose labels make up live accuracy."""
RUNNING_DAYS = 4
"""The day before, where nobody works on some days: at most so long ago."""
LATEST = "9999"
"""After every day."""
FEWEST = 10.0
"""A label that occurs less often, on both sides together, is not compared."""


class DriftFigure(NamedTuple):
    """What a test is about."""

    scope: str
    name: str
    measure: str
    value: str
    model: str


class GateAccuracy(NamedTuple):
    """What the gate measured of a model, on its hold-out."""

    share: float
    error: float


Gates = Mapping[tuple[str, str], GateAccuracy]
"""By model (NAME-N) and kind of answer."""


class DayHistory:
    """The sums of some days."""

    def __init__(self, sums: Iterable[tuple[str, DriftFigure, RatioSums]]) -> None:
        """Of each day and figure."""
        self._sums: dict[DriftFigure, dict[str, RatioSums]] = defaultdict(dict)
        self._wholes: dict[DriftFigure, dict[str, RatioSums]] = defaultdict(dict)
        """By what they are of, without the label."""
        self._calls: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._usual: dict[DriftFigure, Baseline] = {}
        self._series: dict[DriftFigure, tuple[list[str], list[RatioSums]]] = {}
        for day, figure, own in sums:
            self._sums[figure][day] = own
            if figure.measure in ANSWERS:
                whole = RatioSums(own.calls, 0.0, own.whole, 0.0, 0.0, own.whole_squares)
                self._wholes[figure._replace(value="")][day] = whole
                if figure.scope == "house":
                    self._calls[day, figure.measure][figure.model] = own.calls

    def figures(self, day: str) -> list[DriftFigure]:
        """All that were ever measured of the models that answered most calls of the day."""
        calls = {answer: self._calls.get((day, answer), {}) for answer in ANSWERS}
        main = {answer: max(own, key=lambda model: (own[model], model)) for answer, own in calls.items() if own}
        return [
            figure
            for figure in self._sums
            if figure.measure == "confidence" or figure.model == main.get(_answer(figure))
        ]

    def days(self, figure: DriftFigure, first: str = "", last: str = LATEST) -> tuple[list[str], list[RatioSums]]:
        """The days on which it was measured, and its sums, oldest first. A label that nobody used on a day is none of
        the whole."""
        if figure not in self._series:
            own, wholes = self._sums[figure], self._wholes.get(figure._replace(value=""), {})
            days = sorted({*own, *wholes})
            self._series[figure] = days, [own.get(day) or wholes[day] for day in days]
        days, sums = self._series[figure]
        wanted = slice(bisect_left(days, first), bisect_right(days, last))
        return days[wanted], sums[wanted]

    def usual(self, figure: DriftFigure, last: str) -> Baseline | None:
        """Its first days, until the last; None: there are too few."""
        known = self._usual.get(figure)
        if known is None or known.days < USUAL_DAYS:
            days = self.days(figure, last=last)[1][:USUAL_DAYS]
            if len(days) < FEWEST_DAYS:
                return None
            known = self._usual[figure] = Baseline.of(days)
        return known


def _answer(figure: DriftFigure) -> Measure:
    """The kind of answer that it is about; what is about none belongs to the model of sentiments."""
    return next((one for one in ANSWERS if one in (figure.measure, figure.value)), ANSWERS[0])


class FigureTest(NamedTuple):
    """What came of one figure, before it is known how many were tested."""

    against: str
    calls: int
    day: Comparison
    windows: tuple[float, ...] = ()
    """Probabilities of the days of each window together."""


def examine_day(
    history: DayHistory, day: str, gates: Gates, before: Mapping[DriftFigure, DriftTest]
) -> list[DriftTest]:
    """Every test of one day. `before`: the newest earlier test of each figure."""
    found: dict[DriftFigure, FigureTest] = {}
    for figure in history.figures(day):
        tested = _accuracy(history, figure, day, gates) if figure.measure == ACCURACY else _data(history, figure, day)
        if tested is not None:
            found[figure] = tested
    corrected = _corrected({figure: one.day.p for figure, one in found.items()})
    windows = [
        _corrected({figure: one.windows[at] for figure, one in found.items() if one.windows})
        for at in range(len(WINDOWS))
    ]
    made = []
    for figure, one in found.items():
        together = min((own[figure] for own in windows if figure in own), default=1.0)
        running = corrected[figure] < ALARM_P and _was_certain(before.get(figure), day, one.day)
        made.append(
            DriftTest(
                day=day, kind=kind_of(figure.measure), scope=figure.scope, name=figure.name, measure=figure.measure,
                value=figure.value, model=figure.model, against=one.against, calls=one.calls, now=one.day.now,
                before=one.day.before, error=one.day.error, p=one.day.p, corrected=corrected[figure],
                together=together, alarm=running or together < TOGETHER_P, at=time.time(),
            )
        )  # fmt: skip
    return made


def _corrected(values: Mapping[DriftFigure, float]) -> dict[DriftFigure, float]:
    """Among all labels and groups for which one measure was tested."""
    families: dict[tuple[str, str], dict[DriftFigure, float]] = defaultdict(dict)
    for figure, p in values.items():
        families[figure.scope, figure.measure][figure] = p
    return {figure: p for family in families.values() for figure, p in holm(family).items()}


def _data(history: DayHistory, figure: DriftFigure, day: str) -> FigureTest | None:
    days, now = history.days(figure, _shifted(day, -RECENT_DAYS), day)
    usual = history.usual(figure, _shifted(day, -APART_DAYS))
    if usual is None or not days or days[-1] != day or now[-1].part + usual.sums.part < FEWEST:
        return None
    side = side_of(figure.measure)
    found = compare(now[-1:], usual, side)
    if found is None:
        return None
    windows = (compare(now[-length:], usual, side) for length in WINDOWS)
    return FigureTest("days", now[-1].calls, found, tuple(one.p if one else 1.0 for one in windows))


def _accuracy(history: DayHistory, figure: DriftFigure, day: str, gates: Gates) -> FigureTest | None:
    """With what the gate measured; of a model that no gate has measured, with its first days."""
    first = _shifted(day, 1 - LABEL_DAYS)
    _, now = history.days(figure, first, day)
    calls, side = added(now).calls, side_of(figure.measure)
    gate = gates.get((figure.model.partition("@")[0], figure.value))
    if gate is not None:
        found = compare_with(added(now), gate.share, gate.error, side)
        return None if found is None else FigureTest("gate", calls, found)
    usual = history.usual(figure, _shifted(first, -1))
    found = compare(now, usual, side) if now and usual else None
    return None if found is None else FigureTest("days", calls, found)


def _was_certain(before: DriftTest | None, day: str, now: Comparison) -> bool:
    if before is None or before.corrected >= ALARM_P or before.day < _shifted(day, -RUNNING_DAYS):
        return False
    return (before.now > before.before) == (now.now > now.before)


def examined(session: Session, days: Sequence[str]) -> list[DriftTest]:
    """Of days in their order. Reads what is kept; writes nothing."""
    if not days:
        return []
    rows = session.scalars(select(DriftSum).where(col(DriftSum.day).in_(_needed(session, days))))
    history = DayHistory((row.day, figure_of(row), sums_of(row)) for row in rows)
    gates = gate_accuracies(session)
    before = _earlier_tests(session, days[0])
    made: list[DriftTest] = []
    for day in days:
        own = examine_day(history, day, gates, before)
        before |= {figure_of(one): one for one in own}
        made += own
    return made


def gate_accuracies(session: Session) -> dict[tuple[str, str], GateAccuracy]:
    """Of each model the newest figures, be they of it as a candidate or as the model in force."""
    found: dict[tuple[str, str], GateAccuracy] = {}
    for gate in session.scalars(select(Gate).order_by(col(Gate.at), col(Gate.id))):
        for answer, both in gate.figures.get("accuracy", {}).items():
            for model, side in ((gate.against, "champion"), (gate.model, "candidate")):
                found[model, answer] = GateAccuracy(both[side]["share"], both[side]["error"])
    return found


def figure_of(row: DriftSum | DriftTest) -> DriftFigure:
    return DriftFigure(row.scope, row.name, row.measure, row.value, row.model)


def sums_of(row: DriftSum) -> RatioSums:
    return RatioSums(row.calls, row.part, row.whole, row.part_squares, row.products, row.whole_squares)


def _needed(session: Session, days: Sequence[str]) -> set[str]:
    """The days themselves, the first days of every model that answered on them, and those of the newest labels."""
    house = select(col(DriftSum.model), col(DriftSum.day)).where(col(DriftSum.scope) == "house").distinct()
    of_model: dict[str, list[str]] = defaultdict(list)
    for model, day in session.execute(house.order_by(col(DriftSum.day))):
        of_model[model].append(day)
    first, wanted = _shifted(days[0], 1 - LABEL_DAYS), set(days)
    for known in of_model.values():
        if wanted & set(known):
            wanted |= set(known[: 2 * USUAL_DAYS]) | {day for day in known if first <= day <= days[-1]}
    return wanted


def _earlier_tests(session: Session, day: str) -> dict[DriftFigure, DriftTest]:
    earlier = select(DriftTest).where(col(DriftTest.day) < day, col(DriftTest.day) >= _shifted(day, -RUNNING_DAYS))
    found = session.scalars(earlier.order_by(col(DriftTest.day)))
    return {figure_of(one): one for one in found}


def _shifted(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
