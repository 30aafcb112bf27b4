"""Many files through the stages: so many at once, answers in the order given, in bounded memory and disk.

    files --> feed, so many at once --> bus of the shift: asr, language --> collector --> outcomes in order

After so many files the shift ends, and all audio on its bus with it. The recogniser and the language model serve all
shifts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from rich.progress import Progress, TaskID

from tenor.bus import Bus
from tenor.cli.collector import Account, Collector
from tenor.cli.flags import Missing
from tenor.cli.output import clock
from tenor.cli.pipeline import running
from tenor.cli.shift import Crew, shift
from tenor.errors import TenorError
from tenor.events import Alert, Call, CallMetrics, Sentence, Topic, Transcript
from tenor.settings import Settings

if TYPE_CHECKING:
    from ingest.options import Options
    from ingest.sources import Source
    from ingest.text.conversation import Conversation, Reading
    from tenor.redaction import Redactor

T = TypeVar("T")
R = TypeVar("R")

FILES_A_SHIFT = 1000
WRITTEN_AT_ONCE = 64
"""Conversations that need no recogniser: enough of them to fill the batches of the language model."""
LONG = 100
"""Messages of a conversation that takes so long to understand that it has a bar of its own."""
AHEAD = 256
"""Outcomes that may wait for one before them."""

IF_TEXT = "if it is text, say which: --format txt, csv, json, jsonl, eml or mbox"


@dataclass
class Outcome:
    """What became of one call, or of a file that is none."""

    file: str
    call: str = ""
    info: Call | None = None
    duration_ms: int = 0
    warnings: list[str] = field(default_factory=list)
    said: list[Transcript | Sentence] = field(default_factory=list)
    metrics: CallMetrics | None = None
    alerts: list[Alert] = field(default_factory=list)
    error: str = ""
    hint: str = ""
    kept: bool = False
    """Nothing was done: it is in the database already."""
    stored: bool = False
    """It is in the database now, so other commands can be given its id."""
    last: bool = True
    """The file holds no further call."""
    files: int = 1
    """More than one where a folder is a conversation."""


@dataclass(frozen=True)
class Order:
    """What is wanted of a batch."""

    topic: Topic
    """TRANSCRIPTS: what was said; SENTENCES: what it means."""
    options: Options
    reading: Reading | None = None
    """How to read text; None: everything is a recording."""
    redactor: Redactor | None = None
    jobs: int = 4
    """Recordings at once."""
    find: Callable[[Outcome], Awaitable[bool]] | None = None
    """Whether the call is known already and left alone; the outcome then tells what is known."""
    keep: Callable[[Account, Outcome], Awaitable[None]] | None = None
    """Told of every call that was worked on."""
    settle: Callable[[Bus], Awaitable[None]] | None = None
    """What a shift waits for before it ends."""


@dataclass
class _Item:
    """A recording, a written conversation, or what kept a file from being either."""

    name: str
    content: Source | Conversation | TenorError
    last: bool = True


async def outcomes(
    settings: Settings, sources: Sequence[Source | Missing], order: Order, crew: Crew, bars: Progress
) -> AsyncGenerator[Outcome, None]:
    """Every call's outcome, in the order of the files and of the calls in them."""
    total = Total(bars, sum(map(_files, sources)))
    calls: set[str] = set()
    for files in _shifts(sources):
        async with shift(settings, crew) as bus:
            collector = Collector(bus, order.topic)
            batch = Batch(bus, settings, order, collector, calls, bars, total)
            async with running(collector), aclosing(in_order(batch.items(files), batch.work, AHEAD)) as results:
                async for outcome in results:
                    total.count(outcome)
                    yield outcome
                if order.settle:
                    await order.settle(bus)


def _shifts(sources: Iterable[Source | Missing]) -> Iterator[list[Source | Missing]]:
    taken: list[Source | Missing] = []
    files = 0
    for source in sources:
        taken.append(source)
        files += _files(source)
        if files >= FILES_A_SHIFT:
            yield taken
            taken, files = [], 0
    if taken:
        yield taken


def _files(source: Source | Missing) -> int:
    return 1 if isinstance(source, Missing) else source.files


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


class Total:
    """The bar of all files, with how fast they go; none for a single one."""

    def __init__(self, bars: Progress, files: int) -> None:
        self._bars, self._files, self._done, self._kept = bars, files, 0, 0
        self._begun: dict[str, float] = {}
        """How many files of a call that is not done are."""
        self._began = time.monotonic()
        self._task: TaskID | None = bars.add_task("all files", total=files, detail="") if files > 1 else None

    def advance(self, call: str, files: float) -> None:
        self._begun[call] = max(files, self._begun.get(call, 0.0))
        self._show()

    def count(self, outcome: Outcome) -> None:
        self._begun.pop(outcome.call, None)
        files = outcome.files if outcome.last else 0
        self._done += files
        self._kept += files if outcome.kept else 0
        self._show()

    def _show(self) -> None:
        if self._task is not None:
            done = self._done + sum(self._begun.values())
            rate = (done - self._kept) / max(time.monotonic() - self._began, 1e-3)
            detail = f"{int(done):,} of {self._files:,}, {rate:.1f} files/s"
            self._bars.update(self._task, completed=done, detail=detail)


class Batch:
    """Feeds the files of one shift, and collects what becomes of each call."""

    def __init__(
        self, bus: Bus, settings: Settings, order: Order, collector: Collector, calls: set[str], bars: Progress,
        total: Total,
    ) -> None:  # fmt: skip
        self._bus, self._settings, self._order, self._collector, self._bars = bus, settings, order, collector, bars
        self._calls, self._total = calls, total
        self._spoken, self._written = asyncio.Semaphore(order.jobs), asyncio.Semaphore(WRITTEN_AT_ONCE)

    async def items(self, sources: Iterable[Source | Missing]) -> AsyncIterator[_Item]:
        from ingest.background import in_background
        from ingest.text.conversation import form_of, open_text

        for source in sources:
            reading = self._order.reading
            if isinstance(source, Missing):
                yield _Item(source.name, source.error)
            elif reading is None or not (reading.form or form_of(source)):
                yield _Item(source.name, source)
            else:
                try:
                    file = await in_background(lambda: open_text(source, self._order.options, reading))  # noqa: B023
                except TenorError as error:
                    yield _Item(source.name, error)
                    continue
                for number, conversation in enumerate(file, 1):
                    yield _Item(conversation.name, conversation, number == len(file))

    async def work(self, item: _Item) -> Outcome:
        from ingest.sources import Source

        outcome = Outcome(item.name, last=item.last)
        content = item.content
        account: Account | None = None
        try:
            if isinstance(content, TenorError):
                raise content
            if isinstance(content, Source):
                outcome.files = content.files
                async with self._spoken:
                    account = await self._hear(content, outcome)
            else:
                async with self._written:
                    account = await self._read(content, outcome)
        except TenorError as error:
            piped = isinstance(content, Source) and content.kind == "stream" and self._order.reading is not None
            outcome.error, outcome.hint = error.message, error.hint or (IF_TEXT if piped else "")
        if account is not None and self._order.keep:
            await self._order.keep(account, outcome)  # what goes wrong here is no fault of the file: the batch ends
        return outcome

    async def _hear(self, source: Source, outcome: Outcome) -> Account | None:
        """What was said of it; None when there was nothing to do."""
        from ingest.background import in_background
        from ingest.feeding import feed
        from ingest.recording import open_recording

        recording = await in_background(lambda: open_recording(source, self._order.options))
        outcome.info = recording.info(0.0)
        if await self._known(recording.call, outcome):
            recording.close()
            return None
        heard_ms, length_ms = 0, recording.duration_ms
        bar = self._bars.add_task(recording.name, total=length_ms, detail="")

        def advance(ms: int) -> None:
            nonlocal heard_ms
            heard_ms = max(heard_ms, ms)  # one side may be written down before the other
            self._bars.update(bar, completed=heard_ms, detail=clock(heard_ms))
            if length_ms:
                self._total.advance(recording.call, outcome.files * min(heard_ms / length_ms, 1.0))

        try:
            account = self._collector.expect(recording.call, advance)
            fed = await feed(self._bus, recording)
            length_ms = fed.heard_ms  # a folder's is not known before
            self._bars.update(bar, total=length_ms)
            outcome.duration_ms, outcome.warnings = fed.heard_ms, list(fed.warnings)
            return await self._collected(account, outcome)
        finally:
            self._bars.remove_task(bar)

    async def _read(self, conversation: Conversation, outcome: Outcome) -> Account | None:
        from ingest.text.feeding import feed_text

        assert self._order.redactor is not None
        outcome.info = conversation.info()
        if await self._known(conversation.call, outcome):
            return None
        bar: TaskID | None = None

        def advance(ms: int) -> None:
            if bar is not None:
                self._bars.update(bar, completed=ms)

        account = self._collector.expect(conversation.call, advance)
        fed = await feed_text(self._bus, conversation, self._settings.speech, self._order.redactor)
        outcome.duration_ms, outcome.warnings = fed.heard_ms, list(fed.warnings)
        if fed.chunks >= LONG:
            bar = self._bars.add_task(
                conversation.name, total=fed.heard_ms, detail=f"{fed.chunks:,} messages or pieces"
            )
        try:
            return await self._collected(account, outcome)
        finally:
            if bar is not None:
                self._bars.remove_task(bar)

    async def _known(self, call: str, outcome: Outcome) -> bool:
        """Whether there is nothing to do for this call; the outcome says why."""
        outcome.call = call
        if call in self._calls:
            outcome.error = f"{outcome.file} has the same content as one before it"
            return True
        self._calls.add(call)
        outcome.kept = bool(self._order.find and await self._order.find(outcome))
        return outcome.kept

    async def _collected(self, waiting: asyncio.Future[Account], outcome: Outcome) -> Account:
        account = await waiting
        state = account.states[-1]
        outcome.info = state.info or outcome.info
        outcome.error = state.reason if state.state == "failed" else ""
        outcome.said = sorted(account.said.values(), key=lambda said: (said.start_ms, said.channel))
        outcome.metrics, outcome.alerts = account.metrics, list(account.alerts.values())
        return account
