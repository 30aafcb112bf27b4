"""A label that is in the database is on the bus: at once, or when somebody looks again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from sqlmodel import select

from storage.db.engine import Database
from storage.labels import publisher
from storage.labels.labels import correct
from storage.labels.publisher import LabelPublisher
from storage.tables import Call, Outbox
from tenor.bus import Bus, Position
from tenor.bus.opening import open_bus
from tenor.errors import Unavailable
from tenor.events import LABELS, Event, Topic
from tenor.settings import Settings
from tests.storage.conversations import NAMES
from tests.storage.rows import MANAGER, call, sentence, store
from tests.watching import events, until


@pytest.fixture
async def bus(database_settings: Settings) -> AsyncIterator[Bus]:
    async with open_bus(database_settings) as opened:
        yield opened


@pytest.fixture
def one(database: Database) -> Database:
    store(database, call("one"), *(sentence("one", number * 1000) for number in range(5)))
    return database


def label(database: Database, number: int) -> None:
    with database.begin() as session:
        correct(session, MANAGER, f"one/0/{number * 1000}", "intent", "refund", names=NAMES)


@asynccontextmanager
async def publishing(bus: Bus, database: Database) -> AsyncIterator[LabelPublisher]:
    made = LabelPublisher(bus, database)
    running = asyncio.create_task(made.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def on_the_bus(bus: Bus) -> list[str]:
    """Which sentences were told of."""
    return [event.sentence for event in await events(bus, LABELS)]


def is_empty(database: Database) -> bool:
    with database.session() as session:
        return session.exec(select(Outbox)).first() is None


async def test_what_a_process_left_behind_and_what_comes(bus: Bus, one: Database) -> None:
    label(one, 0)
    label(one, 1)  # and the process died
    async with publishing(bus, one) as made:
        await until(lambda: is_empty(one))
        label(one, 2)
        made.wake()
        await until(lambda: is_empty(one))
    assert await on_the_bus(bus) == ["one/0/0", "one/0/1000", "one/0/2000"]


async def test_while_the_bus_is_away_it_waits(bus: Bus, one: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "LOOK_S", 0.1)
    monkeypatch.setattr(publisher, "OTHERS_S", 0.0)
    publish_many, away = bus.publish_many, [True, True]

    async def unreliable(topic: Topic, some: Iterable[Event]) -> list[Position]:
        if away:
            away.pop()
            raise Unavailable("the bus is away")
        return await publish_many(topic, some)

    monkeypatch.setattr(bus, "publish_many", unreliable)
    label(one, 0)
    async with publishing(bus, one):
        await until(lambda: is_empty(one))
    assert await on_the_bus(bus) == ["one/0/0"]


async def test_a_call_that_is_gone_takes_what_waits_with_it(bus: Bus, one: Database) -> None:
    label(one, 0)
    with one.begin() as session:
        session.delete(session.get(Call, "one"))
    async with publishing(bus, one):
        await asyncio.sleep(0.2)
    assert await on_the_bus(bus) == []
