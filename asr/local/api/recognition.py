# ruff: noqa: N802 (gRPC gives the names of the methods)
"""Riva's speech recognition service."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from typing import Any

import grpc
from riva.client.proto import riva_asr_pb2, riva_asr_pb2_grpc

from asr.local.hearing import Ears, EngineInfo
from asr.local.recognition_config import Wishes, model_name, read_config
from asr.local.refusal import idle, invalid, unavailable
from asr.local.results import is_empty, nothing_heard, streaming_result, whole_result
from asr.local.session import Session, Tagged
from asr.local.streams import Streams
from tenor.errors import BadInput

SERVICE = "nvidia.riva.asr.RivaSpeechRecognition"
_SLICE = 64 * 1024
"""A recording is decoded and heard in pieces of this many bytes, so that its size costs no memory."""


class Recognition(riva_asr_pb2_grpc.RivaSpeechRecognitionServicer):  # type: ignore[misc]
    """Every message of a stream is answered by exactly one response, in order, as NVIDIA's
    measuring clients expect; the next message is read when this one is answered, so a client that
    sends faster than we hear is slowed by HTTP/2 and nothing is dropped."""

    def __init__(
        self, streams: Streams, *, engine: str = "", idle_s: float = 60.0, separate_channels: bool = True
    ) -> None:
        self.engines: tuple[EngineInfo, ...] = ()
        self._ears: Ears | None = None
        self._engine = engine
        self._streams = streams
        self._idle_s = idle_s
        self._separate_channels = separate_channels

    def open(self, ears: Ears) -> None:
        """The models are loaded; the default engine comes first."""
        if self._engine and self._engine not in (known := [engine.name for engine in ears.engines]):
            raise BadInput(f"no engine {self._engine!r}; there are {', '.join(known)}")
        self.engines = tuple(sorted(ears.engines, key=lambda engine: engine.name != self._engine))
        self._ears = ears

    def ears(self) -> Ears:
        if self._ears is None:
            raise unavailable("the models are still loading")
        return self._ears

    def hold(self) -> AbstractContextManager[None]:
        """A place among the streams of this server."""
        return self._streams.hold()

    def read_config(self, config: Any, kind: str, *, interim: bool = False) -> Wishes:
        return read_config(config, kind, self.engines, interim=interim, separate_channels=self._separate_channels)

    async def StreamingRecognize(self, _requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        ears = self.ears()
        with self.hold():
            first = await self._next(context)
            if first is None:
                raise invalid("no messages received")
            if not first.HasField("streaming_config"):
                raise invalid("first message must contain streaming_config")
            config = first.streaming_config
            wishes = self.read_config(config.config, "online", interim=config.interim_results)
            request_id = first.id if first.HasField("id") else None
            with Session(ears, wishes) as session:
                while (message := await self._next(context)) is not None:
                    if message.HasField("streaming_config"):
                        raise invalid("streaming_config must be sent once, in the first message")
                    if message.HasField("id"):
                        request_id = message.id
                    heard = await session.hear(message.audio_content)
                    if message.runtime_config.get("force_eou") == "true":
                        heard += await session.end_utterance()
                    await context.write(_response(session, heard, request_id))
                if rest := await session.finish():
                    await context.write(_response(session, rest, request_id))

    async def Recognize(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        ears = self.ears()
        with self.hold():
            wishes = self.read_config(request.config, "offline")
            # Taken out once: each look into the message would copy the whole recording.
            audio = request.audio
            if not audio:
                raise invalid("empty audio")
            with Session(ears, wishes) as session:
                heard: list[Tagged] = []
                for start in range(0, len(audio), _SLICE):
                    heard += await session.hear(audio[start : start + _SLICE])
                heard += await session.finish()
                if not session.seconds:
                    raise invalid("empty audio")
        spoken = [one for one in heard if one[1].final and not is_empty(one[1])]
        spoken.sort(key=lambda one: (one[1].speech_ms[0], one[0]))
        response = riva_asr_pb2.RecognizeResponse(
            results=[
                whole_result(final, wishes.request, channel, session.seconds)
                for channel, final in spoken or [(1, nothing_heard(0))]
            ]
        )
        if request.HasField("id"):
            response.id.CopyFrom(request.id)
        return response

    async def GetRivaSpeechRecognitionConfig(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        response = riva_asr_pb2.RivaSpeechRecognitionConfigResponse()
        self.ears()
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
                    }
                    response.model_config.add(model_name=name, parameters=parameters)
        return response

    async def _next(self, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        """The next message, or None when the client has no more."""
        try:
            async with asyncio.timeout(self._idle_s):
                message = await context.read()
        except TimeoutError:
            raise idle(self._idle_s) from None
        return None if message is grpc.aio.EOF else message


def _response(session: Session, heard: list[Tagged], request_id: Any) -> Any:
    return riva_asr_pb2.StreamingRecognizeResponse(
        results=[streaming_result(one, session.wishes.request, channel) for channel, one in heard],
        id=request_id,
    )
