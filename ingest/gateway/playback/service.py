"""Playback for all assistant calls of a gateway: one connection to the speech server, one reader of turns."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

import structlog

from ingest.gateway.call_feed import CallFeed
from ingest.gateway.playback.playback import ROLE, Playback
from ingest.gateway.playback.synthesizer import Synthesizer
from tenor.bus import Bus
from tenor.events import TRANSCRIPTS, TURNS, Transcript, Turn, TurnFiller
from tenor.settings import SpeechSettings

if TYPE_CHECKING:
    from ingest.gateway.call import PhoneCall

log = structlog.get_logger(__name__)

READY_S: Final = 5.0
LOOK_S: Final = 0.01


class PlaybackService:
    def __init__(self, bus: Bus, speech: SpeechSettings) -> None:
        self._speech = speech
        self._feed = CallFeed(bus, (TURNS, TRANSCRIPTS), (Turn, TurnFiller, Transcript))
        self._synthesizer: Synthesizer | None = None

    def begin(self, call: PhoneCall) -> Playback | None:
        """For a call that the assistant answers."""
        if ROLE not in call.info.roles:
            return None
        if self._synthesizer is None:
            self._synthesizer = Synthesizer(self._speech)
        playback = Playback(call, self._synthesizer)
        self._feed.listen(call.id, playback.take)
        return playback

    def end(self, call: PhoneCall) -> None:
        if call.playback is not None:
            self._feed.leave(call.id, call.playback.take)

    async def ready(self, call: PhoneCall) -> None:
        """Turns are being read: an assistant that hears of the call from now on is not missed when it greets."""
        deadline = time.monotonic() + READY_S
        while not self._feed.following.is_set() and not call.ended:
            if time.monotonic() > deadline:
                log.warning("turns cannot be followed; the assistant may be silent", call=call.id)
                return
            await asyncio.sleep(LOOK_S)

    async def stop(self) -> None:
        await self._feed.stop()
        if self._synthesizer is not None:
            await self._synthesizer.close()
