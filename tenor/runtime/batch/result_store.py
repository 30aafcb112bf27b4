"""Calls of a batch in the database, so that the dashboard shows them; what is there already is left alone.

A call is written when all of it is understood, in one transaction: a batch that is interrupted leaves whole calls.
"""

from __future__ import annotations

import time

import msgspec
from msgspec.structs import replace

from storage import tables
from storage.db import vacuum
from storage.db.engine import open_database
from storage.db.retry import patiently
from storage.queries import calls
from storage.queries.calls import WholeCall
from storage.recorder import partition, worker
from storage.viewer import HOUSE
from storage.writer import replace_call
from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.events import Alert, Call, CallMetrics, CallSummary, Sentence
from tenor.runtime.batch.call_result import CallResult
from tenor.runtime.batch.collector import CallEvents
from tenor.runtime.compose import caught_up
from tenor.settings import Settings
from tenor.stage import Stage

PATIENCE_S = 10.0
"""Somebody waits for the command: a full disk is told, and the next run goes on where this one stopped."""


class ResultStore:
    """Where the results of a batch are stored, and found again."""

    def __init__(self, settings: Settings, *, again: bool) -> None:
        self._again, self._record = again, settings.storage.record
        self._database = open_database(settings)
        self._reopened: set[str] = set()
        self._words_gone = False
        """Whether the tables held words before that redaction takes out now."""

    def stages(self, bus: Bus, settings: Settings) -> list[Stage]:
        """What a pipeline needs besides, so that recordings are stored, too."""
        return [worker.RecordingWorker(bus, settings, PATIENCE_S)]

    async def settle(self, bus: Bus) -> None:
        """Wait until the recordings of all calls on the bus are stored."""
        await caught_up(bus, partition.TOPICS.values(), worker.GROUP)

    async def find(self, result: CallResult) -> bool:
        """Whether the database holds a call whole, and if so what it says of it. A call's id comes from its content: a
        changed file is another call."""
        return await in_thread(lambda: self._find(result))

    def _find(self, result: CallResult) -> bool:
        with self._database.session() as session:
            whole = calls.whole(session, HOUSE, result.call)
        if whole is None:
            return False
        if not self._again and self._done(whole.call):
            _fill(whole, result)
            return True
        with self._database.begin() as session:
            replace_call.reopen(session, result.call)
        self._reopened.add(result.call)
        return False

    def _done(self, call: tables.Call) -> bool:
        """Whether a run that was interrupted came to the end of this call: its words and its recording."""
        recorded = call.recorded or call.medium != "voice" or not self._record
        return call.state == "analysed" and recorded

    async def store(self, events: CallEvents, result: CallResult) -> None:
        """Store a call that is over; the result then says so."""
        states = [replace(state, info=_warned(state.info, result.warnings)) for state in events.states]
        metrics = [events.metrics] if events.metrics else []
        stored = [*states, *metrics, *result.sentences, *result.alerts]

        def write() -> bool:
            with self._database.begin() as session:
                return replace_call.store(session, result.call, stored, time.time(), failed=events.failed)

        result.stored = await patiently(self._database, "analyze", write, PATIENCE_S)
        if not result.stored:
            result.warnings.append("it was erased from the database and does not come back")
        redacted = result.info is not None and result.info.redact not in (None, "off")
        self._words_gone |= redacted and result.call in self._reopened

    async def close(self) -> None:
        """All calls are stored. What was redacted only now is to be found in no file any more."""
        if self._words_gone:
            await in_thread(lambda: vacuum.compact(self._database))
        self._database.close()


def _warned(info: Call | None, warnings: list[str]) -> Call | None:
    """With all that was noticed: some of it is known only at the end of a recording."""
    if info is None or not warnings:
        return info
    return replace(info, attributes={**info.attributes, "warnings": "\n".join(warnings)})


def _fill(whole: WholeCall, result: CallResult) -> None:
    """The rows of a call as the events they were made of."""
    call = whole.call
    result.stored = True
    result.info = msgspec.convert({**call.model_dump(), "redact": call.redact or None}, Call)
    result.duration_ms = call.duration_ms
    result.warnings = [told for told in call.attributes.get("warnings", "").split("\n") if told]
    result.sentences = [msgspec.convert({**row.model_dump(), "sentence": row.id}, Sentence) for row in whole.sentences]
    result.alerts = [msgspec.convert({**row.model_dump(), "alert": row.id}, Alert) for row in whole.alerts]
    result.metrics = CallMetrics(
        call=call.id,
        at_ms=call.duration_ms,
        values=call.metrics,
        task=call.task,
        task_score=call.task_score,
        summary=msgspec.convert(call.summary, CallSummary) if call.summary else None,
        final=True,
    )
