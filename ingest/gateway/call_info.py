"""What a platform tells about a call, made into our words.

Known names become fields of the call: agent, queue, site, customer, language, redact, record. Telephone
numbers go to `customer` and nowhere else. The rest is kept as attributes, cut to a sensible size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenor.events import Call, Redact
from tenor.redaction import mode
from tenor.redaction.about import without_cards
from tenor.settings import Settings

MOST_ATTRIBUTES = 50
LONGEST_NAME = 64
LONGEST_VALUE = 256
ASSISTANT = "assistant"
"""The attribute with the name of the assistant that answers the call, and the role of what it says."""

_NUMBERS = {"from", "to", "caller", "called", "callerid", "caller_id", "ani", "dnis", "phone", "number"}
_CUSTOMER = ("from", "caller", "callerid", "caller_id", "ani", "phone", "number")
_YES = {"", "1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off", "none"}


def call_info(
    settings: Settings,
    source: str,
    roles: tuple[str, ...],
    told: Mapping[str, Any],
    started_at: float,
    *,
    rate: int = 0,
    two_way: bool = False,
    shared: bool = False,
) -> Call:
    """The call as it goes on the bus. What is told wins over the settings. Only a call that goes both ways can be
    answered by the assistant, which then is its second side. `shared`: both roles are on its one channel."""
    words = {str(name)[:LONGEST_NAME]: _word(value) for name, value in list(told.items())[: 2 * MOST_ATTRIBUTES]}
    known = {name.lower(): value for name, value in words.items()}
    customer = next((known[name] for name in ("customer", *_CUSTOMER) if known.get(name)), "")
    fields = {"agent", "queue", "site", "customer", "language", "redact", "record", ASSISTANT, *_NUMBERS}
    attributes = {name: value for name, value in words.items() if name.lower() not in fields}
    if two_way and (assistant := assistant_of(settings, source, told)):
        attributes = {ASSISTANT: assistant, **attributes}
        roles = (roles[0], ASSISTANT)
    info = Call(
        source=source,
        roles=roles,
        speakers=roles if shared else (),
        started_at=started_at,
        rate=rate,
        site=known.get("site") or settings.ingest.site,
        queue=known.get("queue") or settings.ingest.queue,
        agent=known.get("agent", ""),
        customer=customer.removeprefix("tel:"),
        language=known.get("language") or settings.speech.language,
        record=_record(known["record"]) if "record" in known else settings.ingest.record,
        redact=_redact(known["redact"]) if "redact" in known else None,
        attributes=dict(list(attributes.items())[:MOST_ATTRIBUTES]),
    )
    return without_cards(info, mode(info, settings.speech))


def assistant_of(settings: Settings, source: str, told: Mapping[str, Any]) -> str:
    """Which assistant answers a call that goes both ways; empty: none does."""
    known = {str(name).lower(): _word(value) for name, value in told.items()}
    chosen = settings.gateway.assistant
    by_setting = (chosen.get(name, "") for name in (known.get("queue") or settings.ingest.queue, source, "*"))
    return known.get(ASSISTANT) or next(filter(None, by_setting), "")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)[:LONGEST_VALUE] if isinstance(value, str | int | float) else ""


def _record(word: str) -> bool:
    # A word we do not know must not lead to a recording nobody wanted.
    return word.lower() in _YES


def _redact(word: str) -> Redact:
    match word.lower():
        case "text":
            return "text"
        case low if low in _NO:
            return "off"
        case _:
            # A word we do not know must not leave a card number readable.
            return "audio"
