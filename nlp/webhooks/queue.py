"""The queue of one webhook: requests go out a few at a time, are retried when they fail, and are given up in the end.

A webhook that never answers fills its own queue and nobody else's.
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

from nlp.webhooks.request import DeliveryError, TemporaryDeliveryError, WebhookRequest, post

log = structlog.get_logger(__name__)

SENT = Counter("tenor_webhooks", "Alerts and summaries sent to webhooks", ["webhook", "outcome"])


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    timeout_s: float = 10.0
    """For one answer."""
    give_up_s: float = 300.0
    """From taking a request to giving it up. Each is tried at least once."""
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    at_once: int = 4
    """Requests on their way to one webhook."""
    waiting: int = 1000
    """Requests waiting for one webhook; what comes after is given up at once."""


class _NotOursError(Exception):
    """Another worker has taken a request over, and sends it."""


class WebhookQueue:
    def __init__(
        self,
        name: str,
        url: httpx.URL,
        secret: str,
        policy: DeliveryPolicy,
        ours: Callable[[WebhookRequest], Awaitable[bool]],
        done: Callable[[WebhookRequest, str], Awaitable[None]],
    ) -> None:
        """`ours` says whether a request is still ours to send, and `done` is called with each that was, with the reason
        if it was given up."""
        self._name = name
        self._url = url
        self._secret = secret
        self._policy = policy
        self._ours, self._done = ours, done
        self._waiting: asyncio.Queue[WebhookRequest] = asyncio.Queue(policy.waiting)

    async def put(self, request: WebhookRequest) -> None:
        try:
            self._waiting.put_nowait(request)
        except asyncio.QueueFull:
            await self._finish(request, f"{self._policy.waiting} others are waiting for it already")

    def work(self, client: httpx.AsyncClient) -> list[Coroutine[Any, Any, None]]:
        """To be run side by side: each delivers one request after the other, until cancelled."""
        return [self._deliver(client) for _ in range(self._policy.at_once)]

    async def _deliver(self, client: httpx.AsyncClient) -> None:
        while True:
            request = await self._waiting.get()
            reason = ""
            try:
                await self._try(client, request)
            except DeliveryError as error:
                reason = str(error)
            except _NotOursError:
                continue
            await self._finish(request, reason)

    async def _try(self, client: httpx.AsyncClient, request: WebhookRequest) -> None:
        policy = self._policy
        left_s = max(0.001, request.taken_at + policy.give_up_s - time.monotonic())
        async for attempt in stamina.retry_context(
            TemporaryDeliveryError,
            attempts=None,
            timeout=left_s,
            wait_initial=policy.first_wait_s,
            wait_max=policy.longest_wait_s,
            wait_jitter=policy.first_wait_s,
        ):
            with attempt:
                if not await self._ours(request):
                    raise _NotOursError
                await post(client, self._url, request, self._secret, policy.timeout_s)

    async def _finish(self, request: WebhookRequest, reason: str) -> None:
        if reason and not await self._ours(request):  # time ran out while we were frozen: another sends it
            return
        SENT.labels(self._name, "given up" if reason else "delivered").inc()
        if reason:
            log.warning("not delivered to a webhook", webhook=self._name, id=request.id, reason=reason)
        await self._done(request, reason)
