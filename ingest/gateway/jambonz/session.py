"""jambonz `listen`: one JSON message about the call, then 16-bit samples until the socket closes.

With `bidirectionalAudio` we send samples, too, and `killAudio` to stop those that wait to be played; with `passDtmf`
keys come as JSON.
"""

from __future__ import annotations

import hmac
import time
from base64 import b64decode
from typing import Any, Literal

import msgspec
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from ingest.gateway import metrics
from ingest.gateway.call_info import assistant_of, call_info
from ingest.gateway.deinterleaver import Deinterleaver
from ingest.gateway.errors import Malformed, Unauthorized, unreadable
from ingest.gateway.ids import call_id
from ingest.gateway.session import Session
from ingest.gateway.switchboard import Switchboard
from tenor.events import Call

SUBPROTOCOL = "audio.jambonz.org"
_KEPT = ("direction", "callId", "callStatus", "applicationSid", "originatingSipTrunkName")
"""What is worth keeping of what jambonz tells of every call."""


LEAD_MS = 200
"""jambonz plays what it has, and forgets the rest on `killAudio`."""


class LaterMessage(msgspec.Struct):
    event: str = ""
    dtmf: str = ""


class CallMetadata(msgspec.Struct, rename="camel"):
    call_sid: str
    sample_rate: int
    mix_type: Literal["mono", "stereo", "mixed"] = "mono"
    direction: str = ""
    from_: str = msgspec.field(name="from", default="")
    to: str = ""
    metadata: dict[str, Any] | None = None


def check(connection: HTTPConnection, token: str) -> None:
    """The token as bearer, or as the password of basic authentication (`wsAuth`)."""
    kind, _, shown = connection.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            shown = b64decode(shown, validate=True).decode().partition(":")[2]
        except ValueError:
            shown = ""
    if kind.lower() not in ("basic", "bearer") or not hmac.compare_digest(shown.encode(), token.encode()):
        raise Unauthorized("no fitting bearer token or basic password (gateway.jambonz_token)")


class JambonzSession(Session):
    platform = "jambonz"
    lead_ms = LEAD_MS

    def __init__(self, socket: WebSocket, board: Switchboard) -> None:
        super().__init__(socket, board)
        self.rate = 8000
        self._audio: Deinterleaver | None = None
        self._at = 0

    async def on_text(self, text: str) -> None:
        if self.leg is not None:
            self._later(text)
            return
        began = time.perf_counter()
        try:
            greeting = msgspec.json.decode(text, type=CallMetadata)
            everything = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise unreadable(error) from None
        if not 8000 <= greeting.sample_rate <= 64_000:
            raise Malformed("the sample rate is not between 8000 and 64000")
        self.rate = greeting.sample_rate
        channels = 2 if greeting.mix_type == "stereo" else 1
        self._audio = Deinterleaver(channels, ulaw=False)
        settings = self.board.settings
        said = greeting.metadata or {}
        two_way = greeting.mix_type == "mono" and bool(assistant_of(settings, self.platform, said))

        def info(started_at: float) -> Call:
            # The customer is who called us, or whom we called.
            number = greeting.to if greeting.direction == "outbound" else greeting.from_
            told = {name: everything[name] for name in _KEPT if name in everything}
            told |= {"mixType": greeting.mix_type, "ani": number, **said}
            shared = greeting.mix_type == "mixed" and settings.ingest.speakers == 2
            roles = ("caller", "agent")[: 2 if shared else channels]
            return call_info(
                settings, self.platform, roles, told, started_at, rate=self.rate, two_way=two_way, shared=shared
            )

        call = call_id(self.platform, greeting.call_sid)
        self.leg = self.board.join(call, self, frozenset(range(channels)), info)
        if self.playback is not None and two_way:
            self.playback.connect(self)
        metrics.ANSWER.labels(self.platform).observe(time.perf_counter() - began)

    def _later(self, text: str) -> None:
        """Text after the first message is about keys, marks and playback."""
        try:
            message = msgspec.json.decode(text, type=LaterMessage)
        except (msgspec.MsgspecError, RecursionError):
            message = LaterMessage()
        if message.event == "dtmf" and self.playback is not None:
            self.playback.press(message.dtmf)
        else:
            metrics.IGNORED.labels(self.platform, "text").inc()

    async def play(self, pcm: bytes) -> None:
        await self.socket.send_bytes(pcm)

    async def clear(self) -> None:
        await self.socket.send_text('{"type":"killAudio"}')

    async def mark(self, name: str) -> bool:
        return False

    async def on_binary(self, data: bytes) -> None:
        if self.leg is None or self._audio is None:
            raise Malformed("audio before the call's description")
        parts = self._audio.split(data)
        for channel, pcm in enumerate(parts):
            self.leg.write(channel, self.rate, self._at, pcm)
        self._at += len(parts[0]) // 2

    def over(self, clean: bool) -> None:
        # jambonz has no message for the end of a call: it closes the socket.
        if clean and self.leg is not None:
            self.leg.hang_up()
        super().over(clean)
