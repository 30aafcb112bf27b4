"""A database that is away, locked or full: the writer waits, says so once, loses nothing, and goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
import structlog
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import ConnectionPoolEntry

from deploy.postgres.server import Server
from storage.db.engine import open_database
from storage.writer.worker import GROUP, TOPICS
from tenor.bus import Bus, lag
from tenor.bus.opening import open_bus
from tenor.settings import Settings, StorageSettings
from tests.storage.events import whole_call
from tests.storage.writing import all_kept, publish, rows, writing
from tests.watching import until

TROUBLE, WELL = "the database does not answer, trying again", "the database answers again"


async def unwritten(bus: Bus) -> int:
    return await lag(bus, TOPICS.values(), GROUP)


@pytest.mark.postgres
async def test_a_server_that_goes_away_and_comes_back(postgres: Server, postgres_settings: Settings) -> None:
    with structlog.testing.capture_logs() as logs:
        async with open_bus(postgres_settings) as bus, writing(bus, postgres_settings) as task:
            await publish(bus, whole_call("before", 5))
            await all_kept(bus, task)
            await asyncio.to_thread(postgres.kill)
            try:
                await publish(bus, whole_call("while away", 5))
                await until(lambda: any(line["event"] == TROUBLE for line in logs), task)
                await asyncio.sleep(0.5)
                assert await unwritten(bus) > 0
            finally:
                await asyncio.to_thread(postgres.start)
            await all_kept(bus, task)
            assert not task.done()
    assert [line["event"] for line in logs if line["event"] in (TROUBLE, WELL)] == [TROUBLE, WELL]
    assert "no PostgreSQL answers" in next(line["reason"] for line in logs if line["event"] == TROUBLE)
    database = open_database(postgres_settings)
    assert {call["state"] for call in rows(database)["calls"].values()} == {"analysed"}
    assert len(rows(database)["sentences"]) == 10
    database.close()


@pytest.mark.postgres
async def test_a_server_that_is_not_there_yet(tmp_path: Path, postgres: Server, postgres_settings: Settings) -> None:
    await asyncio.to_thread(postgres.stop)
    with structlog.testing.capture_logs() as logs:
        async with open_bus(postgres_settings) as bus, writing(bus, postgres_settings) as task:
            try:
                await publish(bus, whole_call("one", 5))
                await until(lambda: any(line["event"] == TROUBLE for line in logs), task)
            finally:
                await asyncio.to_thread(postgres.start)
            await all_kept(bus, task)


async def test_a_file_that_is_locked(sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.db.engine.BUSY_MS", 100)
    database = open_database(sqlite_settings)
    other = sqlite3.connect(sqlite_settings.home / "tenor.db", isolation_level=None)
    with structlog.testing.capture_logs() as logs:
        async with open_bus(sqlite_settings) as bus, writing(bus, sqlite_settings) as task:
            await until(lambda: not task.done() and task.get_coro() is not None, task)
            other.execute("BEGIN IMMEDIATE")
            await publish(bus, whole_call("one", 5))
            await until(lambda: any(line["event"] == TROUBLE for line in logs), task)
            assert await unwritten(bus) > 0
            other.execute("ROLLBACK")
            await all_kept(bus, task)
    other.close()
    assert [line["event"] for line in logs if line["event"] in (TROUBLE, WELL)] == [TROUBLE, WELL]
    assert len(rows(database)["sentences"]) == 5
    database.close()


async def test_a_disk_that_is_full(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    with database.session() as session:
        size = session.connection().exec_driver_sql("PRAGMA page_count").scalar_one()
    opened: list[sqlite3.Connection] = []

    def limit(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
        opened.append(connection)
        connection.execute(f"PRAGMA max_page_count={size + 5}")

    event.listen(Engine, "connect", limit)
    try:
        with structlog.testing.capture_logs() as logs:
            async with open_bus(sqlite_settings) as bus, writing(bus, sqlite_settings) as task:
                await publish(bus, whole_call("one", 100))
                await until(lambda: any(line["event"] == TROUBLE for line in logs), task)
                await asyncio.sleep(0.3)
                assert await unwritten(bus) > 0
                for connection in opened:
                    connection.execute("PRAGMA max_page_count=1000000")
                await all_kept(bus, task)
    finally:
        event.remove(Engine, "connect", limit)
    assert "no space left" in next(line["reason"] for line in logs if line["event"] == TROUBLE)
    assert len(rows(database)["sentences"]) == 100
    assert rows(database)["dead_letters"] == {}
    database.close()


async def test_a_database_that_cannot_be_used_at_all_ends_the_stage(sqlite_settings: Settings) -> None:
    settings = sqlite_settings.model_copy(update={"storage": StorageSettings(url="mysql://host/db")})
    async with open_bus(settings) as bus:
        with pytest.raises(Exception, match="cannot be reached by mysql"):
            async with writing(bus, settings) as task:
                await task
