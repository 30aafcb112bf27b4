"""Made-up days, to see how often drift is told where there is none, and how soon where there is some.

Calls differ in mood and in what they are about, and sentences of a call are alike. A house has queues of different
sizes and two sites. The sums are those that real days are kept as, and they are examined as real days are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from storage.drift.detection import USUAL_DAYS, DayHistory, DriftFigure, examine_day, figure_of
from storage.drift.ratios import RatioSums
from storage.tables import DriftTest

SENTENCES_PER_CALL = 15
ALIKE = 0.05
"""Intraclass correlation of sentences of one call. In telephone calls of a bank, answered by the model that ships, it
was 0.06 for the most frequent intent, and less for the others and for sentiments."""
SENTIMENTS = {"negative": 0.10, "neutral": 0.70, "positive": 0.20}
INTENTS = {f"intent {number}": 1 / (number + 2) for number in range(20)}
"""Few frequent ones and many rare ones, before they are made to add up to one."""
QUEUES = {"billing": 0.5, "orders": 0.3, "returns": 0.15, "other": 0.05}
SITES = {"north": 0.6, "south": 0.4}
FIRST = date(2026, 1, 1)
MODEL = "simulated-1"
Array = NDArray[np.float64]


def history(
    days: int, sentences: int, seed: int, *, negative: float = SENTIMENTS["negative"], whole_house: bool = False
) -> DayHistory:
    """Four weeks as usual, then `days` with another share of negative sentences. `whole_house`: every queue, site and
    measure, in place of the house's sentiments alone."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str, DriftFigure, RatioSums]] = []
    for number in range(USUAL_DAYS + days):
        share = negative if number >= USUAL_DAYS else SENTIMENTS["negative"]
        rows += _day(_name(number), _with_negative(share), sentences, random, whole_house=whole_house)
    return DayHistory(rows)


def alarms(made: DayHistory, days: int) -> Iterator[tuple[int, list[DriftTest]]]:
    """Of each day after the usual ones, counted from 1, the alarms that were none on the day before."""
    before: dict[DriftFigure, DriftTest] = {}
    for number in range(days):
        tests = examine_day(made, _name(USUAL_DAYS + number), {}, before)
        now = {figure_of(one): one for one in tests}
        yield number + 1, [one for key, one in now.items() if one.alarm and not (key in before and before[key].alarm)]
        before |= now


def days_until_told(days: int, sentences: int, seed: int, negative: float) -> int | None:
    """After how many days the change is told; None: not at all."""
    made = history(days, sentences, seed, negative=negative)
    return next((day for day, new in alarms(made, days) if any(one.value == "negative" for one in new)), None)


def false_alarms(days: int, sentences: int, seed: int) -> int:
    """How many there are where nothing changes, over every queue, site and measure. What begins on one day is one."""
    made = history(days, sentences, seed, whole_house=True)
    return sum(bool(new) for _, new in alarms(made, days))


def _day(
    day: str, sentiments: Sequence[float], sentences: int, random: np.random.Generator, *, whole_house: bool
) -> Iterator[tuple[str, DriftFigure, RatioSums]]:
    calls = max(1, sentences // SENTENCES_PER_CALL)
    sizes = 1 + random.poisson(SENTENCES_PER_CALL - 1, calls)
    whole = sizes.astype(float)
    everybody = np.ones(calls, bool)
    parts: dict[tuple[str, str], Array] = _labels("sentiment", list(SENTIMENTS), sentiments, sizes, random)
    groups: dict[tuple[str, str], NDArray[np.bool_]] = {("house", ""): everybody}
    if whole_house:
        total = sum(INTENTS.values())
        parts |= _labels("intent", list(INTENTS), [share / total for share in INTENTS.values()], sizes, random)
        for answer in ("sentiment", "intent"):
            sure = np.clip(random.normal(0.85, 0.05, calls) + random.normal(0, 0.12, calls) / np.sqrt(sizes), 0, 1)
            parts["expected", answer] = sure * sizes
        parts["unknown words", ""] = random.binomial(sizes, random.beta(2, 98, calls)).astype(float)
        for scope, shares in (("queue", QUEUES), ("site", SITES)):
            drawn = random.choice(len(shares), calls, p=list(shares.values()))
            groups |= {(scope, name): drawn == at for at, name in enumerate(shares)}
    for (scope, name), own in groups.items():
        for (measure, value), part in parts.items():
            x, n = part[own], whole[own]
            sums = (float(one) for one in (x.sum(), n.sum(), x @ x, x @ n, n @ n))
            yield day, DriftFigure(scope, name, measure, value, MODEL), RatioSums(len(x), *sums)


def _labels(
    measure: str, names: Sequence[str], shares: Sequence[float], sizes: NDArray[np.int64], random: np.random.Generator
) -> dict[tuple[str, str], Array]:
    """How many sentences of each call have each label."""
    moods = random.dirichlet((1 / ALIKE - 1) * np.array(shares), len(sizes))
    said = random.multinomial(sizes, moods).astype(float)
    return {(measure, name): said[:, at] for at, name in enumerate(names)}


def _with_negative(share: float) -> list[float]:
    rest = (1 - share) / (1 - SENTIMENTS["negative"])
    return [share, *(rest * usual for name, usual in SENTIMENTS.items() if name != "negative")]


def _name(number: int) -> str:
    return (FIRST + timedelta(days=number)).isoformat()
