"""One client's audio on its way through the intake to its listeners, whichever protocol brought it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

from asr.local.audio import Intake
from asr.local.hearing import Busy, Ears, Heard, Listener, Samples
from asr.local.recognition_config import Wishes
from asr.local.refusal import busy
from asr.local.results import is_empty, nothing_heard, presentable

_QUICK = 32 * 1024
"""Messages up to here are decoded on the spot; larger ones in a thread, so that others are not kept waiting."""

Tagged = tuple[int, Heard]
"""A channel, counted from 1, and what was heard on it."""


class Session:
    """Opens its listeners, one a channel, as soon as the audio says how many and how fast."""

    def __init__(self, ears: Ears, wishes: Wishes) -> None:
        self.wishes = wishes
        self._ears = ears
        self._intake = Intake(wishes.announced)
        self._listeners: list[Listener] = []
        self._frames = 0
        self._finals = False

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up at once; after `finish` this only frees the places."""
        for listener in self._listeners:
            listener.close()

    @property
    def seconds(self) -> float:
        """Audio received so far."""
        return self._frames / self._intake.rate if self._intake.rate else 0.0

    async def hear(self, data: bytes) -> list[Tagged]:
        if len(data) > _QUICK:
            samples = await asyncio.to_thread(self._intake.read, data)
        else:
            samples = self._intake.read(data)
        return await self._hear(samples)

    async def end_utterance(self) -> list[Tagged]:
        return await self._ask(lambda listener, _: listener.end_utterance())

    async def finish(self) -> list[Tagged]:
        """The rest. A stream without any final still gets one, so that clients which wait for it go on."""
        rest = await self._hear(self._intake.finish())
        rest += await self._ask(lambda listener, _: listener.finish())
        if not self._finals:
            rest.append((1, nothing_heard(round(self.seconds * 1000))))
        return rest

    async def _hear(self, samples: Samples) -> list[Tagged]:
        if not len(samples):
            return []
        self._frames += len(samples)
        if not self._listeners:
            self._open()
        return await self._ask(lambda listener, channel: listener.hear(samples[:, channel]))

    def _open(self) -> None:
        request = self.wishes.at(self._intake.rate)
        try:
            for _ in range(self._intake.channels):
                self._listeners.append(self._ears.listen(request))
        except Busy as full:
            raise busy(str(full), full.retry_ms) from full

    async def _ask(self, ask: Callable[[Listener, int], Awaitable[list[Heard]]]) -> list[Tagged]:
        answers = await asyncio.gather(*(ask(one, channel) for channel, one in enumerate(self._listeners)))
        tagged = [
            (channel, heard)
            for channel, answer in enumerate(answers, start=1)
            for heard in presentable(answer, self.wishes.request)
        ]
        self._finals = self._finals or any(heard.final and not is_empty(heard) for _, heard in tagged)
        return tagged
