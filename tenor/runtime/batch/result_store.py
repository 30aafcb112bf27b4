"""Calls of a batch in the database, so that the pages show them; what is there already is left alone.

A call is written when all of it is understood, in one transaction: a batch that is interrupted leaves whole calls.
"""

from __future__ import annotations

import time

import msgspec
from msgspec.structs import replace

from storage import anew, calls, compaction, deck, recordings, tables
from storage.calls import WholeCall
from storage.database import open_database
from storage.patience import in_thread, patiently
from storage.viewer import HOUSE
from tenor.bus import Bus
from tenor.cli.batch import Outcome
from tenor.cli.collector import Account
from tenor.cli.shift import caught_up
from tenor.events import Alert, Call, CallMetrics, Sentence
from tenor.settings import Settings
from tenor.stage import Stage

PATIENCE_S = 10.0
"""Somebody waits for the command: a full disk is told, and the next run goes on where this one stopped."""


class Keeping:
    def __init__(self, settings: Settings, *, again: bool) -> None:
        self._again, self._record = again, settings.storage.record
        self._database = open_database(settings)
        self._reopened: set[str] = set()
        self._words_gone = False
        """Whether the tables held words before that redaction takes out now."""

    def stages(self, bus: Bus, settings: Settings) -> list[Stage]:
        return [recordings.Recorder(bus, settings, PATIENCE_S)]

    async def settle(self, bus: Bus) -> None:
        await caught_up(bus, deck.TOPICS.values(), recordings.GROUP)

    async def find(self, outcome: Outcome) -> bool:
        """Whether the database holds a call whole, and if so what it says of it. A call's id comes from its content: a
        changed file is another call."""
        return await in_thread(lambda: self._find(outcome))

    def _find(self, outcome: Outcome) -> bool:
        with self._database.session() as session:
            whole = calls.whole(session, HOUSE, outcome.call)
        if whole is None:
            return False
        if not self._again and self._done(whole.call):
            _tell(whole, outcome)
            return True
        with self._database.begin() as session:
            anew.reopen(session, outcome.call)
        self._reopened.add(outcome.call)
        return False

    def _done(self, call: tables.Call) -> bool:
        """Whether a run that was interrupted came to the end of this call: its words and its recording."""
        recorded = call.recorded or call.medium != "voice" or not self._record
        return call.state == "analysed" and recorded

    async def keep(self, account: Account, outcome: Outcome) -> None:
        states = [replace(state, info=_warned(state.info, outcome.warnings)) for state in account.states]
        figures = [account.metrics] if account.metrics else []
        events = [*states, *figures, *outcome.said, *outcome.alerts]

        def write() -> bool:
            with self._database.begin() as session:
                return anew.store(session, outcome.call, events, time.time(), failed=account.failed)

        outcome.stored = await patiently(self._database, "analyze", write, PATIENCE_S)
        if not outcome.stored:
            outcome.warnings.append("it was erased from the database and does not come back")
        redacted = outcome.info is not None and outcome.info.redact not in (None, "off")
        self._words_gone |= redacted and outcome.call in self._reopened

    async def close(self) -> None:
        """All calls are kept. What was redacted only now is to be found in no file any more."""
        if self._words_gone:
            await in_thread(lambda: compaction.compact(self._database))
        self._database.close()


def _warned(info: Call | None, warnings: list[str]) -> Call | None:
    """With all that was noticed: some of it is known only at the end of a recording."""
    if info is None or not warnings:
        return info
    return replace(info, attributes={**info.attributes, "warnings": "\n".join(warnings)})


def _tell(whole: WholeCall, outcome: Outcome) -> None:
    """The rows of a call as the events they were made of."""
    call = whole.call
    outcome.stored = True
    outcome.info = msgspec.convert({**call.model_dump(), "redact": call.redact or None}, Call)
    outcome.duration_ms = call.duration_ms
    outcome.warnings = [told for told in call.attributes.get("warnings", "").split("\n") if told]
    outcome.said = [msgspec.convert({**row.model_dump(), "sentence": row.id}, Sentence) for row in whole.sentences]
    outcome.alerts = [msgspec.convert({**row.model_dump(), "alert": row.id}, Alert) for row in whole.alerts]
    outcome.metrics = CallMetrics(
        call=call.id,
        at_ms=call.duration_ms,
        values=call.metrics,
        task=call.task,
        task_score=call.task_score,
        final=True,
    )
