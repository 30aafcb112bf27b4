"""A written conversation onto the bus, as a call whose words need no recogniser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol

import msgspec
import structlog

from ingest.background import in_background
from ingest.options import IngestOptions
from ingest.results import Known, PublishedCall, SourceResult, nothing_known
from ingest.sources import Source
from ingest.text.conversation import TextOptions, WrittenTurn, open_text
from ingest.warnings import Warnings
from tenor.aio import run_to_completion
from tenor.bus import Bus
from tenor.errors import BadInput, Refused, TenorError
from tenor.events import CALLS, TRANSCRIPTS, Call, CallState, Transcript
from tenor.reading import reading
from tenor.redaction import RedactedText, Redactor, mode
from tenor.redaction.about import without_cards
from tenor.redaction.silence import silenced
from tenor.redaction.utterance import confirms
from tenor.settings import SpeechSettings

log = structlog.get_logger(__name__)

BATCH = 200
"""Turns published in one go when nothing has to wait."""


class Conversation(Protocol):
    """A call whose words are known."""

    call: str
    warnings: Warnings

    @property
    def name(self) -> str: ...

    def info(self) -> Call: ...

    def turns(self) -> Iterator[WrittenTurn]: ...


async def publish_conversation(
    bus: Bus,
    conversation: Conversation,
    speech: SpeechSettings,
    redactor: Redactor,
    *,
    pace: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> PublishedCall:
    """Publish a conversation as a call and end it. Where it is to be redacted, nothing is published before that.

    `pace` 1.0 publishes every message when it would have come, None as fast as the bus takes them.
    """
    with reading(conversation.name):
        info = conversation.info()
        redact = mode(info, speech)
        info = msgspec.structs.replace(without_cards(info, redact), redact=redact)
        publisher = _Publisher(
            bus, conversation, info, redactor.at(info.redact) if info.redact != "off" else None, pace, progress
        )
        return await publisher.run()


async def publish_text_files(
    bus: Bus,
    sources: Iterable[Source],
    speech: SpeechSettings,
    redactor: Redactor,
    options: IngestOptions | None = None,
    text_options: TextOptions | None = None,
    *,
    pace: float | None = None,
    concurrency: int = 1,
    known: Known = nothing_known,
) -> list[SourceResult]:
    """Feed every conversation of many files, so many files at once; an outcome for each of them. A file that cannot be
    read does not keep the others from it."""
    gate = asyncio.Semaphore(concurrency)
    calls: set[str] = set()

    async def feed(conversation: Conversation) -> PublishedCall:
        if conversation.call in calls:
            raise BadInput(f"{conversation.name} was fed already as {conversation.call}")
        if error := await in_background(lambda: known(conversation.call)):
            raise error
        calls.add(conversation.call)
        return await publish_conversation(bus, conversation, speech, redactor, pace=pace)

    async def one(source: Source) -> list[SourceResult]:
        async with gate:
            try:
                file = await in_background(lambda: open_text(source, options, text_options))
            except TenorError as error:
                return [SourceResult(source, error=error)]
            found = []
            with file:
                for conversation in file:
                    try:
                        found.append(SourceResult(source, published=await feed(conversation)))
                    except (BadInput, Refused) as error:
                        found.append(SourceResult(source, error=error))
            return found

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(source)) for source in sources]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None  # the bus is away: the same for all
    return [outcome for task in tasks for outcome in task.result()]


class _Publisher:
    def __init__(
        self,
        bus: Bus,
        conversation: Conversation,
        info: Call,
        redactor: Redactor | None,
        pace: float | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._bus, self._conversation, self._info, self._redactor = bus, conversation, info, redactor
        self._pace, self._progress = pace, progress
        self._before: dict[int, str] = {}
        """What each side wrote last, as it was published: a number may go on from there."""
        self._end_ms = self._count = 0

    async def run(self) -> PublishedCall:
        begun = self._info.started_at if self._pace is None else time.time()
        attributes = dict(self._info.attributes)
        if "subject" in attributes:
            attributes["subject"] = self._redacted(attributes["subject"])
        info = msgspec.structs.replace(self._info, started_at=begun, attributes=attributes)
        live = CallState(call=self._conversation.call, state="live", at=time.time(), info=info)
        await self._bus.publish(CALLS, live)
        try:
            await self._publish_all(begun)
        except asyncio.CancelledError:
            await run_to_completion(self._end("stopped"))
            raise
        return await self._end("end of file")

    async def _publish_all(self, begun: float) -> None:
        turns = self._conversation.turns()
        while batch := await in_background(lambda: list(islice(turns, BATCH if self._pace is None else 1))):
            if self._pace is not None:
                await asyncio.sleep(max(0.0, begun + batch[0].start_ms / 1000 / self._pace - time.time()))
            await self._bus.publish_many(TRANSCRIPTS, [self._final(turn) for turn in batch])
            self._end_ms, self._count = batch[-1].end_ms, self._count + len(batch)
            if self._progress:
                self._progress(self._count)

    def _final(self, turn: WrittenTurn) -> Transcript:
        before = self._before.get(turn.channel, "")
        kept = RedactedText(turn.text, turn.words, ())
        if self._redactor is not None:
            kept = self._redactor.redact(turn.text, turn.words, before=before)
        text = kept.text
        if not confirms(text):
            self._before[turn.channel] = text
        call, now = self._conversation.call, time.time()
        return Transcript(
            call=call,
            channel=turn.channel,
            role=turn.role,
            utterance=f"{call}/{turn.channel}/{turn.start_ms}",
            start_ms=turn.start_ms,
            end_ms=turn.end_ms,
            text=text,
            final=True,
            words=kept.words,
            confidence=1.0,
            redacted=silenced(kept, turn.start_ms, turn.end_ms) if self._info.medium == "voice" else (),
            heard_ms=turn.end_ms,
            times={"published": now} if self._pace is None else {"captured": now, "published": now},
        )

    def _redacted(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.redact(text, ()).text

    async def _end(self, reason: str) -> PublishedCall:
        call = self._conversation.call
        await self._bus.publish(CALLS, CallState(call=call, state="ended", at=time.time(), reason=reason))
        log.info("conversation fed", call=call, reason=reason, turns=self._count)
        return PublishedCall(
            call=call,
            heard_ms=self._end_ms,
            chunks=self._count,
            reason=reason,
            warnings=tuple(self._conversation.warnings),
        )
