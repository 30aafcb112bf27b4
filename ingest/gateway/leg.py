"""A leg: one socket's part in a call, with its own place on the call's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ingest.gateway.call import PhoneCall

JUMP_MS = 60_000
"""How far a platform's own clock may run ahead of ours; beyond that it is not believed."""


class CallSocket(Protocol):
    """A socket, as a call or the switchboard sees it."""

    heard_at: float
    """Monotonic time of the last message."""

    @property
    def platform(self) -> str: ...

    def drop(self, reason: str, code: int) -> None:
        """Close it from our side, soon, in the platform's way; `code` is WebSocket's."""
        ...


class Leg:
    """Positions are samples of the socket's own stream; the leg knows where that stream lies in the call."""

    def __init__(
        self, call: PhoneCall, line: CallSocket, channels: frozenset[int], offset_ms: int, *, agent: int = 1
    ) -> None:
        """`agent` is the call's channel for what comes on the socket's second one."""
        self.call = call
        self._agent = agent
        self.channels = channels
        self.offset_ms = offset_ms
        self._line: CallSocket | None = line
        self._paused: tuple[int, int] | None = None
        """On the call's clock: when the platform paused, and where its audio had come."""

    def write(self, channel: int, rate: int, at: int, pcm: bytes) -> None:
        if self._line is not None:
            self.call.write(self._agent if channel == 1 else channel, rate, self.offset_ms * rate // 1000 + at, pcm)

    def pause(self, at_ms: int) -> None:
        """No audio comes until `resume`; the stream had come to this position."""
        self._paused = (self.call.clock.elapsed_ms(), self.offset_ms + at_ms)

    def resume(self) -> None:
        self._paused = None

    def silent_to_ms(self) -> int | None:
        """Up to where a paused leg is silent by now; None when it is not paused."""
        if self._paused is None:
            return None
        since_ms, position_ms = self._paused
        return position_ms + self.call.clock.elapsed_ms() - since_ms

    def credible(self, at_ms: int) -> bool:
        """Whether audio can be at this position of the stream yet."""
        heard = max(self.call.clock.elapsed_ms(), self.call.heard_of(self.channels))
        return at_ms >= 0 and self.offset_ms + at_ms <= heard + JUMP_MS

    def hang_up(self, reason: str = "hangup") -> None:
        if self._line is not None:
            self._line = None
            self.call.hang_up(self, reason)

    def fail(self, reason: str) -> None:
        """The call cannot go on: its platform sent what cannot be understood."""
        if self._line is not None:
            self._line = None
            self.call.end(reason, failed=True)

    def lose(self) -> None:
        if self._line is not None:
            self._line = None
            self.call.lose(self)

    def detach(self, reason: str, code: int) -> None:
        """The call is over, or goes on without this socket."""
        line, self._line = self._line, None
        if line is not None:
            line.drop(reason, code)
