"""A person in the assistant's place, for programs: take a conversation, write to the shopper, give it back."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.changes import changing
from dashboard.api.errors import RESPONSES
from dashboard.assistant.takeover import Takeovers
from tenor.assistant.handover import Handover

_CONFLICTS: dict[int | str, dict[str, Any]] = {
    403: {"description": "This role does not take calls", "content": RESPONSES[404]["content"]},
    409: {"description": "Somebody else has it, or it is over", "content": RESPONSES[404]["content"]},
}


def router(auth: ApiAuth, takeovers: Takeovers, origins: list[str]) -> APIRouter:
    made = APIRouter(responses={**RESPONSES, **_CONFLICTS}, tags=["assistant"])

    Who = Annotated[Requester, Depends(changing(auth, origins))]  # noqa: N806

    @made.post("/calls/{call:path}/take")
    async def take_call(who: Who, call: str) -> models.Handover:
        """Take a written conversation from the assistant. Of several who try, the first has it."""
        return _answer(await takeovers.take(who.viewer, call))

    @made.post("/calls/{call:path}/lines", status_code=202)
    async def write_line(who: Who, call: str, line: models.NewLine) -> models.WrittenLine:
        """Write to the shopper of a conversation that you have. A line that is sent again under the same id counts
        once."""
        return models.WrittenLine(line=await takeovers.write(who.viewer, call, line.text, line.id))

    @made.post("/calls/{call:path}/give-back")
    async def give_call_back(who: Who, call: str) -> models.Handover:
        """Give a conversation that you have back to the assistant, which goes on by itself."""
        return _answer(await takeovers.give_back(who.viewer, call))

    return made


def _answer(handover: Handover) -> models.Handover:
    return models.Handover.model_validate(msgspec.to_builtins(handover))
