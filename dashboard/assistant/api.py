"""The assistant's API: a conversation over a WebSocket, or over plain requests that wait for news.

POST   /sessions                      begin a conversation: its id and its token
GET    /sessions/{session}            (WebSocket) send {"text": ...}, receive turns
POST   /sessions/{session}/messages   say something
POST   /sessions/{session}/voice      how to speak: the gateway's address, and a ticket for it
GET    /sessions/{session}/turns      what came after a cursor; waits for it if asked to
DELETE /sessions/{session}            end it
"""

# Annotations are evaluated where they stand: FastAPI could not find `Place` by its name.

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Security, WebSocket
from fastapi.security import HTTPBearer
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from dashboard.api.bodies import LimitedBody
from dashboard.api.errors import RESPONSES, install_error_handlers
from dashboard.assistant import models
from dashboard.assistant.conversations import Conversations
from dashboard.assistant.session_token import SessionPlace, SessionTokens, verified_customer
from dashboard.assistant.socket import Socket
from dashboard.assistant.visitors import VisitorLimits
from dashboard.assistant.voice import Voice
from dashboard.auth.origins import is_allowed_origin
from dashboard.auth.tokens import bearer
from tenor.errors import BadInput
from tenor.settings import AssistantSettings
from tenor.web.servers import client_network

LONGEST_BODY = 16 * 1024
LONGEST_WAIT_S = 25.0
"""Shorter than what proxies allow a request to take."""
BEARER = HTTPBearer(auto_error=False, description="`token` of the session")
NO_STORE = {"Cache-Control": "no-store"}
SOCKET: dict[str, Any] = {
    "tags": ["assistant"],
    "operationId": "talk_sessions__session__get",
    "summary": "Talk",
    "description": (
        'A WebSocket. Send `{"token": TOKEN, "after": CURSOR}` first (`after` may be left out), then '
        '`{"text": TEXT, "id": ID}` for each message. You receive every event of `/turns` as a message of its own, '
        '`{"type": "accepted", "id": ID, "line": LINE}` for each message of yours, `{"type": "now", "after": CURSOR}` '
        'when everything was told, and `{"type": "error", "error": TEXT, "id": ID}` for what is refused.'
    ),
    "parameters": [{"name": "session", "in": "path", "required": True, "schema": {"type": "string"}}],
    "responses": {"101": {"description": "The connection is a WebSocket now"}},
}
"""For the specification, which has no other place for a WebSocket."""


def create(settings: AssistantSettings, conversations: Conversations, tokens: SessionTokens, voice: Voice) -> FastAPI:
    limits = VisitorLimits(settings)
    app = FastAPI(title="Assistant", docs_url=None, redoc_url=None, openapi_url=None)
    install_error_handlers(app)

    async def page_allowed(request: Request) -> None:
        if not is_allowed_origin(request, settings.origins):
            raise HTTPException(403, "pages of this web site may not use the assistant")

    async def place(request: Request, session: str, _: Annotated[object, Security(BEARER)]) -> SessionPlace:
        found = tokens.read(bearer(request.headers), session)
        if found is None:
            raise HTTPException(401, "the token is not valid for this session, or no longer")
        return found

    Place = Annotated[SessionPlace, Depends(place)]  # noqa: N806
    usual: dict[str, Any] = {"tags": ["assistant"], "dependencies": [Depends(page_allowed)], "responses": RESPONSES}

    @app.post("/sessions", status_code=201, **usual)
    async def begin_session(request: Request, response: Response, wanted: models.NewSession) -> models.Session:
        """Begin a conversation. Its greeting is the first turn."""
        response.headers.update(NO_STORE)
        limits.begin(client_network(request))
        customer = ""
        if (given := wanted.customer) is not None:
            secret = settings.customer_secret.get_secret_value()
            try:
                customer = verified_customer(secret, given.id, given.until, given.signature)
            except BadInput as error:
                raise HTTPException(403, error.message) from None
        begun = await conversations.begin(customer=customer, timezone=_timezone(wanted.timezone))
        token, until = tokens.issue(begun)
        return models.Session(session=begun.session, token=token, until=until)

    @app.post("/sessions/{session}/messages", status_code=202, **usual)
    async def send_message(request: Request, place: Place, message: models.NewMessage) -> models.AcceptedMessage:
        """Say something. The answer comes as a turn."""
        limits.message(client_network(request), place.session)
        line = await conversations.say(await conversations.find(place), message.text, message.id)
        return models.AcceptedMessage(line=line)

    @app.post("/sessions/{session}/voice", status_code=201, **usual)
    async def open_voice(request: Request, response: Response, place: Place) -> models.VoiceAccess:
        """Speak in the conversation: a ticket with which the gateway takes a microphone, and speaks the replies."""
        response.headers.update(NO_STORE)
        if not (address := voice.address(request)):
            raise HTTPException(404, "there is no voice here")
        limits.message(client_network(request), place.session)
        ticket, until = voice.ticket(request, await conversations.find(place))
        return models.VoiceAccess(url=address, ticket=ticket, until=until)

    @app.get("/sessions/{session}/turns", **usual)
    async def list_turns(
        request: Request,
        response: Response,
        place: Place,
        after: Annotated[str, Query(max_length=64, description="`after` of the answer before")] = "",
        wait: Annotated[
            float, Query(ge=0, le=LONGEST_WAIT_S, description="seconds to wait when there is nothing new")
        ] = 0.0,
    ) -> models.Turns:
        """What happened in the conversation, oldest first: all of it, or what came after a cursor."""
        response.headers.update(NO_STORE)
        conversation = await conversations.find(place)
        with limits.connection(client_network(request)):
            news, cursor = await conversation.news(after, wait)
        return models.Turns.model_validate({"turns": news, "after": cursor})

    @app.delete("/sessions/{session}", status_code=204, **usual)
    async def end_session(place: Place) -> None:
        """End the conversation."""
        await conversations.end(await conversations.find(place))

    @app.websocket("/sessions/{session}")
    async def talk(socket: WebSocket, session: str) -> None:
        await Socket(socket, session, settings, conversations, tokens, limits).run()

    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(LimitedBody, most=LONGEST_BODY)
    app.openapi()["paths"]["/sessions/{session}"]["get"] = SOCKET
    return app


def _timezone(name: str) -> str:
    """A time zone that exists; empty for anything else: the assistant then goes by its own clock."""
    try:
        return ZoneInfo(name).key if name else ""
    except (KeyError, ValueError, OSError):
        return ""
