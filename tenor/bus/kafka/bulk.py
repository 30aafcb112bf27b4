"""Publishing many events to Kafka at once, in batches that we fill ourselves.

aiokafka's `send` makes a future for every event; a batch has one for all of its events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer

from tenor.bus import Position
from tenor.bus.partitioning import MAX_EVENT_BYTES, checked_size, partition_of
from tenor.events import Event, Topic

BATCH_BYTES = 256 * 1024


def producer_options(patience_s: float) -> dict[str, Any]:
    """Nothing lost, nothing twice, nothing out of order, whatever the brokers do."""
    return {
        "acks": "all",
        "enable_idempotence": True,
        "max_batch_size": BATCH_BYTES,
        "max_request_size": MAX_EVENT_BYTES + 65536,
        "request_timeout_ms": int(patience_s * 1000),
    }


class UnsentPosition(NamedTuple):
    """Where an event is before its offset is known."""

    partition: int
    batch: Any
    nth: int


class BulkPublisher:
    def __init__(
        self,
        producer: AIOKafkaProducer,
        topic: Topic,
        partitions: int,
        turns: Mapping[tuple[str, int], asyncio.Lock],
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._partitions = partitions
        self._turns = turns
        self._filling: dict[int, Any] = {}
        """The batch that is being filled, by partition."""
        self._sent: dict[Any, asyncio.Future[Any]] = {}

    async def publish(self, events: Sequence[Event]) -> list[Position]:
        topic = self._topic
        values = [checked_size(topic.name, topic.encode(event)) for event in events]
        chosen: dict[str, int] = {}
        places = []
        for event, value in zip(events, values, strict=True):
            call = event.call
            number = chosen.get(call, -1)
            if number < 0:
                number = chosen[call] = partition_of(call, self._partitions)
            places.append(await self._add(number, call.encode(), value))
        for number, batch in self._filling.items():
            await self._send(number, batch)
        bases = await asyncio.gather(*self._sent.values(), return_exceptions=True)
        offsets = {}
        for batch, base in zip(self._sent, bases, strict=True):
            if isinstance(base, BaseException):
                raise base
            offsets[batch] = base.offset
        return [Position(number, offsets[batch] + nth) for number, batch, nth in places]

    async def _add(self, number: int, key: bytes, value: bytes) -> UnsentPosition:
        batch = self._filling.get(number)
        if batch is None or batch.append(timestamp=None, key=key, value=value) is None:
            if batch is not None:
                await self._send(number, batch)
            # An empty batch takes an event of any size.
            batch = self._filling[number] = self._producer.create_batch()
            batch.append(timestamp=None, key=key, value=value)
        return UnsentPosition(number, batch, batch.record_count() - 1)

    async def _send(self, number: int, batch: Any) -> None:
        async with self._turns[self._topic.name, number]:
            self._sent[batch] = await self._producer.send_batch(batch, self._topic.name, partition=number)
