# ruff: noqa: N802 (gRPC gives the names of the methods)
"""Riva's speech recognition service."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Any

import grpc
from riva.client.proto import riva_asr_pb2, riva_asr_pb2_grpc

from asr.local.api.limits import StreamLimiter
from asr.local.api.recognition_config import SessionConfig, model_name, read_config
from asr.local.api.request_memory import RequestMemory
from asr.local.api.results import empty_final, is_empty, offline_result, streaming_result
from asr.local.api.session import ChannelResult, RecognitionSession
from asr.local.errors import idle, invalid, unavailable
from asr.local.stt.types import CLEAN_LEAD_MS, EngineInfo, Recognizer
from tenor.errors import BadInput

SERVICE = "nvidia.riva.asr.RivaSpeechRecognition"
_SLICE = 64 * 1024
"""A recording is decoded and recognised in pieces of this many bytes, so that its size costs no memory."""


class RecognitionService(riva_asr_pb2_grpc.RivaSpeechRecognitionServicer):  # type: ignore[misc]
    """Every message of a stream is answered by exactly one response, in order, as NVIDIA's
    measuring clients expect; the next message is read when this one is answered, so a client that
    sends faster than we recognise is slowed by HTTP/2 and nothing is dropped."""

    def __init__(
        self,
        limiter: StreamLimiter,
        *,
        engine: str,
        idle_s: float,
        memory: RequestMemory,
        separate_channels: bool,
        aliases: tuple[str, ...] = (),
    ) -> None:
        """`aliases`: names of models that the default engine answers to."""
        self._aliases = aliases
        self._recognizer: Recognizer | None = None
        self._engine = engine
        self._limiter = limiter
        self._idle_s = idle_s
        self._memory = memory
        self._separate_channels = separate_channels

    def open(self, recognizer: Recognizer) -> None:
        """The models are loaded; the default engine comes first."""
        if self._engine and self._engine not in (known := [engine.name for engine in recognizer.engines]):
            raise BadInput(f"no engine {self._engine!r}; there are {', '.join(known)}")
        self._recognizer = recognizer

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        """What can be asked for, the default first: the engine of the settings, or what was promoted in its place."""
        if self._recognizer is None:
            return ()
        if not self._engine:
            return self._recognizer.engines
        return tuple(
            sorted(self._recognizer.engines, key=lambda engine: self._engine not in (engine.name, engine.replaces))
        )

    def recognizer(self) -> Recognizer:
        if self._recognizer is None:
            raise unavailable("the models are still loading")
        return self._recognizer

    def slot(self) -> AbstractContextManager[None]:
        """A place among the streams of this server."""
        return self._limiter.slot()

    def read_config(self, config: Any, kind: str, *, interim: bool = False) -> SessionConfig:
        return read_config(
            config,
            kind,
            self.engines,
            interim=interim,
            separate_channels=self._separate_channels,
            default=self._engine,
            aliases=self._aliases,
        )

    async def StreamingRecognize(self, _requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        recognizer = self.recognizer()
        with self.slot():
            heard_at = time.monotonic()
            first = await self._next(context, heard_at)
            if first is None:
                raise invalid("no messages received")
            if not first.HasField("streaming_config"):
                raise invalid("first message must contain streaming_config")
            config = first.streaming_config
            session_config = self.read_config(config.config, "online", interim=config.interim_results)
            request_id = first.id if first.HasField("id") else None
            with RecognitionSession(recognizer, session_config) as session:
                while (message := await self._next(context, heard_at)) is not None:
                    if message.audio_content:
                        heard_at = time.monotonic()
                    if message.HasField("streaming_config"):
                        raise invalid("streaming_config must be sent once, in the first message")
                    if message.HasField("id"):
                        request_id = message.id
                    results = await session.feed(message.audio_content)
                    if message.runtime_config.get("force_eou") == "true":
                        results += await session.end_utterance()
                    await context.write(_response(session, results, request_id))
                if rest := await session.finish():
                    await context.write(_response(session, rest, request_id))

    async def Recognize(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        recognizer = self.recognizer()
        with self.slot():
            session_config = self.read_config(request.config, "offline")
            # Taken out once: each look into the message would copy the whole recording.
            audio = request.audio
            if not audio:
                raise invalid("empty audio")
            with RecognitionSession(recognizer, session_config) as session:
                results: list[ChannelResult] = []
                for start in range(0, len(audio), _SLICE):
                    results += await session.feed(audio[start : start + _SLICE])
                results += await session.finish()
                if not session.seconds:
                    raise invalid("empty audio")
        finals = [one for one in results if one[1].final and not is_empty(one[1])]
        finals.sort(key=lambda one: (one[1].speech_ms[0], one[0]))
        response = riva_asr_pb2.RecognizeResponse(
            results=[
                offline_result(final, session_config.options, channel, session.seconds)
                for channel, final in finals or [(1, empty_final(0))]
            ]
        )
        if request.HasField("id"):
            response.id.CopyFrom(request.id)
        return response

    async def GetRivaSpeechRecognitionConfig(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        response = riva_asr_pb2.RivaSpeechRecognitionConfigResponse()
        self.recognizer()
        for engine in self.engines:
            for kind in ("online", "offline"):
                name = model_name(engine, kind)
                if request.model_name in ("", name):
                    parameters = {
                        "type": kind,
                        "language_code": engine.language,
                        "sample_rate_hertz": str(engine.rate),
                        "streaming": str(kind == "online"),
                        "clean_points": "True",
                        "clean_lead_ms": str(CLEAN_LEAD_MS),
                        "speaker_diarization": "True",
                    }
                    response.model_config.add(model_name=name, parameters=parameters)
        return response

    async def _next(self, context: grpc.aio.ServicerContext[Any, Any], heard_at: float) -> Any:
        """The next message, or None when the client has no more. Messages without audio keep no place."""
        try:
            message = await self._memory.read(context.read(), max(0.0, heard_at + self._idle_s - time.monotonic()))
        except TimeoutError:
            raise idle(self._idle_s) from None
        return None if message is grpc.aio.EOF else message


def _response(session: RecognitionSession, results: list[ChannelResult], request_id: Any) -> Any:
    return riva_asr_pb2.StreamingRecognizeResponse(
        results=[streaming_result(one, session.config.options, channel) for channel, one in results],
        id=request_id,
    )
