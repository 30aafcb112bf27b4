"""A person in the assistant's place: takes a conversation that waits, writes to the shopper, and gives it back.

Who has it is decided by the order of the events on the bus, so two who take it at once, in different processes, learn
the same. A line has its id from the message that it came with: sent twice, it is there once.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from typing import Final

from dashboard.assistant.conversations import LONGEST_MESSAGE
from dashboard.routes.denied import Denied
from dashboard.routes.handovers import Handovers
from storage.db.engine import Database
from storage.queries import calls
from storage.tables import Audit
from storage.tables import Call as CallRow
from storage.viewer import Viewer
from tenor.aio import run_to_completion
from tenor.assistant.handover import AGENT, ASSISTANT, Handover, agent_channel, is_on_telephone, read_handover
from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus
from tenor.events import TRANSCRIPTS, TURNS, CallGivenBack, CallTakenOver, Transcript
from tenor.redaction import Redactor

GOING_ON: Final = ("ringing", "live")
LONGEST_ID: Final = 64
REMEMBERED: Final = 10_000


class Takeovers:
    def __init__(self, bus: Bus, database: Database, redactor: Redactor, handovers: Handovers) -> None:
        self._bus, self._database, self._redactor, self._handovers = bus, database, redactor, handovers
        self._before: BoundedDict[str, str] = BoundedDict(REMEMBERED)
        """The last line of the person in each call: a number may go on from there."""

    async def take(self, viewer: Viewer, call: str) -> Handover:
        """The conversation is this person's from now on, unless somebody was quicker."""
        _, now = await self._find(viewer, call)
        if now.state == "taken":
            _only(viewer, now)
            return now
        event = CallTakenOver(call=call, agent=viewer.name, at=time.time())
        place = await run_to_completion(self._bus.publish(TURNS, event))
        after = await self._handovers.after(call, *place)
        _only(viewer, after)
        await asyncio.to_thread(self._note, viewer, call, "call.taken")
        return after

    async def give_back(self, viewer: Viewer, call: str) -> Handover:
        """The assistant goes on by itself."""
        _, now = await self._find(viewer, call)
        _only(viewer, now)
        event = CallGivenBack(call=call, agent=viewer.name, at=time.time())
        place = await run_to_completion(self._bus.publish(TURNS, event))
        after = await self._handovers.after(call, *place)
        await asyncio.to_thread(self._note, viewer, call, "call.given_back")
        return after

    async def write(self, viewer: Viewer, call: str, text: str, message: str = "") -> str:
        """A line to the shopper, redacted as written calls are; its id, the same for a message that is sent again."""
        text = text.strip()
        if not text or len(text) > LONGEST_MESSAGE:
            raise Denied(400, f"a line has 1 to {LONGEST_MESSAGE:,} characters")
        if len(message) > LONGEST_ID:
            raise Denied(400, f"the id of a message has at most {LONGEST_ID} characters")
        row, now = await self._find(viewer, call)
        _only(viewer, now)
        if row.redact != "off":
            before = self._before.get(call, "")
            text = (await asyncio.to_thread(self._redactor.at(row.redact).redact, text, (), before=before)).text
        channel = agent_channel(row.roles)
        name = hashlib.sha256((message or secrets.token_hex(8)).encode()).hexdigest()[:16]
        at = time.time()
        start_ms = max(0, int((at - row.started_at) * 1000))
        line = Transcript(
            call=call,
            channel=channel,
            role=AGENT,
            utterance=f"{call}/{channel}/{name}",
            start_ms=start_ms,
            end_ms=start_ms + len(text),
            text=text,
            final=True,
            confidence=1.0,
            heard_ms=start_ms + len(text),
            written=True,
            times={"captured": at, "published": at},
        )
        await run_to_completion(self._bus.publish(TRANSCRIPTS, line))
        self._before[call] = text
        return line.utterance

    async def _find(self, viewer: Viewer, call: str) -> tuple[CallRow, Handover]:
        """A conversation of the assistant that goes on and is this person's to see, and who has it."""
        if not viewer.takes_calls:
            raise Denied(403, f"your role, {viewer.role}, does not take calls")
        heard = self._handovers.of(call)
        row = await asyncio.to_thread(self._row, viewer, call, heard)
        if row is None:
            if heard.state == "taken" and heard.agent != viewer.name:
                raise Denied(409, f"{heard.agent} has this conversation")
            raise Denied(404, "there is no such call, or none that you may see")
        if not row.attributes.get(ASSISTANT):
            raise Denied(409, "this is no conversation with the assistant")
        if row.state not in GOING_ON:
            raise Denied(409, "this conversation is over")
        if is_on_telephone(row.source, row.medium):
            raise Denied(409, "this call is on the telephone: whoever answers it there has it, and gives it back there")
        return row, heard if heard.state else read_handover(row.handover)

    def _row(self, viewer: Viewer, call: str, heard: Handover) -> CallRow | None:
        with self._database.session() as session:
            found = calls.find(session, viewer, call)
            if found is None and viewer.may_see(heard.agent if heard.state == "taken" else "", waiting=heard.open):
                found = session.get(CallRow, call)  # the bus has told what the storage stage has not written yet
            return found

    def _note(self, viewer: Viewer, call: str, what: str) -> None:
        with self._database.session() as session:
            session.add(Audit(at=time.time(), who=viewer.name, action=what, subject=call))
            session.commit()


def _only(viewer: Viewer, now: Handover) -> None:
    if now.state != "taken":
        raise Denied(409, "nobody has taken this conversation")
    if now.agent != viewer.name:
        raise Denied(409, f"{now.agent or 'somebody else'} has this conversation")
