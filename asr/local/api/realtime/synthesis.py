"""Riva's realtime synthesis protocol: text in, speech out as base64 PCM."""

from __future__ import annotations

import base64
import uuid
from typing import Any

from riva.client.proto import riva_audio_pb2

from asr.local.api.limits import StreamLimiter
from asr.local.api.realtime.events import EventSocket, merged, text_field
from asr.local.errors import invalid
from asr.local.tts.synthesizer import DEFAULT_LANGUAGE, SynthesisRequest, Synthesizer

_LARGEST_TEXT = 1024 * 1024
_PIECE = 64 * 1024


def default_session(synthesizer: Synthesizer) -> dict[str, Any]:
    return {
        "id": f"sess_{uuid.uuid4()}",
        "object": "realtime.synthesize_session",
        "input_text_synthesis": {
            "language_code": DEFAULT_LANGUAGE,
            "voice_name": next(iter(synthesizer.voices().get(DEFAULT_LANGUAGE, [])), ""),
        },
        "output_audio_params": {"sample_rate_hz": 22050, "num_channels": 1, "audio_format": "LINEAR_PCM"},
        "custom_dictionary": "",
        "client_secret": None,
    }


class SynthesisSession:
    """One WebSocket. Text is spoken when it is committed; `done` speaks the rest."""

    def __init__(self, synthesizer: Synthesizer, limiter: StreamLimiter, events: EventSocket) -> None:
        self._synthesizer = synthesizer
        self._limiter = limiter
        self._events = events
        self._settings = default_session(synthesizer)
        self._text = ""

    async def run(self) -> None:
        with self._limiter.slot():
            await self._events.created()
            async for event in self._events.received():
                match event.get("type"):
                    case "synthesize_session.update":
                        await self._update(event)
                    case "input_text.append":
                        self._append(event)
                    case "input_text.commit":
                        await self._speak(last=False)
                    case "input_text.done":
                        await self._speak(last=True)
                        return

    async def _update(self, event: dict[str, Any]) -> None:
        settings = merged(self._settings, event.get("session", {}))
        for unsupported in ("custom_dictionary", "zero_shot_config", "custom_configuration"):
            if settings.get(unsupported):
                raise invalid(f"{unsupported} is not supported by this server's voice")
        self._prepare("Hello.", settings)
        self._settings = settings
        await self._events.send("synthesize_session.updated", session=settings)

    def _append(self, event: dict[str, Any]) -> None:
        self._text += text_field(event, "text")
        if len(self._text) > _LARGEST_TEXT:
            raise invalid("more than 1 MiB of text was appended without a commit")

    async def _speak(self, *, last: bool) -> None:
        text, self._text = self._text, ""
        if text.strip():
            async for one in self._synthesizer.synthesize(self._prepare(text, self._settings)):
                for start in range(0, len(one.audio), _PIECE):
                    audio = base64.b64encode(one.audio[start : start + _PIECE]).decode()
                    await self._events.send("conversation.item.speech.data", audio=audio)
        if text.strip() or last:
            await self._events.send("conversation.item.speech.completed", is_last_result=last)

    def _prepare(self, text: str, settings: dict[str, Any]) -> SynthesisRequest:
        voice, audio = settings["input_text_synthesis"], settings["output_audio_params"]
        encodings = riva_audio_pb2.AudioEncoding
        try:
            encoding = encodings.Value(audio["audio_format"])
            rate = int(audio["sample_rate_hz"])
            language, name = str(voice["language_code"]), str(voice["voice_name"])
        except (KeyError, TypeError, ValueError) as error:
            raise invalid(f"session: {error}") from None
        return self._synthesizer.prepare(text, language, name, encoding, rate)
