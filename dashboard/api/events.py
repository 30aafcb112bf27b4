"""The live feed for programs: the same events, to the same people, as the pages get."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response, StreamingResponse

from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.errors import RESPONSES, problem
from dashboard.routes.feed import TOO_MANY, Feed


def router(auth: ApiAuth, feed: Feed) -> APIRouter:
    made = APIRouter(responses=RESPONSES, tags=["live"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806

    @made.get(
        "/events",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events"}},
    )
    async def follow(
        who: Who, call: Annotated[str, Query(max_length=500, description="only this call")] = ""
    ) -> Response:
        """Server-sent events, without end: first `snapshot` (the calls of now, or the call), then `transcript`,
        `sentence`, `state`, `metrics`, `alert`, `note`, `ack` as they happen, each the JSON of docs/events.md;
        `label` and `swap` when a person corrects; `names` before a `state` whose customer has one; `trouble` while the
        database is away (a `snapshot` follows when it is back); `stale` before the stream ends because the token
        did."""
        refusal = problem(429, TOO_MANY, headers={"Retry-After": "10"})
        return feed.response(who.viewer, call, lambda: auth.still_valid(who), refusal)

    return made
