"""Recordings for the browser, in the byte ranges it asks for, to those who may see the call."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from urllib.parse import quote

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from dashboard.auth.tokens import SignedTokens, recording_purpose
from storage.db.engine import Database
from storage.queries import calls
from storage.recorder.store import RecordingStore
from storage.tables import Audit
from storage.viewer import Viewer
from tenor.settings import Settings

PIECE = 256 * 1024
TYPES = {"flac": "audio/flac", "opus": "audio/ogg", "ogg": "audio/ogg", "wav": "audio/wav"}
RANGE = re.compile(r"bytes=(\d*)-(\d*)")
HEARD_S = 600.0
"""A browser asks for a recording many times while it plays: one line in the audit trail is enough for as long."""


def recording_url(tokens: SignedTokens, viewer: Viewer, call: str, lasts_s: float) -> str:
    """Where a page finds the recording of a call: the token in it opens this one alone."""
    return f"/audio/{quote(call, safe='')}?token={tokens.for_page(viewer, lasts_s, recording_purpose(call))}"


class Recordings:
    def __init__(self, settings: Settings, database: Database, tokens: SignedTokens) -> None:
        self._store = RecordingStore(settings)
        self._database, self._tokens = database, tokens
        self._heard: dict[tuple[str, str], float] = {}

    def routes(self) -> list[BaseRoute]:
        return [Route("/audio/{call:path}", self._play, methods=["GET"])]

    async def _play(self, request: Request) -> Response:
        call, token = request.path_params["call"], request.query_params.get("token", "")

        def holder() -> Viewer | None:
            return self._tokens.viewer(token, recording_purpose(call))

        viewer = await asyncio.to_thread(holder)
        if viewer is None:
            return PlainTextResponse("your session has ended: reload the page\n", 401)
        return await self.serve(request, viewer, call, lambda: holder() is not None)

    async def serve(self, request: Request, viewer: Viewer, call: str, still_valid: Callable[[], bool]) -> Response:
        """The recording of a call, or the part of it that the request asks for, for as long as the viewer may hear
        it."""
        name = await asyncio.to_thread(self._recording, viewer, call)
        if not name:
            return PlainTextResponse("there is no such recording\n", 404)
        try:
            size = await asyncio.to_thread(self._store.size, name)
        except FileNotFoundError:
            return PlainTextResponse("the recording is no longer there\n", 404)
        headers = {"Accept-Ranges": "bytes", "Cache-Control": "private, no-store"}
        wanted = _range(request.headers.get("range", ""), size)
        if wanted is None:
            return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size}"})
        start, end = wanted
        headers["Content-Length"] = str(end - start)
        partial = "range" in request.headers
        if partial:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        media_type = TYPES.get(name.rsplit(".", 1)[-1], "application/octet-stream")
        pieces = self._pieces(name, start, end, still_valid)
        return _Recording(pieces, 206 if partial else 200, headers, media_type)

    async def _pieces(self, name: str, start: int, end: int, still_valid: Callable[[], bool]) -> AsyncIterator[bytes]:
        reading = self._read(name, start, end)
        while piece := await asyncio.to_thread(next, reading, b""):
            yield piece
            with suppress(SQLAlchemyError):  # nobody can tell now
                if not await asyncio.to_thread(still_valid):
                    raise _SignedOut

    def _read(self, name: str, start: int, end: int) -> Iterator[bytes]:
        with self._store.open(name) as file:
            file.seek(start)
            while start < end and (piece := file.read(min(PIECE, end - start))):
                start += len(piece)
                yield piece

    def _recording(self, viewer: Viewer, call: str) -> str:
        with self._database.session() as session:
            found = calls.find(session, viewer, call)
            if found is None or not found.recording:
                return ""
            now = time.monotonic()
            if now - self._heard.get((viewer.name, call), -HEARD_S) >= HEARD_S:
                self._heard = {key: at for key, at in self._heard.items() if now - at < HEARD_S}
                self._heard[viewer.name, call] = now
                session.add(Audit(at=time.time(), who=viewer.name, action="call.listened", subject=call))
                session.commit()
            return found.recording


class _SignedOut(Exception):
    pass


class _Recording(StreamingResponse):
    """Breaks off when its listener may hear no more: the browser knows that it has not all."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(_SignedOut):
            await super().__call__(scope, receive, send)


def _range(header: str, size: int) -> tuple[int, int] | None:
    """From where to before where; the whole when nothing sensible is asked, None when there is nothing there."""
    asked = RANGE.fullmatch(header.strip())
    if not asked or asked.groups() == ("", ""):
        return 0, size
    first, last = asked.groups()
    if not first:
        return max(0, size - int(last)), size
    start, end = int(first), min(int(last) + 1, size) if last else size
    return (start, end) if start < min(end, size) else None
