"""A call of gRPC by hand, for messages that no client sends: half of one, or one that only says that it is large."""

from __future__ import annotations

import socket
import struct
import time
from typing import Final, Self

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_OF_HEADERS, ACKNOWLEDGED = 4, 1
STREAM: Final = 1
PIECE: Final = 16 * 1024
WINDOW: Final = 65_535


class HalfSent:
    """One call on a connection of its own, which announces a message of so many bytes."""

    def __init__(self, port: int, method: str, size: int) -> None:
        self.sent = 0
        self.answer = b""
        """Headers of the end of the call."""
        self._windows = {0: WINDOW, STREAM: WINDOW}
        self._first_window = WINDOW
        self._read = b""
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.sendall(PREFACE + _frame(SETTINGS, 0, 0, b""))
        pairs = {
            ":method": "POST",
            ":scheme": "http",
            ":path": method,
            ":authority": "localhost",
            "content-type": "application/grpc",
            "te": "trailers",
        }
        self._socket.sendall(_frame(HEADERS, END_OF_HEADERS, STREAM, b"".join(map(_header, pairs, pairs.values()))))
        self._data(struct.pack(">BI", 0, size))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, most: int, within_s: float) -> None:
        """Zeros, as far as the other side takes them."""
        until = time.monotonic() + within_s
        while self.sent < most and not self.answer and time.monotonic() < until:
            if min(self._windows.values()) < PIECE:
                self.listen(0.05)
                continue
            self._data(bytes(PIECE))
            self.sent += PIECE

    def listen(self, within_s: float) -> None:
        """What the other side says, as far as it matters here."""
        self._socket.settimeout(within_s)
        try:
            self._read += self._socket.recv(1 << 16)
        except TimeoutError:
            return
        except ConnectionError:
            self.answer = self.answer or b"connection lost"
        finally:
            self._socket.settimeout(10)
        while len(self._read) >= 9 and len(self._read) >= 9 + int.from_bytes(self._read[:3]):
            size = int.from_bytes(self._read[:3])
            kind, flags, stream = self._read[3], self._read[4], int.from_bytes(self._read[5:9])
            self._hear(kind, flags, stream, self._read[9 : 9 + size])
            self._read = self._read[9 + size :]

    def _hear(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload)
        elif kind in (HEADERS, RESET) and (b"grpc-status" in payload or kind == RESET):
            self.answer = self.answer or payload
        elif kind == PING and not flags & ACKNOWLEDGED:
            self._socket.sendall(_frame(PING, ACKNOWLEDGED, 0, payload))
        elif kind == SETTINGS and not flags & ACKNOWLEDGED:
            for name, value in struct.iter_unpack(">HI", payload):
                if name == 4:
                    self._windows[STREAM] += value - self._first_window
                    self._first_window = value
            self._socket.sendall(_frame(SETTINGS, ACKNOWLEDGED, 0, b""))

    def _data(self, payload: bytes) -> None:
        self._socket.sendall(_frame(DATA, 0, STREAM, payload))
        for number in self._windows:
            self._windows[number] -= len(payload)


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload


def _header(name: str, value: str) -> bytes:
    return b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
