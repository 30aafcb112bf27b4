"""Calls of actions, as the engine makes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from dialog.fulfilment.types import Action, ActionCall

NOW = datetime(2026, 11, 18, 10, 0, tzinfo=ZoneInfo("America/New_York"))
BOSTON = {
    "name": "Boston",
    "state": "MA",
    "latitude": 42.36,
    "longitude": -71.06,
    "timezone": "America/New_York",
    "population": 675647,
}


def call_of(action: str, *, key: str = "key", now: datetime = NOW, customer: str = "", **arguments: Any) -> ActionCall:
    return ActionCall(name=action, arguments=arguments, now=now, key=key, customer=customer)


async def result_of(action: Action, name: str, *, key: str = "key", now: datetime = NOW, **arguments: Any) -> Any:
    return (await action.run(call_of(name, key=key, now=now, **arguments))).result


def days(first: str, last: str = "", text: str = "then") -> dict[str, str]:
    return {"text": text, "from": first, "to": last or first}
