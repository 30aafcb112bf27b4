"""The language stage: transcripts in; sentences, metrics, alerts and the end of the analysis out.

Any number of workers share the partitions. A worker takes whatever has come since it last looked, of all its calls,
puts all its sentences through the encoder at once, publishes, and looks again: a quiet worker answers at once, a busy
one in larger batches.

    transcripts --> partition --> call: sentences --.
    calls       --'                                 |  one pass for all calls, in a thread
    sentences   <-- call: sentences, metrics, alerts'
    calls       <--'
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import structlog

from nlp import metrics, rules
from nlp.batch import TranscriptBatch
from nlp.call import CallAnalysis
from nlp.inference.types import Backend
from nlp.model_versions import open_versions
from nlp.output import StageOutput
from nlp.partition import TranscriptPartition
from nlp.rules.known_names import known
from nlp.scorecard import form_in_force
from tenor.bus import Bus, Record
from tenor.bus.partitioned import PartitionLoop, Takeover
from tenor.errors import Unavailable
from tenor.events import CALLS, SENTENCES, Alert, Call, CallState, Sentence
from tenor.model_store.promotion_log import began
from tenor.model_store.watching import watching_promotions
from tenor.settings import Settings
from tenor.stage import READS
from tenor.telemetry import trace_stages

log = structlog.get_logger(__name__)

GROUP = "language"
BATCH = 100
"""Records taken at once. A record of a written call may hold dozens of sentences, and all are published together."""
PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
"""Between two attempts to reach a back end that is away."""


class NlpWorker:
    name = "language"

    def __init__(self, bus: Bus, settings: Settings, backend: Backend | None = None) -> None:
        self._bus = bus
        self._models = open_versions(settings, backend)
        self._fault = "its models"
        self._rules = rules.read(Path(settings.language.rules) if settings.language.rules else None, known(settings))
        self._form = form_in_force(settings)
        self._loop = PartitionLoop(
            bus, GROUP, READS[GROUP], self._open, self._step, max_records=BATCH, dead_letters=metrics.DEAD_LETTERS
        )

    async def waits_for(self) -> str:
        """The bus, or somebody who understands sentences."""
        if waits_for := await self._loop.waits_for():
            return waits_for
        if self._fault:
            await self._check()
        return self._fault

    async def run(self) -> None:
        await self._check()
        if self._fault:
            log.warning("nobody understands sentences yet", reason=self._fault)
        async with watching_promotions(self._models.pools, self._bus, GROUP) as self._watching:
            await self._loop.run()

    async def _check(self) -> None:
        try:
            await asyncio.to_thread(self._models.check)
            self._fault = ""
        except Unavailable as error:
            self._fault = error.message

    async def _step(self, records: Sequence[Record]) -> None:
        """Analyze these records, and publish what follows from them."""
        if self._watching.done():
            self._watching.result()
        partitions = self._loop.partitions
        if records:
            self._models.refresh()
        for record in records:
            await partitions[record.partition].take(record)
        dead = [record for partition in partitions.values() for record in partition.pop_dead()]
        pending = [event for partition in partitions.values() for event in partition.pop_pending()]
        output = await self._analyze(TranscriptBatch(pending)) if pending else StageOutput()
        output.dead += dead
        await self._publish(output)
        for partition in partitions.values():
            partition.published()
            for call in partition.done():
                await self._finish(call)
                partition.finish(call)
        calls = [call for partition in partitions.values() for call in partition.calls]
        self._models.release(calls)
        metrics.OPEN_CALLS.set(len(calls))

    async def _analyze(self, batch: TranscriptBatch) -> StageOutput:
        """As long as there is nobody to ask, everything waits on the bus."""
        pause_s = PAUSE_S
        while True:
            try:
                output = await asyncio.to_thread(batch.analyze, self._models.analyzer_of)
                self._fault = ""
                return output
            except Unavailable as error:
                self._fault = error.message
                log.error("sentences wait for somebody who understands them", reason=error.message, retry_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _publish(self, output: StageOutput) -> None:
        if output.sentences:
            published = time.time()
            for sentence in output.sentences:
                sentence.times["sentence_published"] = published
            await self._loop.publish_many(SENTENCES, output.sentences)
            for sentence in output.sentences:
                _count(sentence)
        if output.on_calls:
            await self._loop.publish_many(CALLS, output.on_calls)
            for event in output.on_calls:
                if isinstance(event, Alert):
                    metrics.ALERTS.labels(event.severity).inc()
        for record, reason in output.dead:
            await self._loop.bury(record, reason)

    async def _finish(self, call: CallAnalysis) -> None:
        output = call.finish()
        if not call.failed:  # one that failed stays so
            output.on_calls.append(CallState(call=call.id, state="analysed", at=time.time(), info=call.info))
        await self._publish(output)
        metrics.CALLS_ANALYSED.inc()

    async def _open(self, taken: Takeover) -> TranscriptPartition:
        partition = TranscriptPartition(self._bus, taken, self._open_call)
        await partition.catch_up()
        if partition.calls and any(taken.notes.values()):
            log.info("calls taken over", partition=taken.number, calls=len(partition.calls))
        return partition

    def _open_call(self, call: str, info: Call | None, published: float) -> CallAnalysis:
        moment = began(info.started_at if info is not None else None, published)
        engine = self._rules.engine_for(info, call, self._form.matchers())
        return CallAnalysis(call, info, frozenset(), engine, self._form, began=moment)


def _count(sentence: Sentence) -> None:
    metrics.SENTENCES.inc()
    if sentence.revision:
        metrics.REVISIONS.inc()
    times = sentence.times
    if "captured" not in times:  # put on the bus as fast as it is taken: nobody waits for it
        return
    for part, since, until in (
        ("understood", "published", "understood"),
        ("told", "published", "sentence_published"),
        ("spoken", "captured", "sentence_published"),
    ):
        metrics.LATENCY.labels(part).observe(max(0.0, times[until] - times[since]))
    trace_stages("sentence", times, call=sentence.call, channel=sentence.channel, role=sentence.role)
