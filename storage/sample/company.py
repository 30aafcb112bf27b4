"""A made-up company with a language of its own, to learn from: calls of a month, and what its reviewers say they want.

`tenor learn --sample` adds it. Every sentence is said once only, drawn at random for review, and labelled by two of the
reviewers, who err now and then; where they differ, a third one looks. A quarter of the customers are such as splits
hold out (elsewhere it is a tenth), so that few calls are enough to measure with.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from sqlalchemy import select, text

from storage.datasets.splits import group_of, is_held_out
from storage.db.engine import Database
from storage.sample.rows import ROLES, Row, call_metrics, stage_times
from storage.sample.tables import insert, insert_people, table_of
from storage.tables import Call, Label, Sentence

COMPANY: dict[str, Any] = yaml.load((Path(__file__).parent / "company.yaml").read_text("utf-8"), yaml.CSafeLoader)
SITE: str = COMPANY["site"]
CALLS, DAYS, SEED = 400, 28, 14
HELD_OUT_OF = 4
"""Every fourth customer is one whom splits hold out."""
REVIEWED = 0.95
"""Share of the sentences that were drawn for review,"""
ERRS = 0.02
"""and of the answers of each reviewer that are wrong."""
TRIES = 50
DAY_S = 86_400
_WORD = re.compile(r"\{(\w+)\}")


class CompanyLine(NamedTuple):
    role: str
    text: str
    intent: str


class SampleAnswer(NamedTuple):
    """What the model in force says of a line."""

    sentiment: str
    sentiment_scores: dict[str, float]
    mood: float
    intent: str
    intent_score: float
    models: dict[str, str]


Understand = Callable[[Sequence[Sequence[CompanyLine]]], Sequence[Sequence[SampleAnswer]]]
"""Answers to all lines of all calls; storage runs no model."""


def add_company(
    database: Database, understand: Understand, *, calls: int = CALLS, now: float | None = None, seed: int = SEED
) -> int:
    """Write its calls up to now, unless they are there; how many are new."""
    now = time.time() if now is None else now
    with database.session() as session:
        known = set(session.scalars(select(table_of(Call).c.id).where(table_of(Call).c.site == SITE)))
    planned = [call for call in plan(calls, now, seed) if call.id not in known]
    if not planned:
        return 0
    answers = understand([call.lines for call in planned])
    rows: dict[str, list[Row]] = defaultdict(list)
    for call, answered in zip(planned, answers, strict=True):
        for table, own in call_rows(call, answered).items():
            rows[table] += own
    with database.begin() as session:
        connection = session.connection()
        for kind in (Call, Sentence, Label):
            insert(connection, kind, rows[str(kind.__tablename__)])
        agents = [{**agent, "team": "bees", "site": SITE, "sample": True} for agent in COMPANY["agents"]]
        callers = {call.customer: call.caller for call in planned}
        customers = [{"id": one, "display_name": name, "sample": True} for one, name in callers.items()]
        insert_people(connection, agents, customers)
        if database.is_postgres:
            connection.execute(text("ANALYZE"))
    return len(planned)


class CompanyCall:
    """One call: who calls about what, and all that is said."""

    def __init__(self, number: int, customer: str, started_at: float, phrases: Phrases, rng: Random) -> None:
        self.id, self.customer, self.started_at, self.rng = f"sample-{SITE}-{number:04}", customer, started_at, rng
        self.agent: dict[str, str] = rng.choice(COMPANY["agents"])
        self.caller = f"{rng.choice(COMPANY['first'])} {rng.choice(COMPANY['last'])}"
        wishes = COMPANY["intents"]
        wish = wishes[number % len(wishes)]
        self.queue, self.task = wish["queue"], wish["name"]
        others = rng.sample([other for other in wishes if other is not wish], 2)
        talk = COMPANY["small_talk"]
        said = [wish, "ask_details", wish, others[0], talk, "ask_details", wish, "apology", others[1], "resolution"]
        answers = {one["name"]: one for one in COMPANY["agent"]}
        names = {"agent": self.agent["display_name"].split()[0], "caller": self.caller}
        self.lines = [CompanyLine("agent", phrases.any(answers["greeting"], rng, names), "greeting")]
        for one in said:
            role, entry = ("agent", answers[one]) if isinstance(one, str) else ("caller", one)
            if found := phrases.new(entry, rng, names):
                self.lines.append(CompanyLine(role, found, entry["name"]))
        self.lines.append(CompanyLine("agent", phrases.any(answers["closing"], rng, names), "closing"))


class Phrases:
    """Patterns, filled in."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def new(self, entry: dict[str, Any], rng: Random, names: dict[str, str]) -> str:
        """One that nobody has said yet; empty when all seem to be said."""
        for _ in range(TRIES):
            found = self.any(entry, rng, names)
            if found.lower() not in self._said:
                self._said.add(found.lower())
                return found
        return ""

    def any(self, entry: dict[str, Any], rng: Random, names: dict[str, str]) -> str:
        words = COMPANY["words"]
        pattern: str = rng.choice(entry["patterns"])
        found = _WORD.sub(lambda place: names.get(place[1]) or rng.choice(words[place[1]]), pattern)
        return found[:1].upper() + found[1:] + "."


def plan(calls: int, now: float, seed: int = SEED) -> Iterator[CompanyCall]:
    """The oldest first. A customer calls once."""
    phrases, numbers = Phrases(), _customers()
    for number in range(calls):
        rng = Random(f"{seed}:{number}")
        started_at = now - 3600 - DAYS * DAY_S * (calls - 1 - number) / calls - rng.uniform(0, 1800)
        yield CompanyCall(number, next(numbers), started_at, phrases, rng)


def _customers() -> Iterator[str]:
    """Every fourth is held out."""
    held, others = _named(held_out=True), _named(held_out=False)
    while True:
        yield next(held)
        yield from islice(others, HELD_OUT_OF - 1)


def _named(*, held_out: bool) -> Iterator[str]:
    names = (f"{SITE}-{number:05}" for number in count(1))
    return (name for name in names if is_held_out(group_of(name, "")) is held_out)


def call_rows(call: CompanyCall, answers: Sequence[SampleAnswer]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = defaultdict(list)
    at_ms = 500
    for line, answer in zip(call.lines, answers, strict=True):
        end_ms = at_ms + 350 * len(line.text.split()) + 250
        rows["sentences"].append(_sentence(call, line, answer, at_ms, end_ms))
        at_ms = end_ms + call.rng.randint(250, 1600)
    duration_ms = at_ms + 400
    ended_at = call.started_at + duration_ms / 1000
    for line, sentence in zip(call.lines, rows["sentences"], strict=True):
        if line.intent not in ("greeting", "closing") and call.rng.random() < REVIEWED:
            rows["labels"] += _labels(call, line, sentence, ended_at)
    metrics = call_metrics(call.rng, rows["sentences"], duration_ms, voice=True)
    rows["calls"].append(
        {
            "id": call.id, "medium": "voice", "source": "sample", "site": SITE, "queue": call.queue,
            "agent": call.agent["name"], "customer": call.customer, "language": "en-US", "roles": ROLES,
            "started_at": call.started_at, "ended_at": ended_at, "duration_ms": duration_ms, "state": "analysed",
            "state_at": ended_at + 1, "reason": "hangup", "sentences": len(call.lines), "metrics": metrics,
            "mood_caller": metrics.get("mood.caller"), "mood_agent": metrics.get("mood.agent"),
            "talk_share_agent": metrics.get("talk_share.agent"), "silence_share": metrics.get("silence_share"),
            "metrics_ms": duration_ms, "sample": True,
        }
    )  # fmt: skip
    return rows


def _sentence(call: CompanyCall, line: CompanyLine, answer: SampleAnswer, at_ms: int, end_ms: int) -> Row:
    spoken_at, channel = call.started_at + end_ms / 1000, ROLES.index(line.role)
    times = stage_times(call.rng, spoken_at, voice=True)
    return {
        "id": f"{call.id}/{channel}/{at_ms}", "call": call.id, "channel": channel, "role": line.role,
        "start_ms": at_ms, "end_ms": end_ms, "spoken_at": spoken_at, "text": line.text, **answer._asdict(),
        "language": "en", "times": times,
        "latency_ms": round((times["sentence_published"] - times["captured"]) * 1000, 1),
    }  # fmt: skip


def _labels(call: CompanyCall, line: CompanyLine, sentence: Row, ended_at: float) -> Iterator[Row]:
    """Two reviewers, and a third one where they differ."""
    rng, reviewers = call.rng, call.rng.sample(COMPANY["reviewers"], 3)
    names = [one["name"] for one in (*COMPANY["intents"], *COMPANY["agent"])]
    said = [rng.choice(names) if rng.random() < ERRS else line.intent for _ in range(2)]
    values = said if said[0] == said[1] else [*said, line.intent]
    for number, (author, value) in enumerate(zip(reviewers, values, strict=False)):
        yield {
            "sentence": sentence["id"], "call": call.id, "kind": "intent", "value": value,
            "predicted": sentence["intent"], "author": author, "author_role": "manager",
            "at": ended_at + 300 * (number + 1) + rng.uniform(0, 200),
            "seconds": round(rng.lognormvariate(1.1, 0.5), 1),
            "where": "review", "why": "sample", "model": sentence["models"].get("intent", ""), "sample": True,
        }  # fmt: skip
