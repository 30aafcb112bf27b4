"""What is said in a generated call: lines from a script, in an order that a call has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

SCRIPT: dict[str, Any] = yaml.load((Path(__file__).parent / "lines.yaml").read_text("utf-8"), yaml.CSafeLoader)
TASKS: dict[str, dict[str, Any]] = SCRIPT["tasks"]
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

CALLER, AGENT = "caller", "agent"
COMMON = {
    "greeting": (AGENT, "neutral", "greeting"),
    "hello": (CALLER, "neutral", "greeting"),
    "name": (CALLER, "neutral", "identification"),
    "apology": (AGENT, "neutral", "apology"),
    "hold": (AGENT, "neutral", "hold"),
    "warm": (AGENT, "positive", "offer_help"),
    "curt": (AGENT, "negative", "unknown"),
    "waiting": (CALLER, "negative", "complaint"),
    "pressing": (CALLER, "negative", "complaint"),
    "manager": (CALLER, "negative", "agent_request"),
    "following": (CALLER, "neutral", "confirmation"),
    "happy": (CALLER, "positive", "thanks"),
    "flat": (CALLER, "neutral", "confirmation"),
    "unhappy": (CALLER, "negative", "complaint"),
    "offer": (AGENT, "neutral", "offer_help"),
    "closing": (AGENT, "neutral", "closing"),
    "bye": (CALLER, "neutral", "closing"),
}
"""Who says the lines of a part, how they feel, and what they want."""
OF_TASK = {
    "ask": (AGENT, "neutral", "ask_details"),
    "details": (CALLER, "neutral", "give_details"),
    "work": (AGENT, "neutral", "hold"),
    "fix": (AGENT, "neutral", "resolution"),
}


@dataclass(frozen=True, slots=True)
class SampleLine:
    part: str
    role: str
    text: str
    sentiment: str
    intent: str
    aspects: str
    """`delivery,product`; of most lines none."""


@dataclass(frozen=True, slots=True)
class Temper:
    """How a call is going to feel."""

    heat: float
    """0..1: how likely the caller is upset."""
    warmth: float
    """-1..1: how the agent takes it."""


class SampleConversation:
    """Composes one call. The same random numbers give the same call."""

    def __init__(self, rng: Random, task: str, agent: str, customer: str, product: str = "") -> None:
        self._rng = rng
        self._task = task
        self._facts = {
            "agent": agent.split()[0],
            "name": customer,
            "product": product or rng.choice(SCRIPT["products"]),
            "order": str(rng.randint(100_000, 999_999)),
            "amount": str(rng.choice((12, 19, 25, 39, 49, 60, 85, 120, 180))),
            "city": rng.choice(SCRIPT["cities"]),
        }
        self.lines: list[SampleLine] = []

    def compose(self, temper: Temper, *, written: bool) -> list[SampleLine]:
        rng, chance = self._rng, self._chance
        upset = chance(temper.heat)
        if not written:
            self._say("greeting")
            if chance(0.5):
                self._say("hello")
        self._say("upset" if upset else "wish")
        if upset:
            if chance(0.4):
                self._say("waiting")
            self._say("curt" if chance(-temper.warmth) else "apology")
        if chance(0.4):
            self._say("name")
        won = not upset
        for turn in range(rng.choice((1, 2, 2, 3))):
            self._say("ask")
            self._say("details")
            if turn == 0 and not written and chance(0.6):
                self._say("hold")
            self._say("work")
            if upset and not won:
                won = chance(0.45 + 0.35 * temper.warmth)
            self._say("following" if won else "pressing")
        if upset and not won and chance(0.5 - 0.35 * temper.warmth):
            self._say("manager")
        solved = chance(0.92 if won else 0.5)
        if solved:
            self._say("fix")
        self._end(temper, won, solved)
        return self.lines

    def _end(self, temper: Temper, won: bool, solved: bool) -> None:
        if self._chance(0.7 * temper.warmth):
            self._say("warm")
        elif self._chance(-0.7 * temper.warmth):
            self._say("curt")
        if not solved or not won:
            self._say("unhappy" if self._chance(0.75) else "flat")
        else:
            self._say("happy" if self._chance(0.4 + 0.35 * temper.warmth) else "flat")
        self._say("offer")
        self._say("bye")
        self._say("closing")

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def _say(self, part: str) -> None:
        if part in COMMON:
            lines, (role, sentiment, intent) = SCRIPT["common"][part], COMMON[part]
        elif part in OF_TASK:
            lines, (role, sentiment, intent) = TASKS[self._task][part], OF_TASK[part]
        else:  # what the call is about, said calmly or not
            lines = TASKS[self._task][part]
            role, sentiment, intent = CALLER, "negative" if part == "upset" else "neutral", self._task
        line = self._rng.choice(lines)
        aspects, said = next(iter(line.items())) if isinstance(line, dict) else ("", line)
        text = said.format(**self._facts, day=self._rng.choice(DAYS))
        self.lines.append(SampleLine(part, role, text, sentiment, intent, aspects))
