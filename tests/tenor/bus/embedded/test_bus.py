"""The embedded bus where it is not like Kafka: its file, and what can be wrong with it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenor.bus import Partition
from tenor.bus.embedded.bus import EmbeddedBus
from tenor.bus.opening import open_bus
from tenor.errors import BadInput, TenorError, Unavailable
from tenor.events import AudioChunk
from tenor.settings import BusSettings, Settings
from tests.tenor.bus.processes import Process, note
from tests.tenor.bus.reading import drained, fresh_topic

SETTINGS = BusSettings(partitions=4, lease_s=2, patience_s=1)


async def error_of_opening(path: Path) -> TenorError:
    with pytest.raises(TenorError) as caught:
        async with EmbeddedBus(path, SETTINGS) as bus:
            await bus.publish(fresh_topic(), note("call"))
    assert str(path) in caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder we may look into but not write, even when the tests run as root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)


async def test_the_file_keeps_its_number_of_partitions(tmp_path: Path) -> None:
    topic = fresh_topic()
    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS) as bus:
        before = await bus.publish(topic, note("call"))
    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS.model_copy(update={"partitions": 7})) as bus:
        assert await bus.partitions(topic) == 4
        assert await bus.publish(topic, note("call")) == before._replace(offset=1)


async def test_folders_are_made(tmp_path: Path) -> None:
    async with open_bus(Settings(home=tmp_path / "not" / "yet")) as bus:
        await bus.publish(fresh_topic(), note("call"))
    assert (tmp_path / "not" / "yet" / "bus.db").exists()


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "bus.db"
    path.write_bytes(b"These are not the events you are looking for." * 100)
    error = await error_of_opening(path)
    assert isinstance(error, BadInput)
    assert "not a bus" in error.message


async def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE calls (id)")
    error = await error_of_opening(path)
    assert isinstance(error, BadInput)
    assert sqlite3.connect(path).execute("SELECT name FROM sqlite_schema").fetchall() == [("calls",)]


async def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "bus.db"
    topic = fresh_topic()
    async with EmbeddedBus(path, SETTINGS) as bus:
        await bus.publish_many(topic, [note(f"call-{number}", "x" * 500) for number in range(500)])
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    error = await error_of_opening(path)
    assert isinstance(error, BadInput)
    assert "damaged" in error.message
    assert "move" in error.hint


async def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    assert isinstance(await error_of_opening(tmp_path), BadInput)


async def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot make the folder"):
        async with EmbeddedBus(tmp_path / "file" / "bus.db", SETTINGS):
            pass


async def test_a_folder_we_may_not_write(locked_folder: Path) -> None:
    error = await error_of_opening(locked_folder / "bus.db")
    assert isinstance(error, BadInput)
    assert "writable" in error.hint


async def test_a_file_we_may_not_write(locked_folder: Path) -> None:
    user = os.geteuid()
    os.seteuid(os.getuid())
    locked_folder.chmod(0o755)
    async with EmbeddedBus(locked_folder / "bus.db", SETTINGS) as bus:
        await bus.publish(fresh_topic(), note("call"))
    (locked_folder / "bus.db").chmod(0o444)
    locked_folder.chmod(0o555)
    os.seteuid(user)
    assert isinstance(await error_of_opening(locked_folder / "bus.db"), BadInput)


async def test_a_full_disk_is_waited_for_and_then_said(tmp_path: Path) -> None:
    topic = fresh_topic()
    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS) as bus:
        await bus.publish(topic, note("call", "before"))
        (pages,) = await bus._file.read(lambda db: db.execute("PRAGMA page_count").fetchone())
        await bus._file.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        started = time.monotonic()
        with pytest.raises(Unavailable, match="no space left"):
            await bus.publish(topic, note("call", "x" * 1_000_000))
        assert time.monotonic() - started > 0.5
        await bus._file.write(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
        assert (await bus.publish(topic, note("call", "after"))).offset == 1


async def test_one_bad_job_does_not_spoil_the_others(tmp_path: Path) -> None:
    topic = fresh_topic()

    def fail(_: sqlite3.Connection) -> None:
        raise ZeroDivisionError

    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS) as bus:
        await bus.partitions(topic)
        results = await asyncio.gather(
            bus.publish(topic, note("call")),
            bus._file.write(fail),
            bus.publish(topic, note("call")),
            return_exceptions=True,
        )
    assert isinstance(results[1], ZeroDivisionError)
    assert [position.offset for position in (results[0], results[2]) if isinstance(position, tuple)] == [0, 1]


async def test_a_writer_that_holds_the_file_too_long_is_named_as_the_cause(tmp_path: Path) -> None:
    topic = fresh_topic()
    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS) as bus:
        await bus.publish(topic, note("call"))
        other = sqlite3.connect(tmp_path / "bus.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked by another process"):
            await bus.publish(topic, note("call"))
        other.execute("ROLLBACK")
        assert (await bus.publish(topic, note("call"))).offset == 1


@pytest.mark.slow
async def test_space_of_forgotten_records_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "bus.db"
    topic = fresh_topic(retention_s=1)
    pcm = bytes(1600)
    chunks = [
        AudioChunk(call=f"c{seq % 9}", channel=0, seq=seq, start_ms=0, rate=8000, pcm=pcm, captured_at=0.0)
        for seq in range(12_000)
    ]
    async with EmbeddedBus(path, SETTINGS) as bus:
        await bus.publish_many(topic, chunks)
        async with asyncio.timeout(40):
            slowest = 0.0
            while (await bus._file.read(lambda db: db.execute("PRAGMA page_count").fetchone()))[0] > 1500:
                started = time.monotonic()
                await bus.publish(topic, note("call"))
                slowest = max(slowest, time.monotonic() - started)
                await asyncio.sleep(0.02)
    assert path.stat().st_size < 1500 * 4096
    assert slowest < 2, "writers were kept waiting"


@pytest.mark.slow
async def test_many_processes_open_a_new_file_at_once(embedded_settings: Settings) -> None:
    topic = fresh_topic()
    processes = [Process("publish", embedded_settings, topic, call=f"call-{n}", count=5) for n in range(3)]

    async def run(process: Process) -> int:
        async with process:
            return await process.ended()

    assert await asyncio.gather(*map(run, processes)) == [0] * 3
    async with open_bus(embedded_settings) as bus, bus.follower([topic], from_start=True) as follower:
        assert len(await drained(follower, 15)) == 15


async def test_another_process_wakes_a_poll_that_waits(embedded_settings: Settings) -> None:
    topic = fresh_topic()
    async with (
        open_bus(embedded_settings) as bus,
        bus.follower([topic]) as follower,
        Process("publish", embedded_settings, topic, call="call", count=1),
        asyncio.timeout(60),
    ):
        assert await follower.poll(timeout_s=3600)


async def test_a_closed_bus_leaves_one_file(tmp_path: Path) -> None:
    async with EmbeddedBus(tmp_path / "bus.db", SETTINGS) as bus:
        await bus.publish(fresh_topic(), note("call"))
        assert await bus.fetch(Partition("unknown", 3), 0) == []
    assert [path.name for path in tmp_path.iterdir()] == ["bus.db"]
