"""Recordings onto the audio topic, as fast as possible or at the pace they were spoken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

import structlog

from ingest.audio.recording import Block, Recording, open_recording
from ingest.audio.types import BrokenSource
from ingest.background import in_background
from ingest.options import IngestOptions
from ingest.results import Known, PublishedCall, SourceResult, nothing_known
from ingest.sources import Source
from tenor.aio import run_to_completion
from tenor.bus import Bus
from tenor.errors import BadInput, TenorError
from tenor.events import AUDIO, AudioChunk, CallEnded, CallStarted
from tenor.reading import reading

log = structlog.get_logger(__name__)

BATCH = 50
"""Blocks published in one go when nothing has to wait: 5 s of audio, whatever the length of the file."""
AHEAD = 10
"""Blocks decoded at a time when paced."""
LONG_AGO = 0.0

Progress = Callable[[Recording, int], None]
"""Told after every publication how many milliseconds of the recording are on the bus."""


async def publish_recording(
    bus: Bus, recording: Recording, *, pace: float | None = None, progress: Progress | None = None
) -> PublishedCall:
    """Publish a recording as a call and close it.

    `pace` 1.0 is real time, 4.0 four times as fast, None as fast as the bus takes it. Paced, a chunk is
    published when its last sample would have been spoken, and `captured_at` is that moment even if we
    are late. A microphone has its own pace.

    When the source breaks, or we are cancelled, the call is ended with what was heard.
    """
    if pace is not None and not pace > 0:
        raise BadInput(f"a pace of {pace:g} never gets there", hint="1 is real time; leave it out for full speed")
    publisher = _Publisher(bus, recording, None if recording.source.kind == "microphone" else pace, progress)
    try:
        with reading(recording.name):
            return await publisher.run()
    finally:
        recording.close()


class _Publisher:
    def __init__(self, bus: Bus, recording: Recording, pace: float | None, progress: Progress | None) -> None:
        self._bus, self._recording, self._pace, self._progress = bus, recording, pace, progress
        self._seq = 0
        self._heard_ms = 0

    async def run(self) -> PublishedCall:
        started_at = time.time()
        spoken_at = self._recording.options.started_at
        info = self._recording.info(started_at if spoken_at is None else spoken_at)
        await self._bus.publish(AUDIO, CallStarted(call=self._recording.call, info=info))
        try:
            await self._publish_all(started_at)
        except asyncio.CancelledError:
            await run_to_completion(self._end("stopped"))
            raise
        except BrokenSource as error:
            return await self._end(error.message, failed=True)
        return await self._end("end of file" if self._recording.source.kind != "microphone" else "stopped")

    async def _publish_all(self, started_at: float) -> None:
        recording = self._recording
        size = 1 if recording.source.live else BATCH if self._pace is None else AHEAD
        while blocks := await in_background(lambda: recording.read(size)):
            if self._pace is None:
                await self._publish(blocks, time.time() if recording.source.live else LONG_AGO)
                continue
            for block in blocks:
                due = started_at + block.end_ms / 1000 / self._pace
                await asyncio.sleep(max(0.0, due - time.time()))
                await self._publish([block], due)

    async def _publish(self, blocks: Sequence[Block], captured_at: float) -> None:
        events = []
        for block in blocks:
            for channel, pcm in enumerate(block.pcm):
                events.append(
                    AudioChunk(
                        call=self._recording.call,
                        channel=channel,
                        seq=self._seq,
                        start_ms=block.start_ms,
                        rate=self._recording.format.rate,
                        pcm=pcm,
                        captured_at=captured_at,
                    )
                )
            self._seq += 1
        await self._bus.publish_many(AUDIO, events)
        self._heard_ms = blocks[-1].end_ms
        if self._progress:
            self._progress(self._recording, self._heard_ms)

    async def _end(self, reason: str, *, failed: bool = False) -> PublishedCall:
        call = self._recording.call
        await self._bus.publish(AUDIO, CallEnded(call=call, reason=reason, at=time.time(), failed=failed))
        log.info("call fed", call=call, reason=reason, heard_ms=self._heard_ms)
        return PublishedCall(
            call=call,
            heard_ms=self._heard_ms,
            chunks=self._seq * len(self._recording.columns),
            reason=reason,
            failed=failed,
            warnings=tuple(self._recording.warnings),
        )


async def publish_recordings(
    bus: Bus,
    sources: Iterable[Source],
    options: IngestOptions | None = None,
    *,
    pace: float | None = None,
    concurrency: int = 1,
    known: Known = nothing_known,
    opened: Callable[[Recording], None] | None = None,
    progress: Progress | None = None,
) -> list[SourceResult]:
    """Feed many, so many at once. A source that cannot be heard does not keep the others from it."""
    sources = list(sources)
    if options and options.call and len(sources) > 1:
        raise BadInput("one call id for several recordings", hint="leave the id out, or name one recording")
    gate = asyncio.Semaphore(concurrency)
    calls: set[str] = set()

    async def one(source: Source) -> SourceResult:
        async with gate:
            try:
                recording = await in_background(lambda: open_recording(source, options))
            except TenorError as error:
                return SourceResult(source, error=error)
            if recording.call in calls:
                recording.close()
                return SourceResult(source, error=BadInput(f"{source.name} was fed already as {recording.call}"))
            if refused := await in_background(lambda: known(recording.call)):
                recording.close()
                return SourceResult(source, error=refused)
            calls.add(recording.call)
            if opened:
                opened(recording)
            try:
                fed = await publish_recording(bus, recording, pace=pace, progress=progress)
            except BadInput as error:
                return SourceResult(source, error=error)
            return SourceResult(source, published=fed)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(source)) for source in sources]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None  # the bus is away: the same for all
    return [task.result() for task in tasks]
