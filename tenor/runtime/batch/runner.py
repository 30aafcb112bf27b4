"""Many files through the stages: so many at once, results in the order given, in bounded memory and disk.

    inputs --> published, so many at once --> temporary pipeline: asr, language --> collector --> results in order

After so many files the pipeline ends, and all audio on its bus with it; the next one is fresh. The recogniser and the
language model serve all of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ingest.sources import Source
from ingest.vcon.call import VconCall
from tenor.bus import Bus
from tenor.errors import BadInput, TenorError
from tenor.events import Call, Sentence, Topic, Transcript
from tenor.runtime.batch.call_result import CallResult
from tenor.runtime.batch.collector import CallEvents, Collector
from tenor.runtime.batch.inputs import Input, MissingInput
from tenor.runtime.batch.progress import CallProgress, ProgressCallback, ProgressCounter
from tenor.runtime.compose import StageFactory, temporary_pipeline
from tenor.runtime.running import running
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.audio.recording import Recording
    from ingest.options import IngestOptions
    from ingest.text.conversation import Conversation, TextOptions
    from tenor.redaction import Redactor
    from tenor.runtime.batch.result_store import ResultStore

T = TypeVar("T")
R = TypeVar("R")

FILES_PER_PIPELINE = 1000
TEXTS_AT_ONCE = 64
"""Conversations that need no recogniser: enough of them to fill the batches of the language model."""
AHEAD = 256
"""Results that may wait for one before them."""

IF_TEXT = "if it is text, say which: --format txt, csv, json, jsonl, eml or mbox"


@dataclass(frozen=True)
class BatchJob:
    """What is wanted of a batch."""

    topic: Topic
    """TRANSCRIPTS: what was said; SENTENCES: what it means."""
    options: IngestOptions
    reading: TextOptions | None = None
    """How to read text; None: everything is a recording."""
    redactor: Redactor | None = None
    """For text; recordings are redacted by the speech stage."""
    jobs: int = 4
    """Recordings at once."""
    store: ResultStore | None = None
    """Where calls that are stored already are left alone, and the others are stored."""


@dataclass
class _Item:
    """A recording, a written conversation, or what kept a file from being either."""

    name: str
    content: Source | Conversation | VconCall | TenorError
    last_of_file: bool = True


async def run_batch(
    settings: Settings,
    inputs: Sequence[Input | VconCall],
    job: BatchJob,
    stages: StageFactory,
    progress: ProgressCallback | None = None,
) -> AsyncGenerator[CallResult, None]:
    """Every call's result, in the order of the files and of the calls in them."""
    counter = ProgressCounter(sum(map(_files, inputs)), progress)
    calls: set[str] = set()
    for part in _parts(inputs):
        async with temporary_pipeline(settings, stages) as bus:
            collector = Collector(bus, job.topic)
            runner = BatchRunner(bus, settings, job, collector, calls, counter)
            async with running(collector), aclosing(in_order(runner.items(part), runner.run, AHEAD)) as results:
                async for result in results:
                    counter.count(result)
                    yield result
                if job.store:
                    await job.store.settle(bus)


def _parts(inputs: Iterable[Input | VconCall]) -> Iterator[list[Input | VconCall]]:
    """As many inputs as one pipeline is for."""
    part: list[Input | VconCall] = []
    files = 0
    for given in inputs:
        part.append(given)
        files += _files(given)
        if files >= FILES_PER_PIPELINE:
            yield part
            part, files = [], 0
    if part:
        yield part


def _files(given: Input | VconCall) -> int:
    return given.files if isinstance(given, Source) else 1


async def in_order(items: AsyncIterator[T], work: Callable[[T], Awaitable[R]], ahead: int) -> AsyncGenerator[R, None]:
    """`work` on every item, answers in their order. At most `ahead` items are taken before an answer is."""

    async def one(item: T) -> R:
        return await work(item)

    waiting: deque[asyncio.Task[R]] = deque()
    try:
        async for item in items:
            waiting.append(asyncio.create_task(one(item)))
            while waiting and (len(waiting) >= ahead or waiting[0].done()):
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


class BatchRunner:
    """Publishes the files of one pipeline, and collects what becomes of each call."""

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        job: BatchJob,
        collector: Collector,
        calls: set[str],
        counter: ProgressCounter,
    ) -> None:
        self._bus, self._settings, self._job, self._collector = bus, settings, job, collector
        self._calls, self._counter = calls, counter
        self._recordings, self._texts = asyncio.Semaphore(job.jobs), asyncio.Semaphore(TEXTS_AT_ONCE)

    async def items(self, inputs: Iterable[Input | VconCall]) -> AsyncIterator[_Item]:
        """What is in the files: a table may hold many conversations."""
        from ingest.background import in_background
        from ingest.text.conversation import open_text, text_format_of

        for given in inputs:
            reading = self._job.reading
            if isinstance(given, MissingInput):
                yield _Item(given.name, given.error)
            elif isinstance(given, VconCall) or reading is None or not (reading.format or text_format_of(given)):
                yield _Item(given.name, given)
            else:
                try:
                    file = await in_background(lambda: open_text(given, self._job.options, reading))  # noqa: B023
                except TenorError as error:
                    yield _Item(given.name, error)
                    continue
                for number, conversation in enumerate(file, 1):
                    yield _Item(conversation.name, conversation, number == len(file))

    async def run(self, item: _Item) -> CallResult:
        """One item to its result; a file that cannot be read says why, and the batch goes on."""
        from ingest.audio.recording import open_recording

        result = CallResult(item.name, last_of_file=item.last_of_file)
        content = item.content
        events: CallEvents | None = None
        try:
            if isinstance(content, TenorError):
                raise content
            if isinstance(content, Source):
                result.files = content.files
                async with self._recordings:
                    events = await self._recording(lambda: open_recording(content, self._job.options), result)
            elif isinstance(content, VconCall) and content.to_recognize:
                async with self._recordings:
                    events = await self._recording(content.recording, result)
            else:
                async with self._texts:
                    events = await self._text(content, result)
        except TenorError as error:
            piped = isinstance(content, Source) and content.kind == "stream" and self._job.reading is not None
            error.hint = error.hint or (IF_TEXT if piped else "")
            result.error = error
        if events is not None and self._job.store:
            await self._job.store.store(events, result)  # what fails here is no fault of the file: the batch ends
        return result

    async def _recording(self, opened: Callable[[], Recording], result: CallResult) -> CallEvents | None:
        """The events of a recording; None when there was nothing to do."""
        from ingest.audio.publisher import publish_recording
        from ingest.background import in_background

        recording = await in_background(opened)
        result.info = recording.info(0.0)
        if await self._known(recording.call, result):
            recording.close()
            return None
        position_ms, duration_ms = 0, recording.duration_ms

        def tell(over: bool = False) -> None:
            share = min(position_ms / duration_ms, 1.0) if duration_ms else 0.0
            call = CallProgress(recording.call, recording.name, position_ms, duration_ms, over=over)
            self._counter.advance(call, result.files * share)

        def advance(ms: int) -> None:
            nonlocal position_ms
            if ms > position_ms:  # one side may be written down before the other
                position_ms = ms
                tell()

        tell()
        try:
            expected = self._collector.expect(recording.call, advance)
            fed = await publish_recording(self._bus, recording)
            duration_ms = fed.heard_ms  # a folder's is not known before
            tell()
            result.duration_ms, result.warnings = fed.heard_ms, [*result.warnings, *fed.warnings]
            return await self._collected(expected, result)
        finally:
            tell(over=True)

    async def _text(self, conversation: Conversation | VconCall, result: CallResult) -> CallEvents | None:
        """The events of a call whose words are known; None when there was nothing to do."""
        from ingest.audio.publisher import publish_recording
        from ingest.background import in_background
        from ingest.text.publisher import publish_conversation

        assert self._job.redactor is not None
        kept: Recording | None = None
        if isinstance(conversation, VconCall) and conversation.has_recording:
            kept = await in_background(conversation.recording)
        result.info = conversation.info()
        if await self._known(conversation.call, result):
            if kept:
                kept.close()
            return None
        position_ms, duration_ms, messages = 0, 0, 0

        def tell(over: bool = False) -> None:
            call = CallProgress(conversation.call, conversation.name, position_ms, duration_ms, messages, over)
            self._counter.advance(call)

        def advance(ms: int) -> None:
            nonlocal position_ms
            position_ms = ms
            if messages:  # how many there are is known once all are on the bus
                tell()

        expected = self._collector.expect(conversation.call, advance)
        heard = await publish_recording(self._bus, kept) if kept else None
        fed = await publish_conversation(self._bus, conversation, self._settings.speech, self._job.redactor)
        duration_ms, messages = fed.heard_ms, fed.chunks
        result.duration_ms, result.warnings = fed.heard_ms, list(fed.warnings)
        if heard:
            result.duration_ms = max(heard.heard_ms, fed.heard_ms)
            result.warnings += heard.warnings
        tell()
        try:
            return await self._collected(expected, result)
        finally:
            tell(over=True)

    async def _known(self, call: str, result: CallResult) -> bool:
        """Whether there is nothing to do for this call; the result says why."""
        result.call = call
        if call in self._calls:
            result.error = BadInput(f"{result.file} has the same content as one before it")
            return True
        self._calls.add(call)
        result.already_stored = bool(self._job.store and await self._job.store.find(result))
        return result.already_stored

    async def _collected(self, expected: asyncio.Future[CallEvents], result: CallResult) -> CallEvents:
        events = await expected
        state = events.states[-1]
        result.info = state.info or result.info
        if result.info is not None and result.info.speakers:  # who is who is known at the end
            roles = next((one.info.roles for one in reversed(events.states) if one.info), result.info.roles)
            result.info = msgspec.structs.replace(result.info, roles=roles)
        result.error = TenorError(state.reason) if state.state == "failed" and state.reason else None
        result.utterances = [_named(one, result.info) for one in sorted(events.utterances.values(), key=_when)]
        result.sentences = sorted(events.sentences.values(), key=_when)
        result.metrics, result.alerts = events.metrics, list(events.alerts.values())
        return events


def _named(utterance: Transcript, info: Call | None) -> Transcript:
    """Of voices that share a channel it is known at the end who is who."""
    if info is None or not info.speakers:
        return utterance
    return msgspec.structs.replace(utterance, role=info.roles[utterance.channel])


def _when(event: Transcript | Sentence) -> tuple[int, int]:
    return event.start_ms, event.channel
