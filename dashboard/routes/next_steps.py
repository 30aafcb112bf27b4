"""What an agent might do next, asked by the My call page with what it knows of the call at that moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from dashboard.auth.tokens import PAGE, SignedTokens, bearer
from dashboard.playbook import PlaybookFile
from tenor.reading import decode_json
from tenor.settings import Settings
from tenor.web.servers import BodyTooLarge, limited_body

LONGEST_BODY = 256 * 1024


class ShownSentence(msgspec.Struct, frozen=True):
    role: str
    text: str
    mood: float


class ShownCall(msgspec.Struct, frozen=True):
    """The call as the page knows it: nothing is looked up, so the answer is as fresh as the question."""

    task: str = ""
    intent: str = ""
    mood_caller: float | None = None
    sentences: list[ShownSentence] = []
    alerts: list[str] = []


class NextSteps:
    def __init__(self, settings: Settings, tokens: SignedTokens) -> None:
        path = settings.language.playbook
        self._file = PlaybookFile(Path(path) if path else None)
        self._tokens = tokens

    def routes(self) -> list[BaseRoute]:
        return [Route("/steps", self._suggest, methods=["POST"])]

    async def _suggest(self, request: Request) -> Response:
        if await asyncio.to_thread(self._tokens.viewer, bearer(request.headers), PAGE) is None:
            return JSONResponse({"error": "your session has ended: reload the page"}, 401)
        try:
            moment = decode_json(await limited_body(request, LONGEST_BODY), ShownCall)
        except BodyTooLarge:
            return JSONResponse({"error": "that is too much at once"}, 413)
        except msgspec.MsgspecError as error:
            return JSONResponse({"error": str(error)}, 400)
        book = self._file.playbook()
        found = book.suggest(moment.task, moment.intent, moment.mood_caller, moment.sentences, moment.alerts)
        return JSONResponse({"steps": [{"text": step.text, "reason": step.reason} for step in found]})
