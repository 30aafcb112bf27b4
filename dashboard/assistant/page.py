"""The page for shoppers, its scripts and the widget, with headers that let in nobody but the allowed web sites."""

from __future__ import annotations

import hashlib
import mimetypes
from html import escape
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from dashboard.assistant.conversations import LONGEST_MESSAGE
from dashboard.assistant.voice import Voice
from tenor.errors import BadInput
from tenor.events import Call
from tenor.redaction import mode
from tenor.settings import Settings

PATH: Final = "/assistant"
FOLDER: Final = files("dashboard") / "assets"
SHARED: Final = ("dom.js", "icon.svg")
"""Files of the dashboard that this page uses, too; they are served under its own path, so that a proxy for shoppers
needs to let nothing else through."""
KEPT: Final = {"Cache-Control": "public, max-age=31536000, immutable"}
KINDS: Final = {
    "card": "card numbers",
    "account": "account numbers",
    "phone": "telephone numbers",
    "email": "e-mail addresses",
    "birth_date": "dates of birth",
    "address": "addresses",
    "person": "names",
    "number": "other numbers",
}
"""What redaction takes out, in a shopper's words."""


class AssistantPage:
    def __init__(self, settings: Settings, voice: Voice) -> None:
        for origin in settings.assistant.origins:
            _check_origin(origin)
        self._settings, self._voice = settings, voice
        self._files = _assets()
        digest = hashlib.sha256(b"".join(self._files[name] for name in sorted(self._files))).hexdigest()
        self._assets = f"{PATH}/assets/{digest[:12]}"
        self._widget = Template(self._files.pop("widget.js").decode()).substitute(
            title=_in_script(settings.assistant.title)
        )
        template = Template(self._files.pop("page.html").decode())
        self._html = {has_voice: self._page(template, has_voice) for has_voice in (True, False)}

    def routes(self) -> list[BaseRoute]:
        return [
            Route(PATH, self._show, methods=["GET"]),
            Route(f"{PATH}/", self._show, methods=["GET"]),
            Route(f"{PATH}/widget.js", self._show_widget, methods=["GET"]),
            Route(f"{self._assets}/{{name}}", self._asset, methods=["GET"]),
        ]

    async def _show(self, request: Request) -> Response:
        ancestors = " ".join(["'self'", *self._settings.assistant.origins])
        voice = self._voice.address(request)
        reached = f"'self' {voice}".strip()
        headers = {
            "Cache-Control": "no-cache",
            # For browsers that do not know frame-ancestors, which comes first where it is known.
            "X-Frame-Options": "SAMEORIGIN",
            "Permissions-Policy": "microphone=(self)",
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                f"connect-src {reached}; media-src 'self' blob:; base-uri 'none'; form-action 'none'; "
                f"frame-ancestors {ancestors}"
            ),
        }
        return HTMLResponse(self._html[bool(voice)], headers=headers)

    async def _show_widget(self, _: Request) -> Response:
        """For shops' pages, which are on other hosts."""
        headers = {"Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}
        return Response(self._widget, media_type="text/javascript", headers=headers)

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = self._files.get(name)
        if content is None:
            return PlainTextResponse("there is no such file\n", 404)
        kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
        return Response(content, media_type=kind, headers=KEPT)

    def _page(self, template: Template, has_voice: bool) -> str:
        assistant = self._settings.assistant
        policy = assistant.privacy_url
        return template.substitute(
            voice="on" if has_voice else "",
            title=escape(assistant.title),
            assets=self._assets,
            api=f"{PATH}/api",
            longest=LONGEST_MESSAGE,
            notice=escape(notice(self._settings)),
            policy=escape(policy, quote=True),
            policy_hidden="" if urlsplit(policy).scheme in ("http", "https") else "hidden",
        )


def notice(settings: Settings) -> str:
    """What is recorded and for how long, as the settings have it."""
    days = settings.storage.keep_calls_days
    kept = f"It is deleted after {days} day{'s' if days != 1 else ''}." if days else "It is kept until we delete it."
    call = Call(source="web", roles=(), started_at=0.0, medium="chat")
    if mode(call, settings.speech) == "off":
        taken_out = "Do not write or say card numbers or passwords."
    else:
        taken_out = f"Before that we take out {_listed([KINDS[kind] for kind in settings.speech.redact_kinds])}."
    return (
        "We record what you write and say, what you are answered and when, to answer you and to improve the service. "
        f"{taken_out} {kept} Our staff can read along."
    )


def _assets() -> dict[str, bytes]:
    own = {file.name: file.read_bytes() for file in (FOLDER / "assistant").iterdir() if file.is_file()}
    return own | {name: (FOLDER / name).read_bytes() for name in SHARED}


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}":
        raise BadInput(f"assistant.origins: {origin!r} is no web site", "write it as https://shop.example")
    if set(origin) & set(" ;,'\"*"):
        raise BadInput(f"assistant.origins: {origin!r} is no web site", "one entry per web site, without wildcards")


def _in_script(text: str) -> str:
    """For a JavaScript string in double quotes."""
    return "".join(char if char.isalnum() or char in " .-" else f"\\u{{{ord(char):x}}}" for char in text[:80])


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
