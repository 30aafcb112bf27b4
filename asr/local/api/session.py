"""One client's audio on its way through the decoder to its recognition streams, whichever protocol brought it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from types import TracebackType

import numpy as np

from asr.local.api.recognition_config import SessionConfig
from asr.local.api.results import empty_final, is_empty, select_results
from asr.local.codecs.decoder import AudioDecoder
from asr.local.errors import busy
from asr.local.stt.types import Busy, RecognitionResult, RecognitionStream, Recognizer, Samples

_PIECE_S = 10.0
"""So much audio is recognised at a time, whatever a message holds."""
_QUICK = 32 * 1024
"""Messages up to here are decoded on the spot; larger ones in a thread, so that others are not kept waiting."""

ChannelResult = tuple[int, RecognitionResult]
"""A channel, counted from 1, and a result of it."""


class RecognitionSession:
    """Opens its streams, one for each channel, as soon as the audio says how many and how fast."""

    def __init__(self, recognizer: Recognizer, config: SessionConfig) -> None:
        self.config = config
        self._recognizer = recognizer
        self._decoder = AudioDecoder(config.declared)
        self._streams: list[RecognitionStream] = []
        self._frames = 0
        self._finals = False

    def __enter__(self) -> RecognitionSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up at once; after `finish` this only frees the places."""
        for stream in self._streams:
            stream.close()

    @property
    def seconds(self) -> float:
        """Audio received so far."""
        return self._frames / self._decoder.rate if self._decoder.rate else 0.0

    async def feed(self, data: bytes) -> list[ChannelResult]:
        return await self._feed(self._decoder.read(data), in_thread=len(data) > _QUICK)

    async def end_utterance(self) -> list[ChannelResult]:
        return await self._ask(lambda stream, _: stream.end_utterance())

    async def finish(self) -> list[ChannelResult]:
        """The rest. A stream without any final still gets one, so that clients which wait for it go on."""
        rest = await self._feed(self._decoder.finish())
        rest += await self._ask(lambda stream, _: stream.finish())
        if not self._finals:
            rest.append((1, empty_final(round(self.seconds * 1000))))
        return rest

    async def _feed(self, pieces: Iterator[Samples], *, in_thread: bool = False) -> list[ChannelResult]:
        results: list[ChannelResult] = []
        while (samples := await asyncio.to_thread(self._take, pieces) if in_thread else self._take(pieces)) is not None:
            self._frames += len(samples)
            if not self._streams:
                self._open()
            results += await self._ask(lambda stream, channel: stream.feed(samples[:, channel]))
        return results

    def _take(self, pieces: Iterator[Samples]) -> Samples | None:
        """The next few seconds; None at the end."""
        taken: list[Samples] = []
        frames = 0
        for samples in pieces:
            taken.append(samples)
            frames += len(samples)
            if frames >= _PIECE_S * self._decoder.rate:
                break
        return np.concatenate(taken) if taken else None

    def _open(self) -> None:
        options = self.config.with_rate(self._decoder.rate)
        try:
            for _ in range(self._decoder.channels):
                self._streams.append(self._recognizer.open_stream(options))
        except Busy as full:
            raise busy(str(full), full.retry_ms) from full

    async def _ask(
        self, ask: Callable[[RecognitionStream, int], Awaitable[list[RecognitionResult]]]
    ) -> list[ChannelResult]:
        answers = await asyncio.gather(*(ask(one, channel) for channel, one in enumerate(self._streams)))
        results = [
            (channel, result)
            for channel, answer in enumerate(answers, start=1)
            for result in select_results(answer, self.config.options)
        ]
        self._finals = self._finals or any(result.final and not is_empty(result) for _, result in results)
        return results
