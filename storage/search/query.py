"""What is looked for: words, and what a sentence and its call must be like."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tenor.errors import BadInput
from tenor.search.calls import CallSearch, read
from tenor.search.text import Known

Order = Literal["newest", "closest"]


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Every condition given must hold; of several values of one condition, any. Sentiment, intent, text and role
    count as people corrected them."""

    words: str = ""
    """As people type them: `refund "last week" cancel* -thanks` (see `tenor.search.terms`)."""
    said: str = ""
    """Sentences of one call, in brackets: `(role:caller cancel*) then (role:agent sorry)` (see `tenor.search.calls`).
    The search is for calls then, and what is asked of sentences stands in the brackets."""
    sentiment: tuple[str, ...] = ()
    intent: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    """Who said it: `caller`, `agent`."""
    language: tuple[str, ...] = ()
    """Of the sentence: `en`, `other`."""
    task: tuple[str, ...] = ()
    """What the call is about."""
    call: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    customer: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    site: tuple[str, ...] = ()
    medium: tuple[str, ...] = ()
    """`voice`, `chat`, `email`."""
    aspect: tuple[str, ...] = ()
    """What the sentence is about: `product`, `service`, `support`, `brand`, `price`, `delivery`."""
    model: tuple[str, ...] = ()
    """A version of a model that understood the sentence: `house-7`."""
    rule: tuple[str, ...] = ()
    """A rule that fired in the call."""
    alerted: bool = False
    """Only calls in which any rule fired."""
    severity: tuple[str, ...] = ()
    """Of an alert in the call: `info`, `warning`, `critical`."""
    since: float | None = None
    """Spoken at this time or later, in seconds since the epoch."""
    until: float | None = None
    """Spoken before this time."""
    order: Order = "newest"
    """`closest`: the sentences first that say little else, among equals the newest."""


OF_SENTENCES = ("words", "sentiment", "intent", "role", "language", "aspect", "model")


def checked(query: SearchQuery, known: Known | None = None) -> CallSearch | None:
    """What is asked of calls, or None: the search is for sentences."""
    if not query.said:
        return None
    if beside := [name for name in OF_SENTENCES if getattr(query, name)]:
        raise BadInput(f"{beside[0]} is about a sentence: in a search for calls it belongs in brackets")
    return read(query.said, known)


def to_dict(query: SearchQuery) -> dict[str, Any]:
    """As saved: only what was given."""
    made: dict[str, Any] = msgspec.to_builtins(query)
    return made


def from_dict(given: dict[str, Any]) -> SearchQuery:
    try:
        return msgspec.convert(given, SearchQuery)
    except msgspec.ValidationError as error:
        raise BadInput(f"this is no search: {error}") from None
