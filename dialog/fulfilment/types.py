"""The contract of an action: what it is called with, and what it answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

import msgspec


class ActionCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of an action."""

    name: str
    """`weather`, `places`, `prices`, `stock`, `product_info`, `reserve`, `handover`, or one of the author's own."""
    arguments: dict[str, Any]
    """By slot name, as the values' parsers give them: `location` is a place with `name`, `state`, `latitude`,
    `longitude`, `timezone`; `when` has `text`, `from`, `to` (ISO dates); the rest are texts and numbers. What nobody
    said is absent."""
    now: datetime
    """The shopper's clock, with its time zone: never ask the machine's."""
    key: str
    """The same for the same wish of the same turn; an action that changes something does it once per key."""
    call: str = ""
    """Id of the conversation."""
    customer: str = ""
    """The shop's own, verified id of the shopper, if it passed one."""


class ActionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    result: dict[str, Any]
    """Plain JSON, the same shape whatever the provider; the flow's templates read it as `result`. An unknown product
    gives an empty `items` or `stores`, never an error."""
    source: str
    """Who answered: `sample`, `open-meteo`, `yelp`, ..."""
    sample: bool = False
    """Made-up data: told in logs and on the inspector, not to the shopper."""


class ActionFailed(Exception):
    """The provider could not answer. The text is for logs, never for the shopper."""

    def __init__(self, reason: str, *, retry: bool = False, uncertain: bool = False, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.retry = retry
        """Whether trying again may help (a timeout, a 503)."""
        self.uncertain = uncertain
        """Whether it may have happened all the same."""
        self.wait_s = wait_s
        """How long the provider asks to be left alone (429 with Retry-After)."""


class Action(Protocol):
    """Carries a wish out. An instance is shared by all conversations."""

    async def run(self, call: ActionCall) -> ActionResult:
        """Raises ActionFailed and nothing else."""
        ...


class ChangingAction(Action, Protocol):
    """An action that changes something in the world, and does it once per key."""

    async def lookup(self, key: str) -> ActionResult | None:
        """What came of the call with this key; None when it never happened. Asked after a crash in between."""
        ...
