"""A conversation in text: carries the engine's effects out and gives one record per turn.

The clock stands still unless the caller moves it, so that a conversation can be played again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
import structlog

from dialog.engine.engine import Engine, Step
from dialog.engine.events import Call, Done, Effect, End, Event, Failed, Heard, Say
from dialog.engine.session import Session
from dialog.exchange import APOLOGY, shown
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionCall, ActionFailed
from tenor.taxonomy.assistant import printed_intent

log = structlog.get_logger(__name__)

Clock = Callable[[], datetime]


class ActionRecord(msgspec.Struct, kw_only=True):
    name: str
    arguments: dict[str, Any]
    result: dict[str, Any] | None = None
    error: str | None = None


class ChatTurn(msgspec.Struct, kw_only=True):
    """One turn, as `tenor assistant chat --json` prints it."""

    turn: int
    input: str | None
    intent: str | None
    slots: dict[str, Any]
    state: str
    actions: list[ActionRecord]
    replies: list[str]
    context: dict[str, Any]
    ended: bool


class Chat:
    """One conversation."""

    def __init__(self, engine: Engine, runner: ActionRunner, clock: Clock, call: str = "chat") -> None:
        self._engine = engine
        self._runner = runner
        self._clock = clock
        self._call = call
        self._turn = 0
        self.session = Session(call=call, version=engine.assistant.version)

    async def start(self) -> ChatTurn:
        return await self._settled(None, self._engine.start(self._call, self._clock()))

    async def say(self, text: str) -> ChatTurn:
        """The shopper's line, and everything that comes of it until it is his turn again."""
        self._turn += 1
        return await self._settled(text, self._stepped(Heard(text)))

    def _stepped(self, event: Event) -> Step:
        """What an event leads to. A line that the dialog manager fails on is apologised for, and the conversation goes
        on from where it was."""
        try:
            return self._engine.step(self.session, event, self._clock())
        except Exception as error:
            log.exception("the dialog manager failed on a line", turn=self._turn, exc_info=error)
            apology: list[Effect] = [Say(APOLOGY)]
            return Step(self.session, apology, [])

    async def _settled(self, text: str | None, step: Step) -> ChatTurn:
        replies: list[str] = []
        done: list[ActionRecord] = []
        ended = False
        waiting = [step]
        while waiting:
            step = waiting.pop(0)
            self.session = step.session
            for effect in step.effects:
                match effect:
                    case Say():
                        replies.append(effect.text)
                    case End():
                        ended = True
                    case Call():
                        record = ActionRecord(name=effect.action, arguments=shown(effect.arguments))
                        done.append(record)
                        event = await self._carried_out(effect, record)
                        waiting.append(self._stepped(event))
        return self._record(text, replies, done, ended)

    async def _carried_out(self, call: Call, record: ActionRecord) -> Event:
        spec = self._engine.assistant.actions.get(call.action)
        wanted = ActionCall(
            name=call.action, arguments=call.arguments, now=self._clock(), key=call.key, call=self._call
        )
        try:
            found = await self._runner.run(
                wanted,
                timeout_s=call.deadline_ms / 1000,
                retries=call.retries,
                changes=spec.changes if spec is not None else "nothing",
            )
        except ActionFailed as failed:
            record.error = str(failed)
            return Failed(call.id, str(failed), failed.uncertain)
        record.result = found.result
        return Done(call.id, found.result)

    def _record(self, text: str | None, replies: list[str], done: list[ActionRecord], ended: bool) -> ChatTurn:
        session = self.session
        slots = session.task.slots if session.task is not None else {}
        return ChatTurn(
            turn=self._turn,
            input=text,
            intent=None if text is None else printed_intent(session.intent),
            slots=shown({name: held.value for name, held in slots.items()}),
            state=session.state,
            actions=done,
            replies=replies,
            context=session.context,
            ended=ended,
        )
