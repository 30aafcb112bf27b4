"""One conversation with the assistant: what has happened to it, taken turn by turn.

What was published is the state. A turn is a function of the session in the Turn before it, of what happened and of when
that was published, so a successor comes to the same turn; what it did in the world is in the ledger.

    input --> step of the engine --> actions, each followed by a step --> Turn --> what was said, as transcripts
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
import structlog

from dialog import metrics
from dialog.action_ledger import ActionLedger
from dialog.end_of_turn import is_waited_for, joined, lines_of_turn
from dialog.engine.engine import Engine, Step
from dialog.engine.events import Call as CallAction
from dialog.engine.events import Done, Escalated, Event, Failed, NobodyCame, Silence, Spoken
from dialog.engine.handover import ACTION as HANDOVER
from dialog.engine.session import Session
from dialog.exchange import APOLOGY, CallInput, Exchange, alert_of, shown, transcripts_of
from dialog.flow_versions import FlowVersion, FlowVersions
from dialog.fulfilment.types import ActionCall
from dialog.understanding.types import Reading, Understander, UnderstanderVersions, VersionedUnderstander
from tenor.aio import run_to_completion
from tenor.assistant.backchannel import is_backchannel
from tenor.assistant.handover import is_on_telephone
from tenor.bus import Bus, PartitionLost
from tenor.bus.partitioned import Publish
from tenor.events import CALLS, TRANSCRIPTS, TURNS, Call, Turn, TurnAction, TurnReply, TurnSpoken
from tenor.telemetry import trace_stages

log = structlog.get_logger(__name__)

ATTRIBUTE: Final = "assistant"
"""Of a call: the name of the assistant that answers it."""
MOST_ACTIONS: Final = 20
"""Of one turn: more is a flow that calls itself."""
SPOKEN_MS: Final = 65
"""How long a character takes to be said, until what plays it says when it was done."""
LONGEST_MS: Final = 7 * 86_400_000
"""Of a call; who says that one began earlier does not know when it began."""
YES_NO: Final = ("confirm", "person", "resume", "intent", "choice")
"""Questions to which "okay" is an answer."""


@dataclass(frozen=True)
class CallContext:
    """What all conversations of a worker share."""

    bus: Bus
    publish: Publish
    versions: FlowVersions
    understanders: UnderstanderVersions
    clock: Callable[[], float] = time.time


class AssistantCall:
    def __init__(self, call: str, info: Call, context: CallContext) -> None:
        self.id, self.info = call, info
        self.first_state = 0
        """Offset on the calls topic from which a successor finds out that it is live."""
        self.turn_offset: int | None = None
        """Where the last Turn lies, from which a successor goes on."""
        self.end: int | None = None
        """Of a call that is over: where its transcripts end."""
        self.audio_stopped = False
        self.touched = 0.0
        self.working: asyncio.Task[None] | None = None
        self.inbox: deque[CallInput] = deque()
        self.ledger = ActionLedger(context.publish, call, context.clock)
        self._context = context
        self._session: Session | None = None
        self._next = 0
        """Number of the next turn."""
        self._read_to = self._turns_to = 0
        self._end_ms = 0
        self._wait_until = 0.0
        self._spoken = -1
        """The last turn of which we know how much was heard."""
        self._last: Turn | None = None
        self._last_input: CallInput | None = None
        """Of our own last turn."""

    @property
    def _written(self) -> bool:
        """Held in writing now: replies are shown, and nobody is hurried."""
        return self.info.medium != "voice"

    # -- what is known

    def renew(self, info: Call) -> None:
        """Something else is known of the call: on the web, that the microphone was switched on or off."""
        self.info = info
        if self._written and self._session is not None and not self._session.handed_over:
            self._wait_until = 0.0

    def restore(self, turn: Turn, offset: int) -> None:
        """A Turn on the bus: our own that comes back, a predecessor's, or one of a worker that was thought dead. The
        first of a number counts."""
        ours = self._last
        if turn.turn >= self._next:
            again = None
        elif ours is not None and turn.turn == ours.turn and self.turn_offset is not None and offset < self.turn_offset:
            again = self._last_input
        else:
            return
        self._adopt(turn, offset)
        if again is not None and not self._covered(again):
            self.inbox.appendleft(again)

    def hear(self, event: TurnSpoken) -> None:
        """How much of the last replies was heard; silence counts from there."""
        self._spoken = max(self._spoken, event.turn)
        if self._session is not None and self._last is not None and event.turn == self._last.turn:
            self._session = self._flows().engine.step(self._session, Spoken(event.text), self._now(event.at)).session
            if self._wait_until and not self._session.handed_over:
                silence_ms = self._flows().engine.assistant.patterns.silence_ms
                self._wait_until = event.at + silence_ms / 1000

    def is_backchannel(self, text: str, at: float) -> bool:
        """Whether "okay" only shows that the shopper listens: said while we speak, and no answer to what we ask."""
        last, session = self._last, self._session
        if self._written or last is None or session is None or self._spoken == last.turn or not is_backchannel(text):
            return False
        said_s = sum(len(reply.text) for reply in last.replies) * SPOKEN_MS / 1000
        speaking = at < last.times.get("turn_published", last.at) + said_s
        return speaking and not self._asks_yes_no(session)

    def _asks_yes_no(self, session: Session) -> bool:
        if session.pending is None:
            return False
        slot = self._flows().engine.assistant.slots.get(session.pending.slot)
        return session.pending.kind in YES_NO or (slot is not None and slot.type == "yes_no")

    def ring(self, now: float) -> None:
        """Nothing happened for as long as the last turn allowed."""
        if not self._wait_until or now < self._wait_until or self._session is None:
            return
        if not self.inbox and self.working is None and self.end is None:
            event = NobodyCame() if self._session.handed_over else Silence()
            kind = "nobody_came" if self._session.handed_over else "silence"
            self.inbox.append(CallInput(kind=kind, event=event, at=self._wait_until))

    def first_pending(self, topic: str) -> int | None:
        """Offset of the oldest record on this topic that is not dealt with."""
        return next((one.offset for one in self.inbox if one.topic == topic), None)

    # -- turns

    async def work(self) -> None:
        """Take turns until nothing is left to do, or until what is being said may go on."""
        with suppress(PartitionLost):  # we are about to be told, and closed
            await self._work()

    async def _work(self) -> None:
        while self.inbox:
            if self._covered(self.inbox[0]):
                self.inbox.popleft()
                continue
            lines = [self.inbox[0]] if self._written else lines_of_turn(self.inbox)
            if not self._written and is_waited_for(lines, self._context.clock()):
                return
            if await self._take(joined(lines)):  # else somebody else took it, or another: look again
                for line in lines:
                    self.inbox.remove(line)

    async def tell_again(self) -> None:
        """What follows from the last Turn, whose author may have died before it: ids make it count once."""
        if self._last is not None:
            await self._tell(self._last)

    def _covered(self, given: CallInput) -> bool:
        """Whether a published turn has dealt with it."""
        if given.topic == TRANSCRIPTS.name:
            return given.offset < self._read_to
        if given.topic == TURNS.name:
            return given.offset < self._turns_to
        if isinstance(given.event, Escalated):
            return self._session is not None and given.event.alert in self._session.alerts
        return self._next > 0 if given.kind == "start" else given.at != self._wait_until

    async def _take(self, given: CallInput) -> bool:
        """Whether the turn is published, or was by somebody else."""
        number = self._next
        heard = self._session.heard if self._session is not None else ""
        exchange = Exchange(number, given, self._now(given.at), heard)
        self.ledger.begin()
        stepped = time.time()
        session = await self._settle(exchange)
        if self._next != number:
            return False
        understander, model = self._understander(given.at)
        reading = self._reading(understander, given.text)
        turn = exchange.turn(
            session,
            reading,
            read_to=given.offset + 1 if given.topic == TRANSCRIPTS.name else self._read_to,
            turns_to=given.offset + 1 if given.topic == TURNS.name else self._turns_to,
            at_ms=self._position(given),
            wait_until=self._patience(exchange, session),
            assistant=self.info.attributes.get(ATTRIBUTE, ""),
            flow=session.version,
            model=model if reading is not None else "",
            written=self._written,
            times={**given.times, "stepped": stepped, "turn_published": time.time()},
        )
        await run_to_completion(self._publish(turn, given))
        return True

    def _reading(self, understander: Understander, text: str) -> Reading | None:
        """The line with its tags, for the record: a turn counts without them, too."""
        try:
            return understander.read(text) if text.strip() else None
        except Exception as error:
            log.exception("a line could not be read", call=self.id, exc_info=error)
            return None

    async def _settle(self, exchange: Exchange) -> Session:
        """The session after the input and all actions that follow from it."""
        flows = self._flows()
        engine = flows.engine.reading_with(self._understander(exchange.given.at).understander)
        try:
            step = self._stepped(engine, exchange)
        except Exception as error:  # one line must not end the conversations of all others
            return self._failed(engine, exchange, error)
        session, waiting = step.session, [step]
        while waiting:
            step = waiting.pop(0)
            exchange.add(step)
            for effect in step.effects:
                if isinstance(effect, CallAction) and len(exchange.actions) < MOST_ACTIONS:
                    event = await self._carried_out(flows, exchange, effect)
                    try:
                        after = engine.step(session, event, exchange.now)
                    except Exception as error:
                        return self._failed(engine, exchange, error)
                    session = after.session
                    waiting.append(after)
        return session

    def _stepped(self, engine: Engine, exchange: Exchange) -> Step:
        if self._session is None:
            step = engine.start(self.id, exchange.now)
            if exchange.given.event is None:
                return step
            self._session = step.session  # its session could not be read: the line is answered all the same
        assert exchange.given.event is not None
        return engine.step(self._session, exchange.given.event, exchange.now)

    def _failed(self, engine: Engine, exchange: Exchange, error: Exception) -> Session:
        metrics.FAILED_STEPS.inc()
        log.exception("the dialog manager failed on a line", call=self.id, turn=exchange.number, exc_info=error)
        exchange.trace.append(("failed", type(error).__name__))
        exchange.replies.append(TurnReply(text=APOLOGY))
        return self._session or Session(call=self.id, version=engine.assistant.version)

    async def _carried_out(self, flows: FlowVersion, exchange: Exchange, call: CallAction) -> Event:
        arguments, assistant = dict(call.arguments), flows.engine.assistant
        spec = assistant.actions.get(call.action)
        if call.action == HANDOVER and (queue := assistant.patterns.handover_queue):
            result = {"queue": queue, "reason": "", "summary": "", **arguments, "taken": False, "queued": True}
            done = TurnAction(name=call.action, arguments=arguments, result=result, key=call.key, source="tenor")
        else:
            wanted = ActionCall(
                name=call.action, arguments=arguments, now=exchange.now, key=call.key, call=self.id,
                customer=self.info.attributes.get("verified_customer", ""),
            )  # fmt: skip
            changes = spec.changes if spec is not None else "nothing"
            done = await self.ledger.carry_out(flows.runner, exchange.number, call, wanted, changes)
        exchange.actions.append(msgspec.structs.replace(done, arguments=shown(done.arguments)))
        if done.result is None:
            return Failed(call.id, done.error, done.uncertain)
        return Done(call.id, done.result)

    # -- publishing

    async def _publish(self, turn: Turn, given: CallInput) -> None:
        position = await self._context.publish(TURNS, turn)
        if position is None:
            raise PartitionLost("another worker has taken the conversation over")
        self._adopt(turn, position.offset)
        self._last_input = given
        metrics.TURNS.labels(turn.event).inc()
        if turn.event == "heard":
            metrics.SECONDS.observe(max(0.0, turn.times["turn_published"] - turn.at))
            trace_stages("turn", turn.times, call=self.id)
        await self._tell(turn)

    def _adopt(self, turn: Turn, offset: int) -> None:
        try:
            self._session = msgspec.convert(turn.session, Session)
        except msgspec.ValidationError as error:
            log.warning("a conversation cannot be gone on with", call=self.id, reason=str(error))
            self._session = None
        self._last, self._last_input, self.turn_offset = turn, None, offset
        self._next = turn.turn + 1
        self._read_to, self._turns_to = turn.read_to, turn.turns_to
        self._end_ms = turn.at_ms + len(turn.replies)
        self._wait_until = turn.wait_until
        self.ledger.forget()

    async def _tell(self, turn: Turn) -> None:
        """What was said in text, as any other side's lines, and that a person is wanted. What was said aloud is told by
        what played it, for only that knows how much was heard."""
        if turn.written and turn.replies:
            for line in transcripts_of(turn, self.info):
                await self._context.publish(TRANSCRIPTS, line)
        if turn.handover:
            await self._context.publish(CALLS, alert_of(turn))

    # -- times

    def _flows(self) -> FlowVersion:
        """With the flows with which the conversation began."""
        versions = self._context.versions
        if self._session is None:
            return versions.current
        found = versions.of(self._session.version)
        if found is None:
            log.warning("a conversation goes on with other flows", call=self.id, version=self._session.version)
            found = versions.current
            self._session.version = found.engine.assistant.version
        return found

    def _understander(self, published: float) -> VersionedUnderstander:
        """With the model and the flows with which the conversation began."""
        return self._context.understanders.of(self.id, self.info, published, self._flows().engine.assistant)

    def _now(self, at: float) -> datetime:
        """The shopper's clock."""
        zone = self.info.attributes.get("timezone", "")
        try:
            return datetime.fromtimestamp(at, ZoneInfo(zone)) if zone else datetime.fromtimestamp(at).astimezone()
        except (KeyError, ValueError, OSError):  # a zone that nobody knows
            return datetime.fromtimestamp(at).astimezone()

    def _position(self, given: CallInput) -> int:
        """In the call, after what caused the turn and after what was said before."""
        passed_ms = int((given.at - self.info.started_at) * 1000)
        if given.cause or not 0 <= passed_ms < LONGEST_MS:
            passed_ms = 0
        return max(passed_ms, given.end_ms, self._end_ms)

    def _patience(self, exchange: Exchange, session: Session) -> float:
        """When nothing having happened is a turn of its own. Who writes is not hurried."""
        if session.ended or self.end is not None:
            return 0.0
        if exchange.handover is not None and is_on_telephone(self.info.source, self.info.medium):
            return 0.0  # the platform's queue has the call: there is nobody whom we could tell that no one came
        if exchange.handover is not None:
            wait_ms = self._flows().engine.assistant.patterns.handover_wait_ms
            return exchange.given.at + wait_ms / 1000
        if session.handed_over:  # until somebody takes it
            return 0.0 if exchange.given.kind == "taken_over" else self._wait_until
        if self._written or exchange.wait is None:
            return 0.0
        said = sum(len(reply.text) for reply in exchange.replies)
        return exchange.wait.timestamp() + said * SPOKEN_MS / 1000
