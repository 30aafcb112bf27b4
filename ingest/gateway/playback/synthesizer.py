"""Speech synthesis as the gateway asks for it: Riva's `SynthesizeOnline`, NVIDIA's or `tenor riva`'s."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import grpc
import structlog
from riva.client.proto import riva_audio_pb2 as audio
from riva.client.proto import riva_tts_pb2 as tts
from riva.client.proto import riva_tts_pb2_grpc as tts_grpc

from ingest.gateway import metrics
from ingest.gateway.playback.clip import Clip
from tenor.riva_channel import open_channel
from tenor.settings import SpeechSettings

log = structlog.get_logger(__name__)

ATTEMPTS: Final = 2
LONGEST_S: Final = 20.0
"""A sentence that is not synthesised by then is given up: the caller waits."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of one sentence: four minutes at 16 kHz. More is a server gone wrong."""
_TEMPORARY = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}


class Synthesizer:
    """One connection, shared by all calls of the gateway."""

    def __init__(self, speech: SpeechSettings) -> None:
        self._voice = speech.voice
        self._metadata = tuple(speech.metadata.items())
        self._channel = open_channel(speech)
        self._stub = tts_grpc.RivaSpeechSynthesisStub(self._channel)

    async def close(self) -> None:
        await self._channel.close()

    async def fill(self, clip: Clip, rate: int, language: str, on_more: Callable[[], None]) -> None:
        """Synthesise the clip's text into it; `on_more` is called whenever there is more. It is complete in the end,
        and empty of what the server could not say."""
        request = tts.SynthesizeSpeechRequest(
            text=clip.text,
            language_code=language,
            encoding=audio.AudioEncoding.LINEAR_PCM,
            sample_rate_hz=rate,
            voice_name=self._voice,
            enable_word_time_offsets=True,
        )
        try:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    await self._receive(request, clip, on_more)
                    break
                except grpc.aio.AioRpcError as error:
                    if clip.pcm or attempt == ATTEMPTS or error.code() not in _TEMPORARY:
                        raise
        except grpc.aio.AioRpcError as error:
            metrics.UNSPOKEN.inc()
            log.error(
                "a sentence could not be synthesised", code=error.code().name, reason=(error.details() or "")[:200]
            )
            clip.failed = True
        finally:
            clip.complete = True
            on_more()

    async def _receive(self, request: Any, clip: Clip, on_more: Callable[[], None]) -> None:
        async def texts() -> AsyncIterator[Any]:
            yield request

        call = self._stub.SynthesizeOnline(texts(), metadata=self._metadata, timeout=LONGEST_S)
        async for response in call:
            clip.pcm += response.audio
            clip.word_ends_ms += [word.end_time for word in response.meta.words]
            on_more()
            if len(clip.pcm) > MOST_BYTES:
                call.cancel()
                log.error("the speech server does not come to an end", characters=len(clip.text))
                break
