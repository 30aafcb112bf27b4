"""The real stage, killed again and again while shoppers write: every line has one turn, every order is made once."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from typing import Any

import pytest

from dialog.fulfilment.registry import ORDERS
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, TRANSCRIPTS, TURNS, ActionStarted, Turn
from tenor.settings import Settings
from tests.dialog.rig import line, live
from tests.killing import TenorProcess
from tests.watching import events, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KILLS = int(os.environ.get("KILLS", "0"))
"""How often it is killed on each bus; `make kills` says 25. Else a few times, as the suite has time for."""

LINES = (
    "how much is a laptop",
    "i want to reserve jeans in boston",
    "yes",
    "will it rain tomorrow",
    "seattle",
    "i want to reserve a laptop in denver",
    "yes please",
    "thanks",
)
ORDERED = 2
BETWEEN_S = 3.0
"""From one kill to the next, with the time that a start takes."""


async def turns(bus: Bus) -> list[Turn]:
    return [event for event in await events(bus, TURNS) if isinstance(event, Turn)]


async def run(settings: Settings, calls: int, kills: int) -> None:
    chance, stage = random.Random(calls), TenorProcess(settings, "serve", "assistant")
    names = [f"call-{number}" for number in range(calls)]
    async with open_bus(settings) as bus:
        stage.start()
        try:

            async def answered(number: int) -> bool:
                stage.check()
                return sum(turn.turn == number for turn in await turns(bus)) >= calls

            for name in names:
                await bus.publish(CALLS, live(name))
            await until(lambda: answered(0))
            pace_s = max(0.25, kills * BETWEEN_S / (len(LINES) * calls))  # somebody writes until the last one
            feeding = asyncio.create_task(feed(bus, names, pace_s))
            for _ in range(kills):
                await asyncio.sleep(chance.uniform(0.5, 3.0))
                stage.kill()
                stage.start()
            await feeding
            await until(lambda: answered(len(LINES)), timeout_s=60)
            check(await turns(bus), await events(bus, TURNS), names)
        finally:
            stage.kill()
    with sqlite3.connect(settings.home / ORDERS) as orders:
        assert orders.execute("SELECT count(*), count(DISTINCT key) FROM reservations").fetchone() == (
            ORDERED * calls, ORDERED * calls,
        )  # fmt: skip


def check(told: list[Turn], everything: list[Any], names: list[str]) -> None:
    for name in names:
        mine = [turn for turn in told if turn.call == name]
        assert [turn.turn for turn in mine] == list(range(len(LINES) + 1)), name
        assert [turn.input for turn in mine] == ["", *LINES], name
        assert [turn.action for turn in mine if turn.action == "reserve"] == ["reserve"] * ORDERED
        assert "Seattle" in mine[5].reply
        keys = [event.key for event in everything if isinstance(event, ActionStarted) and event.call == name]
        assert len(set(keys)) == ORDERED


async def feed(bus: Bus, names: list[str], pace_s: float) -> None:
    for number, text in enumerate(LINES, 1):
        for name in names:
            await bus.publish(TRANSCRIPTS, line(text, number, name))
            await asyncio.sleep(pace_s)


@pytest.mark.parametrize("kind", ["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def test_killed_at_any_moment_every_line_has_one_turn(kind: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(f"{kind}_settings")
    calls, kills = (6, 5) if kind == "embedded" else (4, 3)
    asyncio.run(run(settings, calls, KILLS or kills))
