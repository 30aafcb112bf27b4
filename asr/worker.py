"""The stage that writes down what is said: audio topic in, transcripts topic out, Riva in between.

Any number of workers share the partitions of the audio topic. A worker reads its partitions as fast as
they come and never waits for the recogniser; each channel of each call has a stream of its own and
follows at its own pace (channel.py), reading the bus again where it fell behind (reel.py). What may be
committed is worked out by each partition's desk.

    audio topic -> worker -> desk (partition) -> call -> channel -> Riva stream
                                                         scribe  -> redaction -> transcripts topic
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

import structlog

from asr.bench import Bench
from asr.desk import Desk
from asr.recovery import find_out
from asr.riva import Recogniser
from asr.watchdog import watch
from tenor.bus import Bus, Commit, Consumer, Partition
from tenor.redaction import Redactor
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import Settings
from tenor.stage import READS

log = structlog.get_logger(__name__)

GROUP = "asr"
COMMIT_S = 1.0
BATCH = 200
"""Records handed out before the channels get their turn."""


class Worker:
    name = "asr"

    def __init__(self, bus: Bus, settings: Settings, *, redactor: Redactor | None = None) -> None:
        self._bus = bus
        self._speech = settings.speech
        self._redactor = redactor or PatternRedactor(settings.speech.redact_kinds)
        self._bench: Bench | None = None
        self._consumer: Consumer | None = None
        self._desks: dict[Partition, Desk] = {}
        self._committed: dict[Partition, Commit] = {}

    async def run(self) -> None:
        recogniser = Recogniser(self._speech)
        self._bench = Bench(self._bus, self._speech, recogniser, self._redactor)
        consumer = self._consumer = self._bus.consumer(
            READS[GROUP], GROUP, on_assigned=self._assigned, on_revoked=self._revoked
        )
        watching = asyncio.create_task(watch(self._desks.values, self._speech.watchdog_s))
        try:
            async with consumer:
                await self._work(consumer, watching)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await self._close(tuple(self._desks))
            await recogniser.close()

    async def _work(self, consumer: Consumer, watching: asyncio.Task[None]) -> None:
        committed = time.monotonic()
        while True:
            for record in await consumer.poll(BATCH, 0.25):
                desk = self._desks.get(Partition(record.topic, record.partition))
                if desk is not None:
                    await desk.take(record)
            await asyncio.sleep(0)
            if watching.done():
                watching.result()
            for desk in self._desks.values():
                if desk.fault is not None:
                    raise desk.fault
            if time.monotonic() - committed >= COMMIT_S:
                committed = time.monotonic()
                await self._commit(tuple(self._desks))

    async def _assigned(self, partitions: Sequence[Partition]) -> None:
        assert self._consumer is not None
        assert self._bench is not None
        for partition in partitions:
            if partition in self._desks:
                continue
            commit = await self._consumer.committed(partition)
            first, end = await self._bus.bounds(partition)
            position = max(first, commit.offset) if commit else first
            findings = await find_out(self._bus, partition.number, commit)
            self._desks[partition] = Desk(self._bench, partition, position, end, findings)
            if findings.calls:
                log.info("calls taken over", partition=partition.number, calls=len(findings.calls))

    async def _revoked(self, partitions: Sequence[Partition]) -> None:
        held = [partition for partition in partitions if partition in self._desks]
        desks = [self._desks[partition] for partition in held]
        await asyncio.gather(*(desk.close() for desk in desks))
        await self._commit(held)
        await self._close(held)

    async def _commit(self, partitions: Sequence[Partition]) -> None:
        assert self._consumer is not None
        commits = {partition: self._desks[partition].commit() for partition in partitions}
        changed = {place: commit for place, commit in commits.items() if self._committed.get(place) != commit}
        if changed:
            await self._consumer.commit(changed)
            self._committed.update(changed)

    async def _close(self, partitions: Sequence[Partition]) -> None:
        for partition in partitions:
            await self._desks.pop(partition).close()
            self._committed.pop(partition, None)
