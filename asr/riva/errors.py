"""What went wrong with a stream, and what to do about it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, Literal

import grpc

Kind = Literal["away", "busy", "lost", "broken", "setup", "refused"]
"""away     no server, or it hangs: keep trying, the audio waits on the bus
busy     no room: come back when it says
lost     the stream is gone though the server is well (idle too long): open another
broken   the server failed on what we sent: try again, but not for ever
setup    our credentials or address are wrong: keep the audio, tell people, try rarely
refused  it will never take this call (a model or language it does not have): the call fails
"""

_CODES: dict[grpc.StatusCode, Kind] = {
    grpc.StatusCode.UNAVAILABLE: "away",
    grpc.StatusCode.DEADLINE_EXCEEDED: "lost",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "busy",
    grpc.StatusCode.UNAUTHENTICATED: "setup",
    grpc.StatusCode.PERMISSION_DENIED: "setup",
    grpc.StatusCode.NOT_FOUND: "setup",
    grpc.StatusCode.UNIMPLEMENTED: "setup",
    grpc.StatusCode.INVALID_ARGUMENT: "refused",
    grpc.StatusCode.OUT_OF_RANGE: "refused",
    grpc.StatusCode.CANCELLED: "away",
}


class RivaError(Exception):
    def __init__(self, kind: Kind, reason: str, retry_s: float | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.retry_s = retry_s
        """When the server asks us to come back."""


def _retry_after(trailers: Iterable[tuple[str, Any]]) -> float | None:
    for key, value in trailers:
        if key == "retry-after-ms" and str(value).isdigit():
            return int(value) / 1000
    return None


def classify(error: grpc.aio.AioRpcError, *, answered: bool) -> RivaError:
    """`answered`: this stream has had responses, so that the server does take such calls.

    A stream that ends while we are sending is INTERNAL to grpc.aio, whatever the server said: so it
    counts as broken, and the next try listens for the reason before it sends."""
    code, details = error.code(), error.details() or ""
    kind = _CODES.get(code, "broken")
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        # Real Riva drops the sequence of an idle stream and blames the next chunk for it.
        if "START flag" in details or "sequence" in details:
            kind = "lost"
        elif answered:
            kind = "broken"
    elif code is grpc.StatusCode.UNKNOWN and "response timeout" in details:
        kind = "lost"
    return RivaError(kind, f"{code.name}: {details}".strip(), _retry_after(error.trailing_metadata() or ()))


_STEPS: dict[Kind, tuple[float, float]] = {
    "away": (0.2, 5.0),
    "busy": (0.5, 10.0),
    "lost": (0.05, 5.0),
    "broken": (0.2, 15.0),
    "setup": (5.0, 60.0),
    "refused": (5.0, 60.0),
}


class Backoff:
    """How long to wait before the next try: doubling, with jitter so that channels do not come in step."""

    BROKEN_LIMIT = 12
    """A server that breaks this often at one position will not get over it: about two minutes."""

    def __init__(self) -> None:
        self.tries = 0
        self._broken = 0

    def answered(self) -> None:
        """The server is there."""
        self.tries = 0

    def advanced(self) -> None:
        """It has got further than ever."""
        self._broken = 0

    @property
    def hopeless(self) -> bool:
        return self._broken >= self.BROKEN_LIMIT

    def next(self, error: RivaError) -> float:
        first, most = _STEPS[error.kind]
        tries = self._broken if error.kind == "broken" else self.tries
        wait = min(most, first * 2.0 ** min(tries, 16))
        self.tries += 1
        if error.kind == "broken":
            self._broken += 1
        if error.retry_s is not None:
            return error.retry_s * random.uniform(1.0, 1.5)
        return wait * random.uniform(0.5, 1.0)
