# ruff: noqa: N802 (gRPC gives the names of the methods)
"""Riva's speech synthesis service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
from riva.client.proto import riva_tts_pb2, riva_tts_pb2_grpc

from asr.local.api.limits import StreamLimiter
from asr.local.api.request_memory import RequestMemory
from asr.local.errors import idle, invalid
from asr.local.tts.synthesizer import SUBVOICE, SynthesisRequest, SynthesizedSentence, Synthesizer, voice_family

SERVICE = "nvidia.riva.tts.RivaSpeechSynthesis"
_PIECE = 64 * 1024
"""Streaming clients keep gRPC's 4 MiB limit, and smaller pieces can be played sooner."""


class SynthesisService(riva_tts_pb2_grpc.RivaSpeechSynthesisServicer):  # type: ignore[misc]
    def __init__(self, synthesizer: Synthesizer, limiter: StreamLimiter, idle_s: float, memory: RequestMemory) -> None:
        self._synthesizer = synthesizer
        self._limiter = limiter
        self._idle_s = idle_s
        self._memory = memory

    async def Synthesize(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        with self._limiter.slot():
            prepared = self._prepare(request)
            sentences = [one async for one in self._synthesizer.synthesize(prepared)]
        response = _response(request, b"".join(one.audio for one in sentences))
        _describe(response.meta, request, prepared.text, sentences)
        return response

    async def SynthesizeOnline(
        self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[Any]:
        """Texts are spoken in the order they come; the stream stays open for more until the client ends it.
        Clients from before it took several texts send exactly one, which on the wire is the same."""
        with self._limiter.slot():
            while (request := await self._next(requests)) is not None:
                async for one in self._synthesizer.synthesize(self._prepare(request)):
                    for start in range(0, max(1, len(one.audio)), _PIECE):
                        response = _response(request, one.audio[start : start + _PIECE])
                        if not start:
                            _describe(response.meta, request, one.text, [one])
                        yield response

    async def _next(self, requests: AsyncIterator[Any]) -> Any:
        """The next text, or None when the client has no more."""
        try:
            return await self._memory.read(anext(requests, None), self._idle_s)
        except TimeoutError:
            raise idle(self._idle_s, "text") from None

    async def GetRivaSynthesisConfig(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        response = riva_tts_pb2.RivaSynthesisConfigResponse()
        voice = self._synthesizer.voice
        for language in voice.languages if voice else ():
            name = f"{voice.name}-{language}" if voice else ""
            if voice and request.model_name in ("", name):
                parameters = {
                    "language_code": language,
                    "voice_name": voice_family(language),
                    "subvoices": f"{SUBVOICE}:0",
                    "sample_rate_hz": str(voice.rate),
                    "encoding": "LINEAR_PCM",
                }
                response.model_config.add(model_name=name, parameters=parameters)
        return response

    def _prepare(self, request: Any) -> SynthesisRequest:
        if request.zero_shot_data.audio_prompt or request.zero_shot_data.transcript:
            raise invalid("zero_shot_data is not supported by this server's voice")
        if request.custom_dictionary.strip():
            raise invalid("custom_dictionary is not supported by this server's voice")
        if request.custom_configuration:
            keys = ", ".join(sorted(request.custom_configuration))
            raise invalid(f"custom_configuration is not supported by this server's voice: {keys}")
        return self._synthesizer.prepare(
            request.text, request.language_code, request.voice_name, request.encoding, request.sample_rate_hz
        )


def _response(request: Any, audio: bytes) -> Any:
    return riva_tts_pb2.SynthesizeSpeechResponse(audio=audio, id=request.id if request.HasField("id") else None)


def _describe(meta: Any, request: Any, spoken_text: str, sentences: list[SynthesizedSentence]) -> None:
    meta.text = request.text
    meta.processed_text = spoken_text
    meta.predicted_durations.extend(one.seconds for one in sentences)
    if request.enable_word_time_offsets:
        for word in (word for one in sentences for word in one.words):
            meta.words.add(word=word.text, start_time=word.start_ms, end_time=word.end_ms)
