"""What every request passes, Streamlit's own included, before anything answers it: host, session, headers."""

from __future__ import annotations

import asyncio
import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlsplit

import structlog
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.auth.sign_in import SignIn
from tenor.web.servers import is_forwarded, is_loopback

log = structlog.get_logger(__name__)

AWAY = "The database does not answer now: try again in a moment."
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(self)",
    # Streamlit's page needs inline styles, blobs and eval (plots); what it never needs is another host.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob: data:; worker-src 'self' blob:; "
        "connect-src 'self' ws: wss: blob: data:; frame-src 'self' blob:; object-src 'none'; base-uri 'self'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
}
SIGNED_OUT = {"type": "websocket.close", "code": 4401, "reason": "sign in first"}
OPEN = re.compile(
    r"/(sign-in|sign-out|assets/.*|static/.*|favicon\.png|_stcore/health|healthz|api/.*|feed|audio/.*|listen/.*|assistant(/.*)?)"
)
"""What needs no session cookie: the sign-in itself, the program without a caller's word in it, what asks for a token of
its own, and the page for shoppers."""


class AuthMiddleware:
    """Turns away hosts that are not ours (a page elsewhere whose name was made to point here), and, where accounts are
    ours, everyone without a session."""

    def __init__(self, app: ASGIApp, sign_in: SignIn) -> None:
        self._app = app
        self._sign_in = sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            await self._serve_or_refuse(scope, receive, send)
        except SQLAlchemyError as error:
            log.warning("the database does not answer", path=scope["path"], error=type(error).__name__)
            if scope["type"] == "websocket":
                raise
            await _away(scope)(scope, receive, _with_headers(send))

    async def _serve_or_refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if (refusal := self._refusal(scope, headers)) is None:
            if scope["type"] == "http":
                await self._app(scope, receive, _with_headers(send))
            elif self._is_open(scope["path"]):
                await self._app(scope, receive, send)
            else:
                await self._app(scope, *self._while_signed_in(headers, receive, send))
        elif scope["type"] == "websocket":
            await receive()
            await send(SIGNED_OUT)
        else:
            await refusal(scope, receive, _with_headers(send))

    def _is_open(self, path: str) -> bool:
        return self._sign_in.kind != "local" or OPEN.fullmatch(path) is not None

    def _while_signed_in(self, headers: Headers, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """A page that is open goes on over its WebSocket, parts of it without asking again who looks: it ends, both
        ways, when the session does."""
        cookies = _cookies(headers)

        async def may_stay() -> bool:
            try:
                return await asyncio.to_thread(self._sign_in.session, cookies) is not None
            except SQLAlchemyError:
                return True  # nobody can tell now

        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await may_stay():
                await send(SIGNED_OUT)
                return {"type": "websocket.disconnect", "code": SIGNED_OUT["code"]}
            return message

        async def sending(message: Message) -> None:
            if message["type"] == "websocket.send" and not await may_stay():
                await send(SIGNED_OUT)
                raise OSError("signed out")  # as if the other side had gone
            await send(message)

        return receiving, sending

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._sign_in.kind == "none" and not _is_from_here(scope, headers):
            return PlainTextResponse("this dashboard is for this machine only\n", 421)
        path: str = scope["path"]
        if self._is_open(path) or self._sign_in.session(_cookies(headers)):
            return None
        if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
            query = scope["query_string"].decode("latin-1")
            return RedirectResponse(f"/sign-in?next={quote(path + ('?' + query if query else ''))}", 303)
        return PlainTextResponse("sign in first\n", 401)


def _away(scope: Scope) -> Response:
    """For a person who opens a page, or for the page, which shows what is in `error`."""
    if "text/html" in Headers(scope=scope).get("accept", ""):
        return PlainTextResponse(f"{AWAY}\n", 503, {"Retry-After": "5"})
    return JSONResponse({"error": AWAY}, 503, {"Retry-After": "5"})


def _is_from_here(scope: Scope, headers: Headers) -> bool:
    """Whether somebody at this machine asks, by a page of ours: no proxy for others, and no page of another site, which
    a browser would let listen on a WebSocket."""
    if not is_loopback(_host(headers)) or is_forwarded(HTTPConnection(scope)):
        return False
    origin = headers.get("origin")
    own_check = scope["type"] != "websocket" or scope["path"].startswith("/assistant")
    return own_check or origin is None or urlsplit(origin).netloc == headers.get("host")


def _host(headers: Headers) -> str:
    host = headers.get("host", "")
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
