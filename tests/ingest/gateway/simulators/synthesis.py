"""A speech server whose voice is a tone: 100 ms for each word, its pitch told by the word. Real gRPC, no model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Self

import grpc
import numpy as np
from riva.client.proto import riva_tts_pb2 as tts
from riva.client.proto import riva_tts_pb2_grpc as tts_grpc

from tests.ingest.gateway.simulators.tones import tone

WORD_MS = 100
VOICE_HZ = 1000


@dataclass
class ScriptedSynthesis(tts_grpc.RivaSpeechSynthesisServicer):  # type: ignore[misc]
    """Use as `async with ScriptedSynthesis() as voice`, then connect to `voice.address`."""

    word_times: bool = True
    refuse: str = ""
    """A text with this in it cannot be said."""
    slow_s: float = 0.0
    """Before each word."""
    port: int = 0
    requests: list[Any] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._server = grpc.aio.server()
        tts_grpc.add_RivaSpeechSynthesisServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._server.stop(None)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def texts(self) -> list[str]:
        return [request.text for request in self.requests]

    async def SynthesizeOnline(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:  # noqa: N802
        async for request in requests:
            self.requests.append(request)
            if self.refuse and self.refuse in request.text:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "cannot say that")
            for number, word in enumerate(request.text.split()):
                if self.slow_s:
                    await asyncio.sleep(self.slow_s)
                rate = request.sample_rate_hz
                response = tts.SynthesizeSpeechResponse(audio=tone(VOICE_HZ, WORD_MS / 1000, rate).tobytes())
                if self.word_times:
                    response.meta.words.add(word=word, start_time=number * WORD_MS, end_time=(number + 1) * WORD_MS)
                yield response


def words_in(pcm: bytes, rate: int = 8000) -> float:
    """How many words this much of the voice is, silence left out."""
    samples = np.frombuffer(pcm, "<i2")
    blocks = samples[: samples.size - samples.size % (rate // 100)].reshape(-1, rate // 100)
    return float(np.count_nonzero(np.abs(blocks).max(axis=1) > 1000)) * 10 / WORD_MS
