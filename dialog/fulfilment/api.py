"""Asks an HTTP API for JSON: limited in size, its rate limits respected, and every failure an ActionFailed that shows
neither addresses nor keys."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import httpx
import msgspec

from dialog.fulfilment.types import ActionFailed
from tenor.web.answers import ACCEPTED, AnswerTooLarge, limited_answer

LARGEST = 1 << 20
"""Bytes of an answer."""
LONGEST_WAIT_S = 3600.0
TEMPORARY = frozenset((408, 425, 429, 500, 502, 503, 504))


class Unauthorized(ActionFailed):
    """The key or token is not accepted (401)."""


class ApiClient:
    """One provider's connections. `name` is what logs call it."""

    def __init__(self, name: str, *, connect_s: float = 2.0) -> None:
        self.name = name
        self._connect_s = connect_s
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free_at = 0.0
        """When the provider's rate limit lets us in again, by the machine's clock."""

    async def get(self, url: str, query: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Any:
        return await self.ask("GET", url, query=query, headers=headers)

    async def ask(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        changes: bool = False,
    ) -> Any:
        """The JSON of the answer. `changes`: a failure after the request left us is uncertain."""
        wait_s = self._free_at - time.time()
        if wait_s > 0:
            raise ActionFailed(f"{self.name}: rate limit used up", retry=True, wait_s=wait_s)
        try:
            async with self._connection().stream(
                method,
                url,
                params={key: value for key, value in (query or {}).items() if value is not None},
                headers={"Accept": "application/json", **ACCEPTED, **(headers or {})},
                json=json,
                data=form,
                auth=auth,
                follow_redirects=False,
            ) as answer:
                return self._read(answer, await _body(self.name, answer), changes)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise ActionFailed(f"{self.name}: cannot connect", retry=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
            reason = f"{self.name}: no proper answer ({type(error).__name__})"
            raise ActionFailed(reason, retry=True, uncertain=changes) from None

    async def close(self) -> None:
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.aclose()
        self._client = None

    def _connection(self) -> httpx.AsyncClient:
        """Connections belong to the event loop that opened them."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = httpx.AsyncClient(timeout=httpx.Timeout(30.0, connect=self._connect_s), verify=_tls())
            self._loop = loop
        return self._client

    def _read(self, answer: httpx.Response, body: bytes, changes: bool) -> Any:
        status = answer.status_code
        wait_s = min(LONGEST_WAIT_S, _rest(answer, time.time()))
        if wait_s > 0:
            self._free_at = time.time() + wait_s
        if status in TEMPORARY:
            reason = f"{self.name}: answered {status}"
            raise ActionFailed(reason, retry=True, wait_s=wait_s, uncertain=changes and status not in (425, 429))
        if not 200 <= status < 300:
            raise (Unauthorized if status == 401 else ActionFailed)(f"{self.name}: answered {status}")
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kind = answer.headers.get("content-type", "nothing").partition(";")[0][:40]
            raise ActionFailed(f"{self.name}: answered {kind}, not JSON", uncertain=changes) from None


@lru_cache(1)
def _tls() -> ssl.SSLContext:
    """Certificates are read once, not for each client."""
    return httpx.create_ssl_context()


async def _body(name: str, answer: httpx.Response) -> bytes:
    try:
        return await limited_answer(answer, LARGEST)
    except AnswerTooLarge:
        raise ActionFailed(f"{name}: an answer of more than {LARGEST >> 20} MB") from None


def _rest(answer: httpx.Response, now: float) -> float:
    """Seconds to leave the provider alone: Retry-After of a 429 or 503, or when no request is left."""
    if answer.status_code in (429, 503) and (after := _moment(answer.headers.get("retry-after"), now)) is not None:
        return max(0.0, after)
    used_up = answer.headers.get("ratelimit-remaining", "").strip() in ("0", "0.0")
    for name in ("ratelimit-resettime", "ratelimit-reset"):
        if used_up and (after := _moment(answer.headers.get(name), now)) is not None:
            return max(0.0, after)
    return 1.0 if answer.status_code == 429 else 0.0


def _moment(text: str | None, now: float) -> float | None:
    """Seconds from now of `120`, of an HTTP date and of an ISO date."""
    if not text:
        return None
    text = text.strip()
    try:
        return float(text) if text.replace(".", "", 1).isdigit() else _date(text).timestamp() - now
    except (ValueError, OverflowError):
        return None


def _date(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = parsedate_to_datetime(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
