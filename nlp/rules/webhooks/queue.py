"""One webhook's post: letters go out a few at a time, are tried again when they fail, and are given up in the end.

A webhook that never answers fills its own postbox and nobody else's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import httpx
import stamina
import structlog
from prometheus_client import Counter

from nlp.rules.letters import Letter, MayWork, Undelivered, post

log = structlog.get_logger(__name__)

SENT = Counter("tenor_webhooks", "Alerts sent to webhooks", ["webhook", "outcome"])


@dataclass(frozen=True, slots=True)
class Patience:
    timeout_s: float = 10.0
    """For one answer."""
    give_up_s: float = 300.0
    """From taking a letter to giving it up. Each is tried at least once."""
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    at_once: int = 4
    """Letters on their way to one webhook."""
    waiting: int = 1000
    """Letters waiting for one webhook; what comes after is given up at once."""


class Postbox:
    def __init__(
        self,
        name: str,
        url: httpx.URL,
        secret: str,
        patience: Patience,
        done: Callable[[Letter, str], Awaitable[None]],
    ) -> None:
        """`done` is told of each letter, with the reason if it was given up."""
        self._name = name
        self._url = url
        self._secret = secret
        self._patience = patience
        self._done = done
        self._waiting: asyncio.Queue[Letter] = asyncio.Queue(patience.waiting)

    async def put(self, letter: Letter) -> None:
        try:
            self._waiting.put_nowait(letter)
        except asyncio.QueueFull:
            await self._finish(letter, f"{self._patience.waiting} others are waiting for it already")

    def work(self, client: httpx.AsyncClient) -> list[Coroutine[Any, Any, None]]:
        """To be run side by side: each delivers one letter after the other, until cancelled."""
        return [self._deliver(client) for _ in range(self._patience.at_once)]

    async def _deliver(self, client: httpx.AsyncClient) -> None:
        while True:
            letter = await self._waiting.get()
            reason = ""
            try:
                await self._try(client, letter)
            except Undelivered as error:
                reason = str(error)
            await self._finish(letter, reason)

    async def _try(self, client: httpx.AsyncClient, letter: Letter) -> None:
        patience = self._patience
        left_s = max(0.001, letter.taken_at + patience.give_up_s - time.monotonic())
        async for attempt in stamina.retry_context(
            MayWork,
            attempts=None,
            timeout=left_s,
            wait_initial=patience.first_wait_s,
            wait_max=patience.longest_wait_s,
            wait_jitter=patience.first_wait_s,
        ):
            with attempt:
                await post(client, self._url, letter, self._secret, patience.timeout_s)

    async def _finish(self, letter: Letter, reason: str) -> None:
        SENT.labels(self._name, "given up" if reason else "delivered").inc()
        if reason:
            log.warning("alert not delivered", webhook=self._name, alert=letter.alert.alert, reason=reason)
        await self._done(letter, reason)
