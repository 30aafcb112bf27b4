"""A channel recognised as a whole, with Riva's `Recognize`: audio is kept until it is over, then sent in one request.

It looks like a stream to the channel, which has one mechanism for both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import grpc
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc as asr_grpc

from asr import metrics
from asr.audio.resampling import StreamResampler
from asr.riva.errors import RivaError, classify
from asr.riva.stream import OnResponse

LONGEST_MS = 1_800_000
"""What is longer is sent in parts: Riva takes requests of up to 64 MB."""


class RecordingStream:
    """Times it is told and tells are of the call, as those of a `RivaStream`."""

    whole = True
    longest_ms = LONGEST_MS
    clean_points = False
    clean_lead_ms = 0

    def __init__(
        self,
        stub: asr_grpc.RivaSpeechRecognitionStub,
        config: asr.RecognitionConfig,
        metadata: tuple[tuple[str, str], ...],
        resampler: StreamResampler,
        base_ms: float,
        on_response: OnResponse,
        *,
        model: str,
    ) -> None:
        self._stub, self._config, self._metadata = stub, config, metadata
        self._resampler = resampler
        self._on_response = on_response
        self._audio = bytearray()
        self._request: asyncio.Task[asr.RecognizeResponse] | None = None
        self._asked_at = self._wrote_at = time.monotonic()
        self._cut: RivaError | None = None
        self.base_ms = base_ms
        self.sent_ms = base_ms
        self.answered_ms = base_ms
        self.model = model
        self.over = False
        self.error: RivaError | None = None
        self.on_over: Callable[[], None] = lambda: None

    @property
    def resting_s(self) -> float:
        return time.monotonic() - self._wrote_at

    @property
    def length_ms(self) -> float:
        return self.sent_ms - self.base_ms

    async def send(self, pcm: bytes) -> None:
        self._wrote_at = time.monotonic()
        for block in self._resampler.blocks(pcm):
            self._keep(block)

    async def force_final(self) -> None:
        """There is none before the end."""

    async def finish(self) -> None:
        """Have all of it recognised. Raises RivaError if the server does not do it."""
        for block in self._resampler.rest():
            self._keep(block)
        if not self._audio:
            return
        self._asked_at = time.monotonic()
        self._request = asyncio.create_task(self._recognise())
        await asyncio.wait([self._request])
        if self._request.cancelled():
            raise self._cut or RivaError("away", "the request was cancelled")
        results = self._request.result().results
        finals = [
            asr.StreamingRecognitionResult(
                alternatives=one.alternatives, channel_tag=one.channel_tag, audio_processed=one.audio_processed,
                is_final=True,
            )
            for one in results
        ]  # fmt: skip
        await self._on_response(asr.StreamingRecognizeResponse(results=finals))

    def check(self, now: float, patience_s: float) -> None:
        """Give up when the server takes much longer than people took to say it."""
        if self._request is not None and now - self._asked_at > patience_s + self.length_ms / 1000:
            self._cut = RivaError("away", f"no answer from the recogniser for {now - self._asked_at:.0f} s")
            self._request.cancel()

    async def close(self) -> None:
        if self._request is not None:
            self._request.cancel()
            await asyncio.wait([self._request])

    def _keep(self, block: bytes) -> None:
        seconds = len(block) / 2 / self._resampler.rate
        self._audio += block
        self.sent_ms += seconds * 1000
        metrics.AUDIO_SECONDS.inc(seconds)

    async def _recognise(self) -> asr.RecognizeResponse:
        request = asr.RecognizeRequest(config=self._config, audio=bytes(self._audio))
        try:
            return await self._stub.Recognize(request, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise classify(error, answered=False) from None
