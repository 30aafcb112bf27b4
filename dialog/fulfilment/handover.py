"""A person is asked for. Where nobody can take over at once, as in a chat on a terminal, the result says so."""

from __future__ import annotations

from dialog.fulfilment import arguments
from dialog.fulfilment.results import HandoverResult
from dialog.fulfilment.types import ActionCall, ActionResult


class Handover:
    source = "tenor"

    async def run(self, call: ActionCall) -> ActionResult:
        result: HandoverResult = {
            "queue": arguments.text(call.arguments, "queue"),
            "reason": arguments.text(call.arguments, "reason"),
            "summary": arguments.text(call.arguments, "summary"),
            "taken": False,
        }
        return ActionResult(result=dict(result), source=self.source)
