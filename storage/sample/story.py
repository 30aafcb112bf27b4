"""How the generated weeks went: who worked, who called when, and why it felt as it did.

One agent gets better week by week, one tires, one is new and has few calls; in one week a product fails and many
call about it. The rest is the usual rhythm of days and weeks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from random import Random
from typing import Any

import yaml

from storage.sample.conversation import TASKS, Temper

PEOPLE: dict[str, Any] = yaml.load((Path(__file__).parent / "people.yaml").read_text("utf-8"), yaml.CSafeLoader)
CUSTOMERS = 60
CALLS_A_DAY = 30
WEEKDAYS = (1.25, 1.05, 1.0, 1.0, 0.95, 0.4, 0.15)
HOURS = {8: 3, 9: 7, 10: 9, 11: 8, 12: 5, 13: 5, 14: 8, 15: 9, 16: 7, 17: 5, 18: 3, 19: 2}
TASK_SHARES = {
    "order_status": 16, "delivery_problem": 10, "refund": 10, "price_stock": 8, "billing_dispute": 12, "payment": 10,
    "technical_problem": 13, "account_access": 8, "cancel": 7, "plan_change": 6,
}  # fmt: skip
BAD_WEEK = 3
"""The week, counted back from this one, in which the vacuum robots failed."""
BAD_PRODUCT, BAD_TASKS = "vacuum robot", ("delivery_problem", "technical_problem")
NEW_SINCE = 2
"""Weeks since the newest agent began."""


@dataclass(frozen=True, slots=True)
class SampleAgent:
    name: str
    display_name: str
    team: str
    site: str
    story: str


@dataclass(frozen=True, slots=True)
class SampleCustomer:
    id: str
    display_name: str
    media: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is going to be told."""

    id: str
    started_at: float
    medium: str
    task: str
    product: str
    agent: SampleAgent
    customer: SampleCustomer
    temper: Temper
    rng: Random


AGENTS = tuple(SampleAgent(*row) for row in PEOPLE["agents"])


def customers(seed: int) -> tuple[SampleCustomer, ...]:
    """Who calls. A few call often; one in three writes too."""
    rng = Random(f"{seed}/customers")
    names = rng.sample([f"{first} {last}" for first in PEOPLE["first"] for last in PEOPLE["last"]], CUSTOMERS)
    media = (("voice",), ("voice",), ("voice", "chat"), ("voice", "email"), ("voice", "chat", "email"), ("voice",))
    return tuple(
        SampleCustomer(f"NG-{1001 + number}", name, media[number % len(media)], 1 / (1 + number % 20) ** 0.5)
        for number, name in enumerate(names)
    )


def plan(now: datetime, weeks: int, seed: int) -> Iterator[PlannedCall]:
    """The calls of the weeks up to now, each day from random numbers of its own, so that a day stays as it is."""
    zone = now.tzinfo
    assert zone is not None
    everyone = customers(seed)
    for back in range(7 * weeks, -1, -1):
        yield from _day(now.date() - timedelta(days=back), back / 7, zone, everyone, seed)


def _day(
    day: date, weeks_ago: float, zone: tzinfo, everyone: tuple[SampleCustomer, ...], seed: int
) -> Iterator[PlannedCall]:
    rng = Random(f"{seed}/{day}")
    bad = int(weeks_ago) == BAD_WEEK
    count = round(CALLS_A_DAY * WEEKDAYS[day.weekday()] * rng.uniform(0.85, 1.15) * (1.6 if bad else 1))
    weights = [customer.weight for customer in everyone]
    for number in range(count):
        own = Random(f"{seed}/{day}/{number}")
        hour = own.choices(list(HOURS), list(HOURS.values()))[0]
        start = datetime(day.year, day.month, day.day, hour, own.randrange(60), own.randrange(60), tzinfo=zone)
        agent = _on_duty(own, weeks_ago)
        customer = own.choices(everyone, weights)[0]
        task = own.choices(list(TASK_SHARES), list(TASK_SHARES.values()))[0]
        failing = bad and own.random() < 0.55
        if failing:
            task = own.choice(BAD_TASKS)
        yield PlannedCall(
            id=f"sample-{day:%Y%m%d}-{number:02}",
            started_at=start.timestamp(),
            medium=own.choice(customer.media) if own.random() < 0.6 else "voice",
            task=task,
            product=BAD_PRODUCT if failing else "",
            agent=agent,
            customer=customer,
            temper=_temper(agent, weeks_ago, hour, failing),
            rng=own,
        )


def _on_duty(rng: Random, weeks_ago: float) -> SampleAgent:
    shares = [0 if a.story == "new" and weeks_ago > NEW_SINCE else 0.15 if a.story == "new" else 1 for a in AGENTS]
    return rng.choices(AGENTS, shares)[0]


def _temper(agent: SampleAgent, weeks_ago: float, hour: int, failing: bool) -> Temper:
    heat, warmth = 0.3, 0.3
    if agent.story == "improving":
        heat, warmth = 0.08 + 0.07 * weeks_ago, 0.85 - 0.17 * weeks_ago
    elif agent.story == "tiring":  # and more so in the afternoon
        heat, warmth = 0.62 - 0.06 * weeks_ago, -0.6 + 0.16 * weeks_ago - (0.3 if hour >= 15 else 0)
    elif agent.story == "warm":
        heat, warmth = 0.22, 0.75
    elif agent.story == "new":
        heat, warmth = 0.35, 0.2
    if failing:
        heat, warmth = heat + 0.55, warmth - 0.3
    return Temper(max(0.05, min(0.95, heat)), max(-0.9, min(0.9, warmth)))


def queue_of(task: str) -> str:
    return str(TASKS[task]["queue"])
