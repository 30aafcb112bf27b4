"""The stage that writes down what is said: audio topic in, transcripts topic out, Riva in between.

Any number of workers share the partitions of the audio topic. A worker reads its partitions as fast as
they come and never waits for the recogniser; each channel of each call has a stream of its own and
follows at its own pace (channel.py), reading the bus again where it fell behind (audio/chunk_reader.py).
What may be committed is worked out by each partition.

    audio topic -> worker -> partition -> call -> channel -> Riva stream
                                                  transcript writer -> redaction -> transcripts topic
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from asr import metrics
from asr.context import AsrContext
from asr.model_choice import ModelChoice, speech_models
from asr.partition import AudioPartition
from asr.recovery import recover
from asr.riva.client import ExpectedPhrases, RivaClient
from asr.watchdog import watch
from tenor.bus import Bus, Partition, Record
from tenor.bus.partitioned import PartitionLoop, Takeover
from tenor.events import AUDIO
from tenor.redaction import Redactor
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import Settings
from tenor.stage import READS

log = structlog.get_logger(__name__)

GROUP = "asr"
BATCH = 200
"""Records handed out before the channels get their turn."""


class AsrWorker:
    name = "asr"

    def __init__(
        self, bus: Bus, settings: Settings, *, redactor: Redactor | None = None, expected: Sequence[str] | None = None
    ) -> None:
        """`expected`: what is said in calls that the assistant answers, if that is more than the settings say."""
        self._bus = bus
        self._speech = settings.speech
        phrases = settings.assistant.boosted if expected is None else expected
        self._expected = ExpectedPhrases(phrases, settings.assistant.boost)
        self._promotions = speech_models(settings)
        self._riva: RivaClient | None = None
        self._redactor = redactor or PatternRedactor(settings.speech.redact_kinds)
        self._loop = PartitionLoop(
            bus, GROUP, READS[GROUP], self._open, self._step, max_records=BATCH, dead_letters=metrics.DEAD_LETTERS
        )

    async def waits_for(self) -> str:
        """The bus, or a recogniser: without one, calls wait on the bus."""
        return await self._loop.waits_for() or (await self._riva.fault() if self._riva else "its connections")

    async def run(self) -> None:
        riva = self._riva = RivaClient(self._speech)
        models = ModelChoice(self._promotions, riva, self._bus)
        self._context = AsrContext(
            self._bus, self._loop.publish, self._speech, riva, self._redactor, models, self._expected
        )
        self._watching = asyncio.create_task(watch(self._loop.partitions.values, self._speech.watchdog_s))
        try:
            await self._loop.run()
        finally:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            await riva.close()

    async def _step(self, records: Sequence[Record]) -> None:
        for record in records:
            if reason := self._loop.partitions[record.partition].take(record):
                await self._loop.bury(record, reason)
        await asyncio.sleep(0)
        if self._watching.done():
            self._watching.result()
        for partition in self._loop.partitions.values():
            if partition.fault is not None:
                raise partition.fault

    async def _open(self, taken: Takeover) -> AudioPartition:
        partition = Partition(AUDIO.name, taken.number)
        _, end = await self._bus.bounds(partition)
        recovered = await recover(self._bus, taken.number, taken.notes[AUDIO.name])
        if recovered.calls:
            log.info("calls taken over", partition=taken.number, calls=len(recovered.calls))
        return AudioPartition(self._context, partition, taken.positions[AUDIO.name], end, recovered)
