"""A call: its tracks on one clock, the sockets that feed it, and its beginning and end on the bus."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
import structlog

from ingest.gateway import metrics
from ingest.gateway.errors import Malformed
from ingest.gateway.leg import Leg
from ingest.gateway.outbox import CallOutbox, Overflow
from ingest.gateway.playback import Playback
from ingest.gateway.playback.key_tones import KeyTones
from ingest.gateway.track import Track
from tenor.events import Call, CallEnded, CallGivenBack, CallStarted, CallState, CallTakenOver, Event, Medium
from tenor.settings import GatewaySettings

log = structlog.get_logger(__name__)

HANDED_OVER = "handed over to a person"
LAG_MS = 2000
"""Silence is put where no audio will come, but so far behind the clock that none is put too much."""


class CallClock:
    """Where we are in a call now. One that began elsewhere says when."""

    def __init__(self, started_at: float | None = None) -> None:
        now = time.time()
        self.started_at = now if started_at is None else min(started_at, now)
        self._zero = time.monotonic() - (now - self.started_at)
        self.joined_ms = int((now - self.started_at) * 1000)
        """Position at which the gateway came into the call."""

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._zero) * 1000)


class PhoneCall:
    """Begins with its first leg; ends when the last one hangs up or is not back in time."""

    def __init__(
        self,
        call: str,
        info: Call,
        clock: CallClock,
        outbox: CallOutbox,
        chunk_ms: int,
        on_end: Callable[[PhoneCall], None],
        *,
        in_writing: bool = False,
    ) -> None:
        """`in_writing`: the call is also written, began before its audio and goes on after it."""
        self.id = call
        self.in_writing = in_writing
        self.info = info
        self.clock = clock
        self.outbox = outbox
        self.ended = False
        self.lost_at: float | None = None
        """Since when no socket feeds the call."""
        self.playback: Playback | None = None
        """Of a call that the assistant answers."""
        self.handed_over_at: float | None = None
        """Since when the platform's queue has a call that the assistant answered."""
        self.person: str | None = None
        """Who speaks in the assistant's place; empty if the platform gives no name."""
        self._person_left = ""
        """Why the conversation with that person is over, while the platform may bring the caller back."""
        self._chunk_ms = chunk_ms
        self._on_end = on_end
        self._tracks: dict[int, Track] = {}
        self._key_tones: dict[int, KeyTones] = {}
        self._legs: list[Leg] = []
        self._started = CallStarted(call=call, info=info)
        outbox.put([self._started])

    @property
    def platform(self) -> str:
        return self.info.source

    @property
    def legs(self) -> Sequence[Leg]:
        return self._legs

    def attach(self, leg: Leg) -> None:
        """A socket joins, or comes back in place of one that fed the same channels."""
        replaced = [other for other in self._legs if other.channels & leg.channels]
        for other in replaced:
            self._legs.remove(other)
            other.detach("the call goes on over a newer socket", 1000)
        if replaced or self.lost_at is not None:
            metrics.RESUMED.labels(self.platform).inc()
            log.info("call resumed", call=self.id)
            self._put([self._started])
        self.lost_at = None
        self._person_left = ""
        self._legs.append(leg)

    def hand_over(self) -> None:
        """The assistant is done, and the platform goes on to a person: its socket closes, the call waits for theirs."""
        if self.playback is not None:
            self.tell(self.playback.stop())
        self.handed_over_at = self.lost_at = time.monotonic()
        legs, self._legs = self._legs, []
        for leg in legs:
            leg.detach(HANDED_OVER, 1000)
        log.info("call handed over", call=self.id)

    def take_over(self, agent: str) -> None:
        """A socket with the person on it has joined."""
        if self.person is None:
            self.person = agent
            self.tell([CallTakenOver(call=self.id, agent=agent, at=time.time())])

    def give_back(self, playback: Playback | None) -> None:
        """The platform has brought the caller back, from a person or from a queue in which nobody came: the assistant
        goes on."""
        given = CallGivenBack(call=self.id, agent=self.person or "", unanswered=self.person is None, at=time.time())
        self.playback, self.handed_over_at, self.person = playback, None, None
        self.tell([given])

    def hang_up(self, leg: Leg, reason: str) -> None:
        """A socket is done in the platform's own words. One with a person on it is also done when the person leaves,
        and the platform may go on with the assistant."""
        self._legs = [other for other in self._legs if other is not leg]
        if self._legs or self.ended:
            return
        if self.person is None:
            self.end(reason)
        else:
            self.lost_at, self._person_left = time.monotonic(), reason

    def give_up(self, gateway: GatewaySettings, now: float) -> bool:
        """End a call that nobody came back to, or whose person the platform does not let us hear."""
        if self.lost_at is None:
            return False
        if self._person_left:
            patience_s, reason, failed = gateway.return_s, self._person_left, False
        elif self.handed_over_at is not None and self.person is None:
            patience_s, reason, failed = gateway.handover_s, HANDED_OVER, False
        else:
            patience_s, reason, failed = gateway.resume_s, "connection lost", True
        if now - self.lost_at < patience_s:
            return False
        self.end(reason, failed=failed)
        return True

    def lose(self, leg: Leg) -> None:
        """A socket died. The call waits for it when it was the last."""
        self._legs = [other for other in self._legs if other is not leg]
        if not self._legs and not self.ended:
            self.lost_at = time.monotonic()
            log.info("call waits for its socket", call=self.id)

    def end_of(self, channels: frozenset[int]) -> int:
        """Where the audio of these channels ends, in milliseconds."""
        return max((track.end_ms for number, track in self._tracks.items() if number in channels), default=0)

    def heard_of(self, channels: frozenset[int]) -> int:
        """How much audio of these channels came, in milliseconds; silence that was only claimed is none."""
        return max((track.heard_ms for number, track in self._tracks.items() if number in channels), default=0)

    def write(self, channel: int, rate: int, at: int, pcm: bytes) -> None:
        """Samples at a position of the call's clock, given in samples of that rate."""
        if self.ended:
            return
        if self.playback is None or channel == self.playback.channel:
            self._keep(channel, rate, at, pcm)
            return
        self.playback.listen(rate, pcm)
        if self.in_writing:  # no telephone
            self._keep(channel, rate, at, pcm)
            return
        key_tones = self._key_tones.setdefault(channel, KeyTones())
        for position, piece in key_tones.take_out(rate, at, pcm):
            self._keep(channel, rate, position, piece)

    def _keep(self, channel: int, rate: int, at: int, pcm: bytes) -> None:
        track = self._tracks.get(channel)
        if track is None:
            first = self.clock.joined_ms // self._chunk_ms
            track = Track(self.id, self.platform, channel, rate, self._chunk_ms, self.clock.started_at, first)
            self._tracks[channel] = track
        elif track.rate != rate:
            raise Malformed(f"the sample rate changed from {track.rate} to {rate} within the call")
        chunks = track.write(at, pcm)
        if chunks:
            self._put(chunks)

    def tell(self, events: Sequence[Event]) -> None:
        """Something happened in the call; it goes on the bus after the audio before it."""
        if events and not self.ended:
            self._put(events)

    def change_medium(self, medium: Medium) -> None:
        """A call that is also written is spoken from now on, or no longer."""
        if medium != self.info.medium and not self.ended:
            self.info = msgspec.structs.replace(self.info, medium=medium)
            self._started = CallStarted(call=self.id, info=self.info)
            self._put([self._started])

    def catch_up(self) -> None:
        """While the platform holds the call, or its socket is away, let silence flow as time passes, so
        that nobody takes the call for dead."""
        if self.lost_at is not None:
            self._fill(frozenset(self._tracks), self.clock.elapsed_ms())
        if self.playback is not None:
            self._fill(frozenset({self.playback.channel}), self.clock.elapsed_ms())
        for leg in self._legs:
            silent_to_ms = leg.silent_to_ms()
            if silent_to_ms is not None:
                self._fill(leg.channels, silent_to_ms)

    def end(self, reason: str, *, failed: bool = False, for_good: bool = False, code: int = 1011) -> None:
        """Over, for this reason; sockets that are still open are closed with the code. Of a call that is also written
        only the audio is over, unless it is `for_good`."""
        if self.ended:
            return
        said = self.playback.stop() if self.playback is not None else []
        for channel, key_tones in self._key_tones.items():
            for position, piece in key_tones.flush():
                self._keep(channel, key_tones.rate, position, piece)
        if self.ended:  # what was said last did not find room
            return
        tails = [chunk for track in self._tracks.values() for chunk in track.flush()]
        last = self._last(reason, failed)
        if self.in_writing and not for_good:
            last = msgspec.structs.replace(last, failed=False, audio_only=True)
        self.outbox.close([*said, *tails, last])
        self._over(reason, "failed" if failed else "ended", code)

    def _fill(self, channels: frozenset[int], to_ms: int) -> None:
        for number, track in self._tracks.items():
            if number in channels:
                chunks = track.fill((to_ms - LAG_MS) * track.rate // 1000)
                if chunks:
                    self._put(chunks)

    def _put(self, events: Sequence[Event]) -> None:
        try:
            self.outbox.put(list(events))
        except Overflow:
            reason = "the event bus was away for too long, so the rest of the call's audio is lost"
            state = CallState(call=self.id, state="failed", at=time.time(), reason=reason, info=self.info)
            self.outbox.close([self._last(reason, failed=True)], state)
            self._over(reason, "overflow", 1011)

    def _last(self, reason: str, failed: bool) -> CallEnded:
        return CallEnded(call=self.id, reason=reason, at=time.time(), failed=failed)

    def _over(self, reason: str, outcome: str, code: int) -> None:
        self.ended = True
        if self.playback is not None:
            self.playback.stop()
        legs, self._legs = self._legs, []
        for leg in legs:
            leg.detach(reason, code)
        metrics.ENDED.labels(self.platform, outcome).inc()
        log.info("call over", call=self.id, outcome=outcome, reason=reason, ms=self.end_of(frozenset(self._tracks)))
        self._on_end(self)
