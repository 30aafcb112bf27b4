"""The stage that tells others: alerts of rules with a webhook are sent to it, at least once.

calls topic -> alert -> rule names a webhook? -> its postbox -> delivered, or given up to tenor.dead
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import httpx

from nlp.rules.known import Known
from nlp.rules.letters import Letter, checked_url
from nlp.rules.postbox import Patience, Postbox
from nlp.rules.reading import read_rules
from tenor.bus import Bus, Commit, Consumer, Partition, Record
from tenor.bus.dead import dead_letter
from tenor.errors import BadInput
from tenor.events import CALLS, DEAD, Alert, Call, CallState, Unreadable
from tenor.settings import Settings
from tenor.stage import READS

K = TypeVar("K")
V = TypeVar("V")

GROUP = "webhooks"
COMMIT_S = 1.0
BATCH = 200
CALLS_KEPT = 10_000
"""Calls whose particulars, and alerts whose delivery, are remembered."""
LOOK_BACK = 20_000
"""Records before its alert that are searched for what a call is, when we came in the middle of it."""


class Webhooks:
    name = "webhooks"

    def __init__(self, bus: Bus, settings: Settings, *, patience: Patience | None = None) -> None:
        language = settings.language
        self._bus = bus
        self._rules = read_rules(Path(language.rules) if language.rules else None, Known(webhooks=language.webhooks))
        secret = language.webhook_secret.get_secret_value()
        if language.webhooks and not secret:
            raise BadInput("webhooks are set, but no secret to sign with", "set language.webhook_secret")
        self._postboxes = {
            name: Postbox(name, checked_url(name, url), secret, patience or Patience(), self._done)
            for name, url in language.webhooks.items()
        }
        self._known: OrderedDict[str, Call] = OrderedDict()
        self._sent: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._read: dict[Partition, int] = {}
        """The next offset to read."""
        self._open: dict[Partition, dict[int, int]] = {}
        """Letters on their way, by the offset of their alert."""
        self._committed: dict[Partition, int] = {}

    async def run(self) -> None:
        consumer = self._bus.consumer(READS[GROUP], GROUP, on_revoked=self._revoked)
        self._consumer = consumer
        async with httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None)) as client:
            delivering = [
                asyncio.create_task(work) for postbox in self._postboxes.values() for work in postbox.work(client)
            ]
            try:
                async with consumer:
                    await self._work(consumer, delivering)
            finally:
                for task in delivering:
                    task.cancel()
                await asyncio.gather(*delivering, return_exceptions=True)

    async def _work(self, consumer: Consumer, delivering: Sequence[asyncio.Task[None]]) -> None:
        committed = time.monotonic()
        while True:
            for record in await consumer.poll(BATCH, 0.25):
                await self._take(record)
            for task in delivering:
                if task.done():  # it only ends by an error of the bus
                    task.result()
            if time.monotonic() - committed >= COMMIT_S:
                committed = time.monotonic()
                await self._commit(tuple(self._read))

    async def _take(self, record: Record) -> None:
        partition = Partition(record.topic, record.partition)
        try:
            event = CALLS.decode(record.value)
        except Unreadable as error:
            await self._bury(record, str(error))
            event = None
        if isinstance(event, CallState) and event.info is not None:
            _remember(self._known, event.call, event.info)
        if isinstance(event, Alert):
            await self._send(partition, record, event)
        self._read[partition] = record.offset + 1

    async def _send(self, partition: Partition, record: Record, alert: Alert) -> None:
        rule = self._rules.get(alert.rule)
        names = [name for name in rule.webhooks if (alert.alert, name) not in self._sent] if rule else []
        if not names:
            return
        call = self._known.get(alert.call) or await self._look_back(partition, record.offset, alert.call)
        self._open.setdefault(partition, {})[record.offset] = len(names)
        for name in names:
            await self._postboxes[name].put(Letter.about(name, alert, call, record))

    async def _look_back(self, partition: Partition, offset: int, call: str) -> Call | None:
        """What a call is, from before we came; None when that is too long ago."""
        oldest = max((await self._bus.bounds(partition))[0], offset - LOOK_BACK)
        while oldest < offset:
            records = await self._bus.fetch(partition, oldest)
            for record in records:
                if record.offset < offset and record.key == call and b'"call_state"' in record.value:
                    event = CALLS.decode(record.value)
                    if isinstance(event, CallState) and event.info is not None:
                        _remember(self._known, call, event.info)
                        return event.info
            if not records:
                break
            oldest = records[-1].offset + 1
        return None

    async def _done(self, letter: Letter, reason: str) -> None:
        if reason:
            await self._bury(letter.record, f"webhook {letter.webhook}: {reason}")
        _remember(self._sent, (letter.alert.alert, letter.webhook), None)
        record = letter.record
        opened = self._open.get(Partition(record.topic, record.partition), {})
        if record.offset in opened:
            opened[record.offset] -= 1
            if not opened[record.offset]:
                del opened[record.offset]

    async def _bury(self, record: Record, reason: str) -> None:
        await self._bus.publish(DEAD, dead_letter(self.name, record, reason))

    async def _commit(self, partitions: Sequence[Partition]) -> None:
        """Up to the oldest alert that is still on its way."""
        offsets = {
            partition: min(self._open.get(partition, ()), default=self._read[partition])
            for partition in partitions
            if partition in self._read
        }
        changed = {place: Commit(offset) for place, offset in offsets.items() if self._committed.get(place) != offset}
        if changed:
            await self._consumer.commit(changed)
            self._committed.update({place: commit.offset for place, commit in changed.items()})

    async def _revoked(self, partitions: Sequence[Partition]) -> None:
        """What is on its way still goes out; the partition's next owner sends it, too, under the same key."""
        await self._commit(partitions)
        for partition in partitions:
            self._read.pop(partition, None)
            self._open.pop(partition, None)
            self._committed.pop(partition, None)


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > CALLS_KEPT:
        memory.popitem(last=False)
