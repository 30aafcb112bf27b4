"""What people do on pages: notes, acknowledgements, corrections, turning sides round, scorecards, taking a conversation
from the assistant. Each asks for the page's token, so that no other site can do it in a person's name, and leaves a
line in the audit trail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from dashboard.assistant.takeover import Takeovers
from dashboard.auth.tokens import PAGE, SignedTokens, bearer
from dashboard.corrections import Corrections
from dashboard.routes import snapshot
from dashboard.routes.denied import Denied
from dashboard.summaries import SummaryChanges
from storage.db.engine import Database
from storage.labels.labels import swap_sides
from storage.labels.publisher import LabelPublisher
from storage.queries.fit import suggest_for
from storage.scorecards.confirming import scored
from storage.viewer import Viewer
from tenor.bus import Bus
from tenor.errors import BadInput, Refused, Unavailable
from tenor.events import NOTES, NoteAcknowledged
from tenor.reading import decode_json
from tenor.web.servers import BodyTooLarge, limited_body

LONGEST_BODY = 64 * 1024


class WriteNote(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    text: str
    sentence: str = ""


class Acknowledge(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    note: str


class Correct(msgspec.Struct, forbid_unknown_fields=True):
    sentence: str
    kind: Literal["sentiment", "intent", "slots", "text", "role"]
    value: str
    seconds: float | None = None


class Mend(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    point: str
    text: str = ""
    withdrawn: bool = False


class ChooseCode(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    code: str


class Swap(msgspec.Struct, forbid_unknown_fields=True):
    call: str


class Score(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    points: dict[str, str]


class TakeOver(msgspec.Struct, forbid_unknown_fields=True):
    call: str


class WriteLine(msgspec.Struct, forbid_unknown_fields=True):
    call: str
    text: str
    id: str = ""


Action = Callable[[Viewer, bytes], Awaitable[dict[str, object]]]


class Actions:
    def __init__(
        self,
        bus: Bus,
        database: Database,
        tokens: SignedTokens,
        publisher: LabelPublisher,
        takeovers: Takeovers,
        summaries: SummaryChanges,
        corrections: Corrections,
    ) -> None:
        self._bus, self._database, self._tokens, self._publisher = bus, database, tokens, publisher
        self._takeovers, self._summaries, self._corrections = takeovers, summaries, corrections

    def routes(self) -> list[BaseRoute]:
        actions = {
            "note": self._note,
            "acknowledge": self._acknowledge,
            "correct": self._correct,
            "swap": self._swap,
            "mend": self._mend,
            "wrap-up": self._wrap_up,
            "score": self._score,
            "fits": self._fits,
            "take": self._take,
            "write": self._write,
            "give-back": self._give_back,
        }
        return [Route(f"/actions/{name}", self._taking(action), methods=["POST"]) for name, action in actions.items()]

    def _taking(self, action: Action) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            viewer = await asyncio.to_thread(self._tokens.viewer, bearer(request.headers), PAGE)
            if viewer is None:
                return JSONResponse({"error": "your session has ended: reload the page"}, 401)
            try:
                return JSONResponse(await action(viewer, await _body(request)))
            except msgspec.MsgspecError as error:
                return JSONResponse({"error": str(error)}, 400)
            except Denied as denied:
                return JSONResponse({"error": denied.reason}, denied.status)
            except BadInput as error:
                return JSONResponse({"error": error.message}, 400)
            except Refused as error:
                return JSONResponse({"error": error.message}, 403)
            except Unavailable as error:
                return JSONResponse({"error": error.message}, 503)

        return answer

    async def _note(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, WriteNote)
        return {"note": (await self._corrections.note(viewer, wanted.call, wanted.text, wanted.sentence)).note}

    async def _acknowledge(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        """Only whose call it is can have read it."""
        wanted = decode_json(body, Acknowledge)
        agent = await asyncio.to_thread(self._agent_of, viewer, wanted.call)
        if viewer.name != agent:
            raise Denied(403, "only the agent on the call acknowledges its notes")
        event = NoteAcknowledged(call=wanted.call, note=wanted.note, by=viewer.name, at=time.time())
        await self._bus.publish(NOTES, event)
        return {}

    async def _correct(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, Correct)
        return await self._corrections.label(viewer, wanted.sentence, wanted.kind, wanted.value, wanted.seconds)

    async def _mend(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, Mend)
        text, withdrawn = wanted.text, wanted.withdrawn
        mended = await self._summaries.mend(viewer, wanted.call, wanted.point, text, withdrawn=withdrawn)
        return msgspec.to_builtins(mended)  # type: ignore[no-any-return]

    async def _wrap_up(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, ChooseCode)
        return msgspec.to_builtins(await self._summaries.wrap_up(viewer, wanted.call, wanted.code))  # type: ignore[no-any-return]

    async def _swap(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, Swap)
        turned = await asyncio.to_thread(self._turn_round, viewer, wanted.call)
        self._publisher.wake()
        return turned

    async def _score(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, Score)
        return {"scorecard": await asyncio.to_thread(scored, self._database, viewer, wanted.call, wanted.points)}

    async def _fits(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        """Changes nothing; it is asked for like an action because only a page with its token may."""
        wanted = decode_json(body, TakeOver)
        return await asyncio.to_thread(self._fitting, viewer, wanted.call)

    async def _take(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        """The assistant's conversation, for this person alone."""
        wanted = decode_json(body, TakeOver)
        return msgspec.to_builtins(await self._takeovers.take(viewer, wanted.call))  # type: ignore[no-any-return]

    async def _write(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, WriteLine)
        return {"line": await self._takeovers.write(viewer, wanted.call, wanted.text, wanted.id)}

    async def _give_back(self, viewer: Viewer, body: bytes) -> dict[str, object]:
        wanted = decode_json(body, TakeOver)
        return msgspec.to_builtins(await self._takeovers.give_back(viewer, wanted.call))  # type: ignore[no-any-return]

    def _agent_of(self, viewer: Viewer, call: str) -> str:
        agent = snapshot.agent_of(self._database, viewer, call)
        if agent is None:
            raise Denied(404, "there is no such call")
        return agent

    def _fitting(self, viewer: Viewer, call: str) -> dict[str, object]:
        with self._database.session() as session:
            return msgspec.to_builtins(suggest_for(session, viewer, call))  # type: ignore[no-any-return]

    def _turn_round(self, viewer: Viewer, call: str) -> dict[str, object]:
        with self._database.begin() as session:
            return snapshot.turned(swap_sides(session, viewer, call))


async def _body(request: Request) -> bytes:
    try:
        return await limited_body(request, LONGEST_BODY)
    except BodyTooLarge:
        raise Denied(413, "that is too much at once") from None
