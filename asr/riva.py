"""The recogniser as the worker sees it: one address on Riva's gRPC API, and streams to it.

Everything here holds for NVIDIA Riva and for `tenor riva`. What ours can do beyond that is asked for
in `custom_configuration`, whose unknown keys Riva ignores:

    clean_points      positions in silence at which the recogniser started afresh, as results without
                      alternatives; resuming there gives what an unbroken stream would have given
    max_utterance_ms  where an utterance is cut
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import grpc
import structlog
from riva.client.auth import create_channel
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc as asr_grpc
from riva.client.proto import riva_audio_pb2 as audio

from asr import metrics
from asr.trouble import Trouble, classify
from tenor.errors import BadInput
from tenor.settings import SpeechSettings

log = structlog.get_logger(__name__)

_OPTIONS = [
    # A server that vanished without a word is noticed in half a minute; Riva accepts pings 10 s apart.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
]

REFUSAL_S = 0.3

OnResponse = Callable[[asr.StreamingRecognizeResponse], Awaitable[None]]


def streaming_config(speech: SpeechSettings, rate: int, language: str) -> asr.StreamingRecognitionConfig:
    config = asr.RecognitionConfig(
        encoding=audio.AudioEncoding.LINEAR_PCM,
        sample_rate_hertz=rate,
        audio_channel_count=1,
        language_code=language,
        model=speech.model,
        max_alternatives=1,
        enable_word_time_offsets=True,
        enable_automatic_punctuation=speech.punctuation,
        verbatim_transcripts=speech.verbatim,
        custom_configuration={
            "clean_points": "true",
            "max_utterance_ms": str(round(speech.max_utterance_s * 1000)),
        },
    )
    if speech.boosted:
        config.speech_contexts.append(asr.SpeechContext(phrases=speech.boosted, boost=speech.boost))
    if speech.diarization:
        config.diarization_config.enable_speaker_diarization = True
    if speech.stop_history_ms:
        config.endpointing_config.stop_history = speech.stop_history_ms
    if speech.stop_history_eou_ms:
        config.endpointing_config.stop_history_eou = speech.stop_history_eou_ms
    return asr.StreamingRecognitionConfig(config=config, interim_results=speech.interim)


class Recogniser:
    """One connection, shared by all channels of a worker."""

    def __init__(self, speech: SpeechSettings) -> None:
        self._speech = speech
        self._metadata = tuple(speech.metadata.items())
        try:
            self._channel = create_channel(
                ssl_root_cert=speech.root_cert or None,
                ssl_client_cert=speech.client_cert or None,
                ssl_client_key=speech.client_key or None,
                use_ssl=speech.tls,
                uri=speech.address,
                options=_OPTIONS,
                use_aio=True,
            )
        except OSError as error:
            raise BadInput(
                f"Cannot read a certificate for the recogniser: {error.filename}",
                "Check speech.root_cert, speech.client_cert and speech.client_key.",
            ) from None
        self._stub = asr_grpc.RivaSpeechRecognitionStub(self._channel)
        self._known: asyncio.Task[None] | None = None
        self.clean_points = False
        """The server tells resume points, so `audio_processed` of a final is one."""
        self._models: dict[str, str] = {}

    async def close(self) -> None:
        if self._known is not None:
            self._known.cancel()
            await asyncio.gather(self._known, return_exceptions=True)
        await self._channel.close()

    async def open(
        self, rate: int, language: str, base_ms: float, on_response: OnResponse, *, careful: bool = False
    ) -> Stream:
        """A stream whose first sample is at `base_ms` of the call.

        `careful` waits a moment for a refusal: grpc.aio loses the server's reason when a message is
        being sent while it arrives."""
        if self._known is None:
            self._known = asyncio.create_task(self._ask())
        await asyncio.shield(self._known)
        config = streaming_config(self._speech, rate, language)
        call = self._stub.StreamingRecognize(metadata=self._metadata)
        stream = Stream(call, rate, base_ms, on_response)
        await stream.write(asr.StreamingRecognizeRequest(streaming_config=config))
        stream.start()
        if careful:
            await stream.listen_for_refusal()
        return stream

    def forget(self) -> None:
        """A stream broke: whoever answers next may be another server."""
        if self._known is not None and self._known.done():
            self._known = None

    def model(self, language: str) -> str:
        """Name of the model that hears this language, as far as the server told."""
        return self._speech.model or self._models.get(language, "")

    async def models(self) -> list[str]:
        """`name (language)` of what the server can stream; raises Trouble when it does not say."""
        try:
            request = asr.RivaSpeechRecognitionConfigRequest()
            answer = await self._stub.GetRivaSpeechRecognitionConfig(
                request, metadata=self._metadata, timeout=self._speech.timeout_s
            )
        except grpc.aio.AioRpcError as error:
            raise classify(error, answered=False) from None
        found = []
        for model in answer.model_config:
            if model.parameters.get("type", "online") != "online":
                continue
            language = model.parameters.get("language_code", "")
            found.append(f"{model.model_name} ({language})")
            self._models.setdefault(language, model.model_name)
            if model.parameters.get("clean_points", "").lower() == "true":
                self.clean_points = True
        return found

    async def _ask(self) -> None:
        with suppress(Trouble):
            self._models.clear()
            await self.models()


class Stream:
    """One open stream. Times it is told and tells are of the call; the server's start at `base_ms`.

    A reader task hands every response on; when it ends, `over` is set and `trouble` says why,
    None being a stream that ended as it should after `finish`.
    """

    def __init__(self, call: grpc.aio.StreamStreamCall, rate: int, base_ms: float, on_response: OnResponse) -> None:
        self._call = call
        self._on_response = on_response
        self._reader: asyncio.Task[None] | None = None
        self._unanswered: deque[float] = deque()
        self._finals = 0
        self._waiting_since = 0.0
        self._writing_since = 0.0
        self._wrote_at = time.monotonic()
        self._answered = False
        self._cut: Trouble | None = None
        self._finishing = False
        self.rate = rate
        self.base_ms = base_ms
        self.sent_ms = base_ms
        """End of the audio sent."""
        self.answered_ms = base_ms
        """End of the audio the server has answered for: it sends one response for every message."""
        self.over = False
        self.trouble: Trouble | None = None
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
        if self.trouble is not None:
            raise self.trouble

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
            raise self._cut or Trouble("away", "the stream was cancelled") from None
        finally:
            self._writing_since = 0.0

    async def send(self, pcm: bytes) -> None:
        self.sent_ms += len(pcm) * 500 / self.rate
        if not self._unanswered:
            self._waiting_since = time.monotonic()
        self._unanswered.append(self.sent_ms)
        metrics.AUDIO_SECONDS.inc(len(pcm) / 2 / self.rate)
        await self.write(asr.StreamingRecognizeRequest(audio_content=pcm))

    async def force_final(self) -> None:
        """Ask for the final of what was said so far; the stream goes on."""
        metrics.FORCED.inc()
        if not self._unanswered:
            self._waiting_since = time.monotonic()
        self._unanswered.append(self.sent_ms)
        await self.write(asr.StreamingRecognizeRequest(runtime_config={"force_eou": "true"}))

    async def finish(self) -> None:
        """No more audio: take what is left to be said. Raises Trouble if the server does not come to its end."""
        assert self._reader is not None
        self._finishing = True
        self._waiting_since = time.monotonic()
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader knows why
            await self._call.done_writing()
        await asyncio.wait([self._reader])
        if self.trouble is not None:
            raise self.trouble

    def check(self, now: float, patience_s: float) -> None:
        """Give the stream up if the server owes us an answer, or room to write, for too long."""
        waiting = len(self._unanswered) > self._finals or self._finishing
        late = waiting and now - self._waiting_since > patience_s
        stuck = self._writing_since > 0 and now - self._writing_since > patience_s
        if not self.over and (late or stuck):
            self._cut = Trouble("away", f"no answer from the recogniser for {patience_s:g} s")
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
                self.trouble = await self._why()
            elif not self._finishing:
                self.trouble = Trouble("lost", "the recogniser ended the stream")
        except grpc.aio.AioRpcError as error:
            self.trouble = self._cut or classify(error, answered=self._answered)
        except asyncio.CancelledError:
            self.trouble = self._cut or Trouble("away", "the stream was cancelled")
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
        # Ours puts a final into the answer to a message, NVIDIA's C++ server sends it as an extra one: so a
        # final never counts as an answer for the position, and always for what the server still owes us.
        if any(result.is_final for result in response.results):
            self._finals += 1
        elif self._unanswered:
            self.answered_ms = self._unanswered.popleft()

    async def _why(self) -> Trouble:
        if self._cut is not None:
            return self._cut
        code, details = await self._call.code(), await self._call.details()
        trailers = await self._call.trailing_metadata()
        error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailers, details=details)
        return classify(error, answered=self._answered)
