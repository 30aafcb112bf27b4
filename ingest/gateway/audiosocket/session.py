"""Asterisk AudioSocket: one voice over TCP, or two: what we send the caller hears.

Frames of type (u8), length (u16, big-endian) and payload: the UUID first, then audio and keys, then hang-up.
"""

from __future__ import annotations

import asyncio
import struct
import time
import uuid
from enum import IntEnum

import structlog

from ingest.gateway import metrics
from ingest.gateway.audiosocket.peers import Peers
from ingest.gateway.audiosocket.registrations import Registration, Registrations
from ingest.gateway.call_info import ASSISTANT, assistant_of, call_info
from ingest.gateway.errors import Full, Malformed
from ingest.gateway.ids import call_id
from ingest.gateway.leg import Leg
from ingest.gateway.playback import Playback
from ingest.gateway.switchboard import Switchboard
from tenor.events import Call

log = structlog.get_logger(__name__)


class Kind(IntEnum):
    """Types of frames without audio."""

    HANG_UP = 0x00
    UUID = 0x01
    DTMF = 0x03
    ERROR = 0xFF


RATES = {
    0x10: 8000,
    0x11: 12_000,
    0x12: 16_000,
    0x13: 24_000,
    0x14: 32_000,
    0x15: 44_100,
    0x16: 48_000,
    0x17: 96_000,
    0x18: 192_000,
}
"""Types of audio frames and their samples a second; older Asterisk knows the first only."""
_KINDS = {rate: kind for kind, rate in RATES.items()}
LEAD_MS = 100
"""What is sent cannot be taken back, so little is sent ahead."""
_HEADER = struct.Struct(">BH")
_GOODBYE = _HEADER.pack(Kind.HANG_UP, 0)


class AudioSocketSession:
    platform = "audiosocket"
    lead_ms = LEAD_MS

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        board: Switchboard,
        registrations: Registrations,
    ) -> None:
        self.heard_at = time.monotonic()
        self._reader = reader
        self._writer = writer
        self._board = board
        self._registrations = registrations
        self._leg: Leg | None = None
        self._channel = 0
        self.rate = 0
        """Samples a second, both ways; 0 until the first audio."""
        self._at = 0
        self._dropped = False

    async def run(self) -> None:
        """Serve the socket. A fault of the peer ends this socket and nothing else."""
        self._board.connect(self)
        try:
            await self._read()
        except Malformed as fault:
            metrics.MALFORMED.labels(self.platform).inc()
            log.warning("protocol error", platform=self.platform, reason=str(fault))
            if self._leg is not None:
                self._leg.fail(f"protocol error: {fault}")
            self.drop(str(fault), 1008)
        except Full as fault:
            metrics.REFUSED.labels(self.platform, "full").inc()
            log.warning("call refused", platform=self.platform, reason=str(fault))
            self.drop(str(fault), 1013)
        except OSError:
            log.info("connection broke", platform=self.platform)
        finally:
            self._board.disconnect(self)
            if self._playback is not None:
                self._playback.disconnect(self)
            if self._leg is not None:
                self._leg.lose()
            self._writer.close()

    async def _read(self) -> None:
        while True:
            try:
                kind, length = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
                payload = await self._reader.readexactly(length) if length else b""
            except asyncio.IncompleteReadError as end:
                # Closing between two frames is Asterisk's usual way to hang up; within one, it broke.
                if not end.partial and end.expected == _HEADER.size and not self._dropped:
                    self._hang_up()
                return
            self.heard_at = time.monotonic()
            if kind in RATES:
                self._audio(RATES[kind], payload)
            elif not self._control(kind, payload):
                return

    def _control(self, kind: int, payload: bytes) -> bool:
        """False when the peer hung up."""
        match kind:
            case Kind.UUID if self._leg is None and len(payload) == 16:
                self._join(uuid.UUID(bytes=payload))
            case Kind.UUID:
                raise Malformed("a UUID must come once, with 16 bytes")
            case Kind.DTMF if self._playback is not None:
                self._playback.press(payload.decode("ascii", "replace"))
            case Kind.DTMF:
                metrics.IGNORED.labels(self.platform, "dtmf").inc()
            case Kind.ERROR:
                metrics.IGNORED.labels(self.platform, "error").inc()
                log.warning("Asterisk reports an error", platform=self.platform, code=payload[:1].hex())
            case Kind.HANG_UP:
                self._hang_up()
                return False
            case _:
                raise Malformed(f"frames of type {kind:#04x} are not known")
        return True

    def _join(self, number: uuid.UUID) -> None:
        began = time.perf_counter()
        found = self._registrations.find(number)
        registration, told = found or (Registration(number, str(number), roles=("caller",)), {})
        self._channel = registration.roles.index(registration.role)
        settings = self._board.settings
        # Sockets of a call between two people listen only, unless the registration wants the assistant.
        alone = len(registration.roles) == 1 or ASSISTANT in told
        two_way = alone and bool(assistant_of(settings, self.platform, told))
        if two_way:
            self._channel = 0

        def info(started_at: float) -> Call:
            return call_info(settings, self.platform, registration.roles, told, started_at, two_way=two_way)

        call = call_id(self.platform, registration.call)
        self._leg = self._board.join(call, self, frozenset({self._channel}), info)
        if self._channel >= len(self._leg.call.info.roles):
            raise Malformed("the sockets of the call were registered with different roles")
        metrics.ANSWER.labels(self.platform).observe(time.perf_counter() - began)

    def _audio(self, rate: int, payload: bytes) -> None:
        if self._leg is None:
            raise Malformed("audio before the UUID")
        if len(payload) % 2:
            raise Malformed("half a sample in an audio frame")
        if self.rate not in (0, rate):
            raise Malformed("the sample rate changed within the connection")
        if not self.rate:
            self.rate = rate
            if self._playback is not None and self._channel != self._playback.channel:
                self._playback.connect(self)
        self._leg.write(self._channel, rate, self._at, payload)
        self._at += len(payload) // 2

    @property
    def _playback(self) -> Playback | None:
        return None if self._leg is None else self._leg.call.playback

    async def play(self, pcm: bytes) -> None:
        self._writer.write(_HEADER.pack(_KINDS[self.rate], len(pcm)) + pcm)
        await self._writer.drain()

    async def clear(self) -> None:
        """The protocol has no word for it: what was sent ahead is played."""

    async def mark(self, name: str) -> bool:
        return False

    def _hang_up(self) -> None:
        if self._leg is not None:
            self._leg.hang_up()

    def drop(self, reason: str, code: int) -> None:
        """Hang up towards Asterisk; the protocol has no words for the reason."""
        if not self._dropped:
            self._dropped = True
            log.info("hanging up", platform=self.platform, reason=reason)
            self._writer.write(_GOODBYE)
            self._writer.close()


class AudioSocketServer:
    """Accepts connections from allowed peers."""

    def __init__(self, board: Switchboard, peers: Peers, registrations: Registrations) -> None:
        self._board = board
        self._peers = peers
        self._registrations = registrations

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        host = peer[0] if peer else ""
        if not self._peers.allow(host) or self._board.crowded:
            cause = "full" if self._board.crowded else "peer"
            metrics.REFUSED.labels(AudioSocketSession.platform, cause).inc()
            log.warning("AudioSocket refused", peer=host, cause=cause, setting="gateway.audiosocket_peers")
            writer.write(_GOODBYE)
            writer.close()
            return
        await AudioSocketSession(reader, writer, self._board, self._registrations).run()
