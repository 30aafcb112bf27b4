"""What routes of the API have in common: JSON that a reader need not fetch again when nothing changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response


class ETagRoute(APIRoute):
    """Answers carry an ETag; `If-None-Match` with the same one gets 304 and no body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            response = await handle(request)
            response.headers.setdefault("Cache-Control", "private, no-cache")
            body = getattr(response, "body", b"")
            if response.status_code != 200 or not body:
                return response
            tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            if tag in (one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")):
                kept = {"ETag": tag, "Cache-Control": response.headers["Cache-Control"]}
                return Response(status_code=304, headers=kept)
            response.headers["ETag"] = tag
            return response

        return tagged
