"""What comes of an action in a test, and when: its provider's answer, unless the test says otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dialog.engine.events import Call, Done, Failed
from dialog.flow.model import Assistant
from dialog.fulfilment.types import Action, ActionCall, ActionFailed
from dialog.testing.conversation import Behaviour

FIRST_WAIT_MS = 100
"""Before the second attempt; it doubles. As dialog.fulfilment.runner does it, without its jitter."""
REAL_LIMIT_S = 30.0
"""An action of the author's own may take this long in real time; on the test's clock it takes what the test says."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    after_ms: int
    event: Done | Failed


class ScriptedActions:
    def __init__(self, assistant: Assistant, actions: Mapping[str, Action]) -> None:
        self._specs = assistant.actions
        self._actions = actions

    async def answer(self, call: Call, behaviour: Behaviour, now: datetime, conversation: str) -> ScriptedAnswer:
        """Never raises: what fails is an answer, too."""
        safe = not self.changes_something(call.action)
        action = self._actions.get(call.action)
        attempts = 1 + (call.retries if safe or callable(getattr(action, "lookup", None)) else 0)
        after_ms = 0
        event: Done | Failed = Failed(call.id, "no attempt")
        for attempt in range(attempts):
            after_ms += behaviour.takes_ms
            if after_ms >= call.deadline_ms:
                return ScriptedAnswer(call.deadline_ms, Failed(call.id, "timeout", not safe))
            if attempt < behaviour.fails:
                event, again = Failed(call.id, "scripted failure", behaviour.uncertain), True
            elif behaviour.result is not None:
                return ScriptedAnswer(after_ms, Done(call.id, dict(behaviour.result)))
            else:
                event, again = await self._provided(action, call, now, conversation, safe)
            if isinstance(event, Done) or not again or attempt + 1 == attempts:
                break
            after_ms += FIRST_WAIT_MS * 2**attempt
        return ScriptedAnswer(min(after_ms, call.deadline_ms), event)

    def changes_something(self, action: str) -> bool:
        spec = self._specs.get(action)
        return spec is not None and spec.changes != "nothing"

    async def _provided(
        self, action: Action | None, call: Call, now: datetime, conversation: str, safe: bool
    ) -> tuple[Done | Failed, bool]:
        """The provider's answer, and whether trying again may help."""
        if action is None:
            return Failed(call.id, "there is no such action"), False
        wanted = ActionCall(name=call.action, arguments=call.arguments, now=now, key=call.key, call=conversation)
        try:
            async with asyncio.timeout(REAL_LIMIT_S):
                found = await action.run(wanted)
        except TimeoutError:
            return Failed(call.id, "timeout", not safe), safe
        except ActionFailed as failed:
            return Failed(call.id, str(failed), failed.uncertain), failed.retry
        except Exception as error:  # the author's own code
            return Failed(call.id, f"{type(action).__name__}: {type(error).__name__}: {error}", not safe), False
        return Done(call.id, found.result), False
