"""The live feed for programs: the same events, to the same people, as the pages get."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from starlette.responses import StreamingResponse

from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.errors import RESPONSES
from dashboard.routes.feed import Feed

MOST_STREAMS = 20
"""Of one account at once."""
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def router(auth: ApiAuth, feed: Feed) -> APIRouter:
    made = APIRouter(responses=RESPONSES, tags=["live"])
    open_streams: Counter[str] = Counter()
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806

    async def events_of(requester: Requester, call: str) -> AsyncIterator[bytes]:
        try:
            async for chunk in feed.stream(requester.viewer, call, lambda: auth.still_valid(requester)):
                yield chunk
        finally:
            open_streams[requester.viewer.name] -= 1

    @made.get(
        "/events",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events"}},
    )
    async def follow(
        who: Who, call: Annotated[str, Query(max_length=500, description="only this call")] = ""
    ) -> StreamingResponse:
        """Server-sent events, without end: first `snapshot` (the calls of now, or the call), then `transcript`,
        `sentence`, `state`, `metrics`, `alert`, `note`, `ack` as they happen, each the JSON of docs/events.md;
        `label` and `swap` when a person corrects; `trouble` while the database is away (a `snapshot` follows when it is
        back); `stale` before the stream ends because the token did."""
        if open_streams[who.viewer.name] >= MOST_STREAMS:
            raise HTTPException(429, f"{MOST_STREAMS} streams of this account are open", {"Retry-After": "10"})
        open_streams[who.viewer.name] += 1
        return StreamingResponse(events_of(who, call), media_type="text/event-stream", headers=HEADERS)

    return made
