"""Captions: transcripts on their way back to Genesys, as events of the session."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from ingest.gateway.genesys.messages import duration
from tenor.events import Transcript

log = structlog.get_logger(__name__)

MOST_WAITING = 100
"""A platform that does not read loses captions, never the call."""
_NAMES = uuid.UUID("6f1d3c52-6a5e-5d0b-9f0e-6d1b6c1f7a10")

Send = Callable[[str, dict[str, Any]], Awaitable[None]]


class Captions:
    """Takes transcripts without waiting, sends them in order. An utterance keeps one id from its first
    interim to its final, which is how the platform knows that they replace each other."""

    def __init__(self, channels: tuple[str, ...], offset_ms: int, send: Send) -> None:
        self._channels = channels
        self._offset_ms = offset_ms
        self._send = send
        self._interims: dict[int, str] = {}
        self._waiting: asyncio.Queue[Transcript] = asyncio.Queue(MOST_WAITING)
        self._sender = asyncio.create_task(self._run(), name="captions")

    def take(self, transcript: Transcript) -> None:
        if transcript.channel < len(self._channels) and not self._waiting.full():
            self._waiting.put_nowait(transcript)

    def stop(self) -> None:
        self._sender.cancel()

    async def _run(self) -> None:
        try:
            while True:
                transcript = await self._waiting.get()
                await self._send("event", {"entities": [self._entity(transcript)]})
        except Exception as error:
            log.info("captions end with their socket", error=type(error).__name__)

    def _entity(self, transcript: Transcript) -> dict[str, Any]:
        if transcript.final:
            name = self._interims.pop(transcript.channel, transcript.utterance)
        else:
            name = self._interims.setdefault(transcript.channel, transcript.utterance)
        best = {
            "confidence": transcript.confidence,
            "interpretations": [{"type": "display", "transcript": transcript.text}],
        }
        return {
            "type": "transcript",
            "data": {
                "id": str(uuid.uuid5(_NAMES, name)),
                "channelId": self._channels[transcript.channel],
                "isFinal": transcript.final,
                "offset": duration(max(0, transcript.start_ms - self._offset_ms)),
                "duration": duration(transcript.end_ms - transcript.start_ms),
                "alternatives": [best],
            },
        }
