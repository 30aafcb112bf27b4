"""One open stream to the recogniser, with the audio resampled to a rate it takes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import grpc
from riva.client.proto import riva_asr_pb2 as asr

from asr import metrics
from asr.audio.resampling import StreamResampler
from asr.riva.errors import RivaError, classify

OnResponse = Callable[[asr.StreamingRecognizeResponse], Awaitable[None]]
REFUSAL_S = 0.3
"""How long a refusal may take to reach us."""
LONGEST_MS = 3_600_000
"""After hours the server's clock, a 32-bit float, is not exact any more."""


def is_clean_point(result: asr.StreamingRecognitionResult) -> bool:
    """Whether it says where the server started clean, and nothing else."""
    empty = not result.is_final and not result.alternatives
    return empty and result.audio_processed > 0 and not result.HasField("pipeline_states")


class RivaStream:
    """Times it is told and tells are of the call; the server's start at `base_ms`.

    A reader task hands every response on; when it ends, `over` is set and `error` says why,
    None being a stream that ended as it should after `finish`.
    """

    whole = False
    """Whether nothing is answered before the end."""
    longest_ms = LONGEST_MS
    """When it should be followed by another."""

    def __init__(
        self,
        call: grpc.aio.StreamStreamCall,
        resampler: StreamResampler,
        base_ms: float,
        on_response: OnResponse,
        *,
        model: str,
        clean_points: bool,
        clean_lead_ms: int,
    ) -> None:
        self._call = call
        self._resampler = resampler
        self._on_response = on_response
        self._reader: asyncio.Task[None] | None = None
        self._unanswered: deque[float] = deque()
        self._finals = 0
        self._waiting_since = 0.0
        self._writing_since = 0.0
        self._wrote_at = time.monotonic()
        self._answered = False
        self._cut: RivaError | None = None
        self._finishing = False
        self.base_ms = base_ms
        self.sent_ms = base_ms
        """End of the audio sent."""
        self.answered_ms = base_ms
        """End of the audio the server has answered for: it sends one response for every message."""
        self.model = model
        """Name of the model, as far as the server told."""
        self.clean_points = clean_points
        """The server tells resume points, so `audio_processed` of a final is one."""
        self.clean_lead_ms = clean_lead_ms
        """How far that is before the place at which the server knew that the utterance was over."""
        self.over = False
        self.error: RivaError | None = None
        self.on_over: Callable[[], None] = lambda: None

    @property
    def resting_s(self) -> float:
        """How long ago the last message was sent."""
        return time.monotonic() - self._wrote_at

    @property
    def length_ms(self) -> float:
        return self.sent_ms - self.base_ms

    def start(self) -> None:
        metrics.OPEN_STREAMS.inc()
        self._reader = asyncio.create_task(self._read())

    async def listen_for_refusal(self) -> None:
        assert self._reader is not None
        await asyncio.wait([self._reader], timeout=REFUSAL_S)
        if self.error is not None:
            raise self.error

    async def write(self, request: asr.StreamingRecognizeRequest) -> None:
        self._writing_since = self._wrote_at = time.monotonic()
        try:
            await self._call.write(request)
        except grpc.aio.AioRpcError as error:
            raise self._cut or classify(error, answered=self._answered) from None
        except asyncio.InvalidStateError:
            raise await self._why() from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # grpc.aio says so when the call, not the task, was cancelled
            raise self._cut or RivaError("away", "the stream was cancelled") from None
        finally:
            self._writing_since = 0.0

    async def send(self, pcm: bytes) -> None:
        """Audio at the rate the stream was opened with."""
        for block in self._resampler.blocks(pcm):
            await self._send(block)

    async def _send(self, block: bytes) -> None:
        rate = self._resampler.rate
        self.sent_ms += len(block) * 500 / rate
        if not self._unanswered:
            self._waiting_since = time.monotonic()
        self._unanswered.append(self.sent_ms)
        metrics.AUDIO_SECONDS.inc(len(block) / 2 / rate)
        await self.write(asr.StreamingRecognizeRequest(audio_content=block))

    async def force_final(self) -> None:
        """Ask for the final of what was said so far; the stream goes on."""
        metrics.FORCED.inc()
        if not self._unanswered:
            self._waiting_since = time.monotonic()
        self._unanswered.append(self.sent_ms)
        await self.write(asr.StreamingRecognizeRequest(runtime_config={"force_eou": "true"}))

    async def finish(self) -> None:
        """No more audio: take what is left to be said. Raises RivaError if the server does not come to its end."""
        assert self._reader is not None
        for block in self._resampler.rest():
            await self._send(block)
        self._finishing = True
        self._waiting_since = time.monotonic()
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader knows why
            await self._call.done_writing()
        await asyncio.wait([self._reader])
        if self.error is not None:
            raise self.error

    def check(self, now: float, patience_s: float) -> None:
        """Give the stream up if the server owes us an answer, or room to write, for too long."""
        waiting = len(self._unanswered) > self._finals or self._finishing
        late = waiting and now - self._waiting_since > patience_s
        stuck = self._writing_since > 0 and now - self._writing_since > patience_s
        if not self.over and (late or stuck):
            self._cut = RivaError("away", f"no answer from the recogniser for {patience_s:g} s")
            self._call.cancel()

    async def close(self) -> None:
        """Give up at once; nothing is handed on after this returns."""
        self._call.cancel()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait([self._reader])

    async def _read(self) -> None:
        try:
            while (response := await self._call.read()) is not grpc.aio.EOF:
                self._note(response)
                await self._on_response(response)
            if await self._call.code() is not grpc.StatusCode.OK:
                self.error = await self._why()
            elif not self._finishing:
                self.error = RivaError("lost", "the recogniser ended the stream")
        except grpc.aio.AioRpcError as error:
            self.error = self._cut or classify(error, answered=self._answered)
        except asyncio.CancelledError:
            self.error = self._cut or RivaError("away", "the stream was cancelled")
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
        finally:
            metrics.OPEN_STREAMS.dec()
            self.over = True
            self.on_over()

    def _note(self, response: asr.StreamingRecognizeResponse) -> None:
        self._waiting_since = time.monotonic()
        self._answered = True
        if any(is_clean_point(result) for result in response.results):
            self.clean_points = True
        # Ours puts a final into the answer to a message, NVIDIA's C++ server sends it as an extra one: so a
        # final never counts as an answer for the position, and always for what the server still owes us.
        if any(result.is_final for result in response.results):
            self._finals += 1
        elif self._unanswered:
            self.answered_ms = self._unanswered.popleft()

    async def _why(self) -> RivaError:
        if self._cut is not None:
            return self._cut
        code, details = await self._call.code(), await self._call.details()
        trailers = await self._call.trailing_metadata()
        error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailers, details=details)
        return classify(error, answered=self._answered)
