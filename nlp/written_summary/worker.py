"""The summaries stage: when a call is over, a language model of the settings is asked for a summary of it.

calls topic -> last metrics of a call -> its sentences, redacted -> the model -> WrittenSummary on the calls topic

The summary made of sentences is there by then, and stays whatever happens here. Without `language.summary_url` the
stage reads on and asks nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import httpx
import structlog
from prometheus_client import Counter

from nlp.written_summary.model import NoSummary, SummaryModel
from nlp.written_summary.partition import SummaryPartition, Wanted
from tenor.bus import Bus, Record
from tenor.bus.partitioned import PartitionLoop, Takeover
from tenor.events import CALLS, WrittenSummary
from tenor.redaction import Redactor
from tenor.settings import Settings
from tenor.stage import READS

log = structlog.get_logger(__name__)

GROUP = "summaries"
AT_ONCE = 4
"""Requests on their way."""
WAITING = 1000
"""Calls that wait for their summary; one that comes when so many do gets none."""
WRITTEN = Counter("tenor_written_summaries", "Summaries of calls asked of a language model", ["outcome"])


class SummaryWorker:
    name = "summaries"

    def __init__(self, bus: Bus, settings: Settings, *, redactor: Redactor) -> None:
        self._bus = bus
        language = settings.language
        self._model = SummaryModel(language, redactor) if language.summary_url else None
        self._fault = ""
        self._loop = PartitionLoop(bus, GROUP, READS[GROUP], self._open, self._step)

    async def waits_for(self) -> str:
        return await self._loop.waits_for()

    async def run(self) -> None:
        self._gate = asyncio.Semaphore(AT_ONCE)
        async with httpx.AsyncClient(timeout=None) as self._client:
            await self._loop.run()

    async def _open(self, taken: Takeover) -> SummaryPartition:
        partition = SummaryPartition(self._bus, taken)
        if self._model:
            await partition.catch_up()
        return partition

    async def _step(self, records: Sequence[Record]) -> None:
        partitions = self._loop.partitions
        for partition in partitions.values():
            for task in [task for task in partition.asking if task.done()]:
                partition.asking.remove(task)
                task.result()  # it only fails with the bus
        for record in records:
            await partitions[record.partition].take(record, asks=self._model is not None)
        waiting = sum(len(partition.asking) for partition in partitions.values())
        for partition in partitions.values():
            for wanted in partition.ready():
                if waiting >= WAITING:
                    self._tell(f"{WAITING} calls are waiting for it already")
                    partition.done(wanted.offset)
                    continue
                waiting += 1
                partition.asking.add(asyncio.create_task(self._ask(partition, wanted)))

    async def _ask(self, partition: SummaryPartition, wanted: Wanted) -> None:
        assert self._model is not None
        async with self._gate:
            said = await partition.text(wanted)
            try:
                text = await self._model.summarize(self._client, said)
            except NoSummary as reason:
                self._tell(str(reason))
            else:
                self._tell("")
                event = WrittenSummary(
                    call=wanted.call, at_ms=wanted.at_ms, text=text, model=self._model.name, at=time.time()
                )
                await self._loop.publish(CALLS, event)
            partition.done(wanted.offset)

    def _tell(self, fault: str) -> None:
        """Each fault once, and once that it is over: a model that is away for a night fills no log."""
        WRITTEN.labels("failed" if fault else "written").inc()
        if fault and fault != self._fault:
            log.warning("a call has no summary by the language model", reason=fault)
        elif self._fault and not fault:
            log.info("the language model writes summaries again")
        self._fault = fault
