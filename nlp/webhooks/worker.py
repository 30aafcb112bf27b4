"""The webhook stage: alerts of rules with a webhook are sent to it, and summaries of calls that are over to those that
the settings name, at least once.

calls topic -> alert -> rule names a webhook? -> its queue -> delivered, or given up to tenor.dead
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from nlp.rules.known_names import KnownNames
from nlp.rules.parser import read_rules
from nlp.webhooks.queue import DeliveryPolicy, WebhookQueue
from nlp.webhooks.request import WebhookRequest, checked_url, summary_id, written_id
from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.partitioned import PartitionLoop, ReadPartition, Takeover
from tenor.errors import BadInput
from tenor.events import CALLS, Alert, Call, CallMetrics, CallState, Unreadable, WrittenSummary
from tenor.settings import Settings
from tenor.stage import READS

GROUP = "webhooks"
BATCH = 200
CALLS_KEPT = 10_000
"""Calls whose particulars, and alerts whose delivery, are remembered."""
LOOK_BACK = 20_000
"""Records before its alert that are searched for what a call is, when we came in the middle of it."""


class WebhookWorker:
    name = "webhooks"

    def __init__(self, bus: Bus, settings: Settings, *, policy: DeliveryPolicy | None = None) -> None:
        language = settings.language
        self._bus = bus
        self._rules = read_rules(
            Path(language.rules) if language.rules else None, KnownNames(webhooks=language.webhooks)
        )
        secret = language.webhook_secret.get_secret_value()
        if language.webhooks and not secret:
            raise BadInput("webhooks are set, but no secret to sign with", "set language.webhook_secret")
        self._queues = {
            name: WebhookQueue(name, checked_url(name, url), secret, policy or DeliveryPolicy(), self._ours, self._done)
            for name, url in language.webhooks.items()
        }
        unknown = sorted({*language.summary_webhooks} - self._queues.keys())
        if unknown:
            named = ", ".join(map(repr, unknown))
            raise BadInput(f"language.summary_webhooks names {named}", "it names webhooks of language.webhooks")
        self._summaries = tuple(dict.fromkeys(language.summary_webhooks))
        self._known: BoundedDict[str, Call] = BoundedDict(CALLS_KEPT)
        self._sent: BoundedDict[tuple[str, str], None] = BoundedDict(CALLS_KEPT)
        self._loop = PartitionLoop(bus, GROUP, READS[GROUP], self._open, self._step, max_records=BATCH)

    async def waits_for(self) -> str:
        return await self._loop.waits_for()

    async def run(self) -> None:
        async with httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None)) as client:
            self._delivering = [
                asyncio.create_task(work) for queue in self._queues.values() for work in queue.work(client)
            ]
            try:
                await self._loop.run()
            finally:
                for task in self._delivering:
                    task.cancel()
                await asyncio.gather(*self._delivering, return_exceptions=True)

    async def _open(self, taken: Takeover) -> AlertPartition:
        return AlertPartition(taken)

    async def _step(self, records: Sequence[Record]) -> None:
        for record in records:
            await self._take(record)
        for task in self._delivering:
            if task.done():  # it only ends by an error of the bus
                task.result()

    async def _take(self, record: Record) -> None:
        try:
            event = CALLS.decode(record.value)
        except Unreadable as error:
            await self._loop.bury(record, str(error))
            event = None
        if isinstance(event, CallState) and event.info is not None:
            self._known[event.call] = event.info
        if isinstance(event, Alert):
            rule = self._rules.get(event.rule)
            await self._send(record, event, event.alert, rule.webhooks if rule else ())
        elif isinstance(event, CallMetrics) and event.final and event.summary is not None:
            await self._send(record, event, summary_id(event), self._summaries)
        elif isinstance(event, WrittenSummary):
            await self._send(record, event, written_id(event), self._summaries)
        self._loop.partitions[record.partition].done(record)

    async def _send(
        self, record: Record, event: Alert | CallMetrics | WrittenSummary, sent_id: str, webhooks: Sequence[str]
    ) -> None:
        names = [name for name in webhooks if (sent_id, name) not in self._sent]
        if not names:
            return
        call = self._known.get(event.call) or await self._look_back(record, event.call)
        requests = []
        for name in names:
            if isinstance(event, Alert):
                requests.append(WebhookRequest.about(name, event, call, record))
            elif isinstance(event, WrittenSummary):
                requests.append(WebhookRequest.written(name, event, call, record))
            else:
                requests.append(WebhookRequest.summing_up(name, event, call, record))
        self._loop.partitions[record.partition].on_their_way(record, requests)
        for request in requests:
            await self._queues[request.webhook].put(request)

    async def _look_back(self, alert: Record, call: str) -> Call | None:
        """What a call is, from before we came; None when that is too long ago."""
        partition, offset = Partition(alert.topic, alert.partition), alert.offset
        oldest = max((await self._bus.bounds(partition))[0], offset - LOOK_BACK)
        while oldest < offset:
            records = await self._bus.fetch(partition, oldest)
            for record in records:
                if record.offset < offset and record.key == call and b'"call_state"' in record.value:
                    event = CALLS.decode(record.value)
                    if isinstance(event, CallState) and event.info is not None:
                        self._known[call] = event.info
                        return event.info
            if not records:
                break
            oldest = records[-1].offset + 1
        return None

    async def _ours(self, request: WebhookRequest) -> bool:
        partition = self._loop.partitions.get(request.record.partition)
        return partition is not None and partition.waits_for(request) and await self._loop.holds(partition.number)

    async def _done(self, request: WebhookRequest, reason: str) -> None:
        if reason:
            await self._loop.bury(request.record, f"webhook {request.webhook}: {reason}")
        self._sent[request.id, request.webhook] = None
        if (partition := self._loop.partitions.get(request.record.partition)) is not None:
            partition.arrived(request)


class AlertPartition(ReadPartition):
    """Commits go up to the oldest alert that is still on its way. What waits when the partition leaves us, its next
    owner sends; only what was being sent at that moment may arrive twice, under the same key."""

    def __init__(self, taken: Takeover) -> None:
        super().__init__(taken)
        self.number = taken.number
        self._on_their_way: dict[int, list[WebhookRequest]] = {}
        """Requests by the offset of their alert."""

    def on_their_way(self, alert: Record, requests: Sequence[WebhookRequest]) -> None:
        self._on_their_way[alert.offset] = list(requests)

    def waits_for(self, request: WebhookRequest) -> bool:
        """Not so for one from before the partition left us, though it may have come back since."""
        return any(one is request for one in self._on_their_way.get(request.record.offset, ()))

    def arrived(self, request: WebhookRequest) -> None:
        """It did, or was given up."""
        offset = request.record.offset
        left = [one for one in self._on_their_way.get(offset, ()) if one is not request]
        if left:
            self._on_their_way[offset] = left
        else:
            self._on_their_way.pop(offset, None)

    def commits(self) -> Mapping[Partition, Commit]:
        oldest = min(self._on_their_way, default=None)
        read = super().commits()
        return read if oldest is None else dict.fromkeys(read, Commit(oldest))
