"""The stage that understands: transcripts in; sentences, figures, alerts and the end of the analysis out.

Any number of workers share the partitions. A worker takes whatever has come since it last looked, of all its calls,
puts all its sentences through the encoder at once, publishes, and looks again: a quiet worker answers at once, a busy
one in larger batches.

    transcripts --> desk (partition) --> call: sentences --.
    calls       --'                                        |  one pass for all calls, in a thread
    sentences   <-- call: sentences, figures, alerts    <--'
    calls       <--'
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import structlog

from nlp import counters, rules
from nlp.backend import open_backend
from nlp.batch import Batch, Outcome
from nlp.call import UnderstoodCall
from nlp.classifiers import load
from nlp.desk import Desk
from nlp.names import known
from nlp.panel import Panel
from nlp.understood import Backend
from tenor.bus import Bus, Commit, Consumer, Partition, Record
from tenor.bus.dead import dead_letter
from tenor.errors import Unavailable
from tenor.events import (
    CALLS,
    DEAD,
    SENTENCES,
    Alert,
    Call,
    CallState,
    Sentence,
)
from tenor.settings import Settings
from tenor.stage import READS
from tenor.telemetry import trace_stages

log = structlog.get_logger(__name__)

GROUP = "language"
COMMIT_S = 1.0
BATCH = 100
"""Records taken at once. A record of a written call may hold dozens of sentences, and all are told together."""
PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
"""Between two attempts to reach a back end that is away."""


class LanguageWorker:
    name = "language"

    def __init__(self, bus: Bus, settings: Settings, understanding: Backend | None = None) -> None:
        self._bus = bus
        backend = understanding or open_backend(settings)
        self._panel = Panel(backend, load(settings.language.classifiers, backend))
        self._tasks = backend.tasks
        self._rules = rules.read(Path(settings.language.rules) if settings.language.rules else None, known(settings))
        self._consumer: Consumer | None = None
        self._held: set[Partition] = set()
        self._desks: dict[int, Desk] = {}
        self._committed: dict[Partition, Commit] = {}

    async def run(self) -> None:
        try:
            await asyncio.to_thread(self._panel.check)
        except Unavailable as error:
            log.warning("nobody understands sentences yet", reason=error.message)
        consumer = self._consumer = self._bus.consumer(
            READS[GROUP], GROUP, on_assigned=self._assigned, on_revoked=self._revoked
        )
        async with consumer:
            committed = time.monotonic()
            while True:
                for record in await consumer.poll(BATCH, 0.25):
                    if (desk := self._desks.get(record.partition)) is not None:
                        await desk.take(record)
                await self._work()
                if time.monotonic() - committed >= COMMIT_S:
                    committed = time.monotonic()
                    await self._commit(self._desks.values())

    async def _work(self) -> None:
        """Understand and publish what was taken."""
        dead = [dead for desk in self._desks.values() for dead in desk.dead()]
        steps = [step for desk in self._desks.values() for step in desk.steps()]
        outcome = await self._understood(Batch(steps)) if steps else Outcome()
        outcome.dead += dead
        await self._publish(outcome)
        for desk in self._desks.values():
            desk.published()
            for call in desk.done():
                await self._finish(call)
                desk.finish(call)
        counters.OPEN_CALLS.set(sum(desk.calls for desk in self._desks.values()))

    async def _understood(self, batch: Batch) -> Outcome:
        """As long as there is nobody to ask, everything waits on the bus."""
        pause_s = PAUSE_S
        while True:
            try:
                return await asyncio.to_thread(batch.understand, self._panel)
            except Unavailable as error:
                log.error("sentences wait for somebody who understands them", reason=error.message, retry_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _publish(self, outcome: Outcome) -> None:
        if outcome.sentences:
            published = time.time()
            for sentence in outcome.sentences:
                sentence.times["sentence_published"] = published
            await self._bus.publish_many(SENTENCES, outcome.sentences)
            for sentence in outcome.sentences:
                _count(sentence)
        if outcome.on_calls:
            await self._bus.publish_many(CALLS, outcome.on_calls)
            for event in outcome.on_calls:
                if isinstance(event, Alert):
                    counters.ALERTS.labels(event.severity).inc()
        for record, reason in outcome.dead:
            await self._bury(record, reason)

    async def _finish(self, call: UnderstoodCall) -> None:
        outcome = Outcome()
        outcome.add(call.finish())
        if not call.failed:  # one that failed stays so
            outcome.on_calls.append(CallState(call=call.id, state="analysed", at=time.time(), info=call.info))
        await self._publish(outcome)
        counters.CALLS_ANALYSED.inc()

    async def _bury(self, record: Record, reason: str) -> None:
        counters.DEAD_LETTERS.inc()
        log.warning("a record could not be read", topic=record.topic, offset=record.offset, reason=reason)
        await self._bus.publish(DEAD, dead_letter(self.name, record, reason))

    # -- partitions: a desk needs the same one of both topics

    async def _assigned(self, partitions: Sequence[Partition]) -> None:
        assert self._consumer is not None
        self._held.update(partitions)
        for number in sorted({partition.number for partition in partitions}):
            both = [Partition(topic.name, number) for topic in READS[GROUP]]
            if number not in self._desks and self._held.issuperset(both):
                desk = Desk(self._bus, number, self._open_call)
                commits = [await self._consumer.committed(partition) for partition in both]
                await desk.open(*commits)
                self._desks[number] = desk
                if desk.calls and any(commits):
                    log.info("calls taken over", partition=number, calls=desk.calls)

    async def _revoked(self, partitions: Sequence[Partition]) -> None:
        self._held.difference_update(partitions)
        leaving = {partition.number for partition in partitions}
        await self._commit(desk for number, desk in self._desks.items() if number in leaving)
        for number in leaving:
            self._desks.pop(number, None)
        for partition in partitions:
            self._committed.pop(partition, None)

    async def _commit(self, desks: Iterable[Desk]) -> None:
        assert self._consumer is not None
        now = time.time()
        commits = {place: commit for desk in desks for place, commit in desk.commit(now).items()}
        changed = {place: commit for place, commit in commits.items() if self._committed.get(place) != commit}
        if changed:
            await self._consumer.commit(changed)
            self._committed.update(changed)

    def _open_call(self, call: str, info: Call | None) -> UnderstoodCall:
        return UnderstoodCall(call, info, self._tasks, self._rules.watch(info, call))


def _count(sentence: Sentence) -> None:
    counters.SENTENCES.inc()
    if sentence.revision:
        counters.REVISIONS.inc()
    times = sentence.times
    for part, since, until in (
        ("understood", "published", "understood"),
        ("told", "published", "sentence_published"),
        ("spoken", "captured", "sentence_published"),
    ):
        if since in times:
            counters.LATENCY.labels(part).observe(max(0.0, times[until] - times[since]))
    trace_stages("sentence", times, call=sentence.call, channel=sentence.channel, role=sentence.role)
