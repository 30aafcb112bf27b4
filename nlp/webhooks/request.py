"""What a webhook gets: an alert, or the summary of a call that is over, and what is known of the call, as JSON, signed.

POST
Content-Type: application/json
Idempotency-Key: call/rule/at_ms            the alert's id, or call/summary/at_ms: the same, should it come twice
Tenor-Signature: t=1760000000,v1=6f5e...    HMAC-SHA256 of "1760000000.<body>" with language.webhook_secret

{"type": "alert", "id": "...", "webhook": "crm", "alert": {...}, "call": {...}}
{"type": "summary", "id": "...", "webhook": "crm", "task": "...", "summary": {...}, "call": {...}}
{"type": "written_summary", "id": "...", "webhook": "crm", "written_summary": {"text": ...}, "call": {...}}
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import msgspec

from tenor.bus import Record
from tenor.errors import BadInput
from tenor.events import Alert, Call, CallMetrics, WrittenSummary

AGAIN = frozenset({408, 425, 429, *range(500, 600)})
"""Answers that may be another one later."""


class DeliveryError(Exception):
    """A request did not arrive; the message says why, without the address, which may hold a secret."""


class TemporaryDeliveryError(DeliveryError):
    """... and may arrive when it is tried again."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    webhook: str
    id: str
    """Of what it tells."""
    record: Record
    """Where that lay on the bus."""
    taken_at: float
    """On the monotonic clock."""
    body: bytes

    @classmethod
    def about(cls, webhook: str, alert: Alert, call: Call | None, record: Record) -> WebhookRequest:
        content = {"type": "alert", "id": alert.alert, "webhook": webhook, "alert": alert, "call": call}
        return cls(webhook, alert.alert, record, time.monotonic(), msgspec.json.encode(content))

    @classmethod
    def summing_up(cls, webhook: str, event: CallMetrics, call: Call | None, record: Record) -> WebhookRequest:
        told = {"task": event.task, "summary": event.summary, "call": {"id": event.call, **_known(call)}}
        content = {"type": "summary", "id": summary_id(event), "webhook": webhook, **told}
        return cls(webhook, summary_id(event), record, time.monotonic(), msgspec.json.encode(content))

    @classmethod
    def written(cls, webhook: str, event: WrittenSummary, call: Call | None, record: Record) -> WebhookRequest:
        """By a language model, some time after the summary that is made of sentences."""
        told = {"text": event.text, "model": event.model, "at": event.at}
        content = {"type": "written_summary", "id": written_id(event), "webhook": webhook, "written_summary": told}
        body = msgspec.json.encode({**content, "call": {"id": event.call, **_known(call)}})
        return cls(webhook, written_id(event), record, time.monotonic(), body)


def _known(call: Call | None) -> dict[str, Any]:
    return {} if call is None else msgspec.to_builtins(call)


def summary_id(event: CallMetrics) -> str:
    return f"{event.call}/summary/{event.at_ms}"


def written_id(event: WrittenSummary) -> str:
    return f"{event.call}/written-summary/{event.at_ms}"


def signature(secret: str, at: int, body: bytes) -> str:
    """The header that proves where a request comes from, and when it was sent."""
    digest = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def checked_url(name: str, url: str) -> httpx.URL:
    try:
        read = httpx.URL(url)
    except httpx.InvalidURL:
        read = httpx.URL("")
    if read.scheme not in ("http", "https") or not read.host:
        raise BadInput(f"the webhook {name!r} has no http:// or https:// address", "set language.webhooks")
    return read


async def post(
    client: httpx.AsyncClient, url: httpx.URL, request: WebhookRequest, secret: str, timeout_s: float
) -> None:
    """Deliver it, or raise DeliveryError. What the webhook answers besides its status is not read."""
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": quote(request.id, safe="/-_.~"),
        "Tenor-Signature": signature(secret, int(time.time()), request.body),
    }
    try:
        async with (
            asyncio.timeout(timeout_s),  # of all of it: an answer that trickles in is none
            client.stream("POST", url, content=request.body, headers=headers, follow_redirects=False) as answer,
        ):
            status = answer.status_code
    except TimeoutError:
        raise TemporaryDeliveryError(f"no answer within {timeout_s:g} s") from None
    except httpx.ConnectError:
        raise TemporaryDeliveryError("cannot connect") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise TemporaryDeliveryError(f"no proper answer ({type(error).__name__})") from None
    if status in AGAIN:
        raise TemporaryDeliveryError(f"answered {status}")
    if 300 <= status < 400:
        raise DeliveryError(f"answered {status}: it sends us elsewhere, and alerts go only where the settings say")
    if status >= 400 or status < 200:
        raise DeliveryError(f"answered {status}")
