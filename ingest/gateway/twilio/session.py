"""Twilio Media Streams, and those who speak like it: Talkdesk, and Telnyx with other names for the keys.

The messages are connected, start, media ... media, stop. On a stream that goes both ways (`<Connect><Stream>`) we send
media, mark and clear, and get dtmf and the marks that were reached.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Literal

import msgspec
import numpy as np
from starlette.websockets import WebSocket

from ingest.gateway import metrics
from ingest.gateway.call_info import assistant_of, call_info
from ingest.gateway.errors import Malformed, unreadable
from ingest.gateway.ids import call_id
from ingest.gateway.session import Session
from ingest.gateway.switchboard import Switchboard
from ingest.gateway.twilio.reorder import Frame, Reorder
from tenor.events import Call
from tenor.g711 import decode_alaw, decode_ulaw, encode_alaw, encode_ulaw

Number = str | int
"""Counters come as strings from Twilio, as either from others."""

DRIFT_MS = 200
"""A platform's time stamps may wander this far while no frame is missing."""


def _named(camel: str) -> Any:
    return msgspec.field(name=camel, default=None)


class MediaFormat(msgspec.Struct):
    encoding: str = "audio/x-mulaw"
    sample_rate_camel: int | None = _named("sampleRate")
    sample_rate: int | None = None
    channels: int = 1


class Start(msgspec.Struct):
    stream_sid: Any = _named("streamSid")
    call_sid: str | None = _named("callSid")
    call_control_id: str | None = None
    tracks: list[str] = []
    parameters_camel: dict[str, Any] | None = _named("customParameters")
    custom_parameters: dict[str, Any] | None = None
    media_format_camel: MediaFormat | None = _named("mediaFormat")
    media_format: MediaFormat | None = None


class Media(msgspec.Struct):
    payload: bytes
    """base64 in the message."""
    track: str = "inbound"
    chunk: Number = -1
    timestamp: Number = -1


class TwilioMessage(msgspec.Struct):
    event: str
    stream_sid_camel: Any = _named("streamSid")
    stream_id: Any = None
    sequence_camel: Number | None = _named("sequenceNumber")
    sequence_number: Number | None = None
    start: Start | None = None
    media: Media | None = None
    dtmf: Any = None
    mark: Any = None
    """What we do not need to go on is not checked: a key that cannot be read must not end a call."""


_read = msgspec.json.Decoder(TwilioMessage).decode
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "mulaw": lambda data: decode_ulaw(data).tobytes(),
    "pcmu": lambda data: decode_ulaw(data).tobytes(),
    "alaw": lambda data: decode_alaw(data).tobytes(),
    "pcma": lambda data: decode_alaw(data).tobytes(),
    "l16": lambda data: data[: len(data) & ~1],
}
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "mulaw": lambda pcm: encode_ulaw(np.frombuffer(pcm, "<i2")),
    "pcmu": lambda pcm: encode_ulaw(np.frombuffer(pcm, "<i2")),
    "alaw": lambda pcm: encode_alaw(np.frombuffer(pcm, "<i2")),
    "pcma": lambda pcm: encode_alaw(np.frombuffer(pcm, "<i2")),
    "l16": lambda pcm: pcm,
}
_TRACKS = {"inbound", "outbound"}
LEAD_MS = 200
"""Twilio plays what it has, and forgets the rest on `clear`."""


class Stream:
    """One track of one socket: frames in order, each at its place."""

    def __init__(self, channel: int) -> None:
        self.channel = channel
        self.reorder = Reorder()
        self.end = 0
        """Position after the last frame, in samples."""
        self.next_ms = 0
        """Time stamp the next frame should have."""
        self.last = 0
        """Number of the last frame."""


class TwilioSession(Session):
    platform = "twilio"
    lead_ms = LEAD_MS

    def __init__(self, socket: WebSocket, board: Switchboard) -> None:
        super().__init__(socket, board)
        self.rate = 8000
        self._streams: dict[str, Stream] = {}
        self._decode, self._encode = _DECODERS["mulaw"], _ENCODERS["mulaw"]
        self._stream_id: dict[str, Any] = {}
        """By its key: names the stream in what we send."""

    async def on_text(self, text: str) -> None:
        try:
            message = _read(text)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise unreadable(error) from None
        match message.event:
            case "media" if message.media is not None:
                self._media(message.media, message)
            case "start" if message.start is not None:
                self._start(message.start, message)
            case "dtmf" if self.playback is not None:
                self.playback.press(_value(message.dtmf, "digit"))
            case "mark" if self.playback is not None:
                self.playback.played(_value(message.mark, "name"))
            case "stop":
                self._stop()
            case "start" | "media":
                raise Malformed(f"{message.event} without its contents")
            case "connected" | "mark" | "dtmf":
                metrics.IGNORED.labels(self.platform, message.event).inc()
            case _:
                metrics.IGNORED.labels(self.platform, "other").inc()

    def _start(self, start: Start, message: TwilioMessage) -> None:
        if self.leg is not None:
            raise Malformed("a second start on one socket")
        began = time.perf_counter()
        form = start.media_format_camel or start.media_format or MediaFormat()
        self.rate = form.sample_rate_camel or form.sample_rate or 8000
        encoding = form.encoding.lower().removeprefix("audio/").removeprefix("x-")
        if encoding not in _DECODERS or not 8000 <= self.rate <= 48_000 or form.channels != 1:
            raise Malformed("only mono mu-law, A-law and L16 audio at 8 to 48 kHz is understood")
        self._decode, self._encode = _DECODERS[encoding], _ENCODERS[encoding]
        if message.stream_id:
            self._stream_id = {"stream_id": message.stream_id}
        else:
            self._stream_id = {"streamSid": message.stream_sid_camel or start.stream_sid or ""}
        # A stream that we may speak on carries the caller only: what Twilio plays is what we send.
        told = start.parameters_camel or start.custom_parameters or {}
        settings = self.board.settings
        two_way = "outbound" not in start.tracks and bool(assistant_of(settings, self.platform, told))
        tracks = {"inbound"} if two_way else _TRACKS.intersection(start.tracks) or _TRACKS
        self._streams = {track: Stream(0 if two_way else self._channel(track)) for track in tracks}

        def info(started_at: float) -> Call:
            # Always two roles: a platform may send each track in a stream of its own, one after the other.
            roles = ("caller", "agent")
            return call_info(settings, self.platform, roles, told, started_at, rate=self.rate, two_way=two_way)

        theirs = start.call_sid or start.call_control_id or ""
        channels = frozenset(stream.channel for stream in self._streams.values())
        self.leg = self.board.join(call_id(self.platform, theirs), self, channels, info)
        if self.playback is not None and two_way:
            self.playback.connect(self)
        metrics.ANSWER.labels(self.platform).observe(time.perf_counter() - began)

    def _channel(self, track: str) -> Literal[0, 1]:
        return 0 if track == self.board.settings.gateway.twilio_caller_track else 1

    def _media(self, media: Media, message: TwilioMessage) -> None:
        if self.leg is None:
            raise Malformed("media before start")
        stream = self._streams.get(media.track.removesuffix("_track"))
        if stream is None:
            raise Malformed("media of a track that start did not name")
        pcm = self._decode(media.payload)
        if not pcm:
            return
        sequence = message.sequence_camel if message.sequence_camel is not None else message.sequence_number
        number = _whole(media.chunk)
        if number < 0:
            number = _whole(-1 if sequence is None else sequence)
        frame = Frame(number, _whole(media.timestamp), pcm, len(pcm) * 500 // self.rate)
        if number < 0:
            self._place(stream, frame)
            return
        before = stream.reorder.dropped
        for ready in stream.reorder.push(frame):
            self._place(stream, ready)
        if stream.reorder.dropped > before:
            metrics.DROPPED.labels(self.platform).inc()

    def _place(self, stream: Stream, frame: Frame) -> None:
        """At the end of the track, unless the time stamp says that something is missing before it."""
        assert self.leg is not None
        if frame.at_ms >= 0:
            missing = frame.at_ms - stream.next_ms
            tolerance = DRIFT_MS if frame.number == stream.last + 1 else frame.ms // 2
            if missing > tolerance and self.leg.credible(stream.end * 1000 // self.rate + missing):
                stream.end += missing * self.rate // 1000
            stream.next_ms = frame.at_ms
        stream.next_ms += frame.ms
        stream.last = frame.number
        self.leg.write(stream.channel, self.rate, stream.end, frame.pcm)
        stream.end += len(frame.pcm) // 2

    async def play(self, pcm: bytes) -> None:
        await self._send("media", {"media": {"payload": b64encode(self._encode(pcm)).decode()}})

    async def clear(self) -> None:
        await self._send("clear", {})

    async def mark(self, name: str) -> bool:
        await self._send("mark", {"mark": {"name": name}})
        return True

    async def _send(self, event: str, fields: dict[str, Any]) -> None:
        message = {"event": event, **self._stream_id, **fields}
        await self.socket.send_text(msgspec.json.encode(message).decode())

    def _stop(self) -> None:
        self._flush()
        if self.leg is not None:
            self.leg.hang_up()

    def _flush(self) -> None:
        for stream in self._streams.values():
            for frame in stream.reorder.flush():
                self._place(stream, frame)

    def over(self, clean: bool) -> None:
        self._flush()
        super().over(clean)


def _value(part: Any, name: str) -> str:
    return str(part.get(name, "")) if isinstance(part, dict) else ""


def _whole(value: Number) -> int:
    """A counter; -1 when it is none."""
    if isinstance(value, int):
        return value
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 15 else -1
