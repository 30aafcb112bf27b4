"""How much a request may bring: FastAPI reads a body before it asks who sends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.api.errors import problem

TOO_MUCH = "that is too much at once"


class LimitedBody:
    """Refuses requests with more in them than they can need, before they are read; one that does not say how much it
    brings is counted as it comes. `counted`: methods whose endpoints count for themselves."""

    def __init__(self, app: ASGIApp, most: int, counted: Collection[str] = ()) -> None:
        self._app, self._most, self._counted = app, most, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in self._counted:
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._most:
            await problem(413, TOO_MUCH)(scope, receive, send)
            return
        await self._app(scope, self._counting(receive), send)

    def _counting(self, receive: Receive) -> Callable[[], Awaitable[Message]]:
        left = self._most

        async def counting() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, TOO_MUCH)
            return message

        return counting
