"""A conversation over one WebSocket: messages in, turns out. Whoever sends without end is shown out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.assistant.conversation import Conversation
from dashboard.assistant.conversations import Conversations
from dashboard.assistant.session_token import SessionTokens
from dashboard.assistant.visitors import VisitorLimits
from dashboard.auth.origins import is_allowed_origin
from tenor.errors import BadInput, Unavailable
from tenor.reading import decode_json
from tenor.settings import AssistantSettings
from tenor.web.servers import client_network

FORBIDDEN, NO_TOKEN, GONE, FLOOD, AGAIN = 4403, 4401, 4410, 4429, 1012
"""Why it is closed: the web site may not, the token is not valid, the conversation is no more, too much was sent, and
come again."""
HELLO_S: Final = 10.0
"""How long the first message, with the token, may take."""
LONGEST_FRAME: Final = 16 * 1024
MOST_REFUSED: Final = 20
"""Messages in a row that were refused: then the socket is closed."""
HEARTBEAT_S: Final = 60.0


class Hello(msgspec.Struct):
    token: str
    after: str = ""


class Line(msgspec.Struct):
    text: str
    id: str = ""


class Closed(Exception):
    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Socket:
    def __init__(
        self,
        socket: WebSocket,
        session: str,
        settings: AssistantSettings,
        conversations: Conversations,
        tokens: SessionTokens,
        limits: VisitorLimits,
    ) -> None:
        self._socket, self._session, self._settings = socket, session, settings
        self._conversations, self._tokens, self._limits = conversations, tokens, limits
        self._visitor = client_network(socket)
        self._refused = 0

    async def run(self) -> None:
        if not is_allowed_origin(self._socket, self._settings.origins):
            await self._socket.close(FORBIDDEN, "pages of this web site may not use the assistant")
            return
        await self._socket.accept()
        try:
            with self._limits.connection(self._visitor):
                hello = await self._hello()
                place = self._tokens.read(hello.token, self._session)
                if place is None:
                    raise Closed(NO_TOKEN, "the token is not valid for this session, or no longer")
                conversation = await self._conversations.find(place)
                with conversation.connected():
                    await self._talk(conversation, hello.after)
        except Closed as closed:
            await self._close(closed.code, closed.reason)
        except BadInput as error:
            await self._close(GONE, error.message)
        except Unavailable:
            await self._close(AGAIN, "the assistant is not available now")
        except HTTPException as error:
            await self._close(FLOOD, str(error.detail))
        except WebSocketDisconnect:
            pass

    async def _talk(self, conversation: Conversation, after: str) -> None:
        """Both ways beside each other, until one of them ends."""
        ways = [asyncio.create_task(self._tell(conversation, after)), asyncio.create_task(self._listen(conversation))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            results = await asyncio.gather(*ways, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _tell(self, conversation: Conversation, after: str) -> None:
        first = True
        while not conversation.lost:
            news, after = await conversation.news(after, 0 if first else HEARTBEAT_S)
            for content in news:
                await self._send(content)
            if news or first:
                await self._send({"type": "now", "after": after})
            first = False
        raise Closed(AGAIN, "connect again")

    async def _listen(self, conversation: Conversation) -> None:
        while True:
            frame = await self._frame()
            try:
                line = decode_json(frame, Line)
            except msgspec.MsgspecError as error:
                await self._refuse(f'send {{"text": ...}}: {error}')
                continue
            if wait_s := self._limits.message_wait_s(self._visitor, self._session):
                await self._refuse(f"you write faster than we can read: wait {wait_s:.0f} s", line.id[:64])
                continue
            try:
                at_ms = await self._conversations.say(conversation, line.text, line.id[:64])
            except BadInput as error:
                await self._refuse(error.message, line.id[:64])
                continue
            self._refused = 0
            await self._send({"type": "accepted", "id": line.id[:64], "line": at_ms})

    async def _hello(self) -> Hello:
        try:
            async with asyncio.timeout(HELLO_S):
                return decode_json(await self._frame(), Hello)
        except (TimeoutError, msgspec.MsgspecError):
            raise Closed(NO_TOKEN, 'send {"token": ...} first') from None

    async def _frame(self) -> str | bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        frame: str | bytes = message.get("text") or message.get("bytes") or ""
        if len(frame) > LONGEST_FRAME:
            raise Closed(FLOOD, "that is too much at once")
        return frame

    async def _refuse(self, reason: str, message: str = "") -> None:
        self._refused += 1
        if self._refused > MOST_REFUSED:
            raise Closed(FLOOD, "too much was sent that cannot be taken")
        await self._send({"type": "error", "error": reason, "id": message})

    async def _send(self, content: dict[str, Any]) -> None:
        try:
            await self._socket.send_text(msgspec.json.encode(content).decode())
        except RuntimeError:  # the other side went while we had something to say
            raise WebSocketDisconnect from None

    async def _close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):  # it is gone already
            await self._socket.close(code, reason[:120])
