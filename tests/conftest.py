"""What tests of several packages share: buses and databases, on a real Kafka broker and PostgreSQL server."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import structlog
from aiokafka.admin import AIOKafkaAdminClient
from hypothesis import settings as hypothesis_settings

from deploy.kafka.broker import Broker
from deploy.postgres.server import Server
from storage.db.engine import Database, open_database
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.settings import BusSettings, Settings, StorageSettings
from tenor.telemetry import LibraryLines

# A shell that runs the suite in the background has it ignore SIGINT, and so would every program it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example that takes long on a busy machine is no wrong one.
hypothesis_settings.register_profile("tenor", deadline=None)
hypothesis_settings.load_profile("tenor")

IMPATIENT = {
    "group.min.session.timeout.ms": "1000",
    "log.retention.check.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
    "log.segment.delete.delay.ms": "100",
}
"""So that tests of leases and retention take seconds."""


@pytest.fixture(autouse=True)
def _logging_of_its_own() -> Iterator[None]:
    """A command that runs inside a test sets up logging; the next test starts without that."""
    yield
    structlog.reset_defaults()
    logging.captureWarnings(False)
    logging.getLogger().handlers = [one for one in logging.getLogger().handlers if not isinstance(one, LibraryLines)]


@pytest.fixture(scope="session")
def kafka_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real broker, started when the first test asks for it. Has .address, .start(), .stop() and .kill()."""
    broker = Broker(tmp_path_factory.mktemp("kafka"), free_port(), IMPATIENT)
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()  # nobody needs its data any more


@pytest.fixture
def embedded_settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, bus=BusSettings(partitions=4, lease_s=2, patience_s=30))


@pytest.fixture
def kafka_settings(kafka_broker: Broker, tmp_path: Path) -> Settings:
    """Settings for the broker, which holds no topics of earlier tests."""
    with ThreadPoolExecutor(1) as elsewhere:  # away from the event loop of the test
        elsewhere.submit(asyncio.run, _delete_topics(kafka_broker.address)).result()
    bus = BusSettings(url=f"kafka://{kafka_broker.address}", partitions=4, lease_s=2, patience_s=30)
    return Settings(home=tmp_path, bus=bus)


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def bus_settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of each bus in turn."""
    settings: Settings = request.getfixturevalue(f"{request.param}_settings")
    return settings


@pytest.fixture
async def bus(bus_settings: Settings) -> AsyncIterator[Bus]:
    """Each bus in turn."""
    async with open_bus(bus_settings) as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real server, started when the first test asks for it. Has .url(), .start(), .stop() and .kill()."""
    with tempfile.TemporaryDirectory(prefix="tenor-postgres-") as folder:  # where the server's own user gets to
        server = Server(Path(folder), free_port(), "s3cret", {"fsync": "off"})
        Path(folder).chmod(0o755)
        try:
            server.start()
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE newest")
            open_database(Settings(storage=StorageSettings(url=server.url("newest")))).close()
            yield server
        finally:
            server.kill()  # nobody needs its data any more


def postgres_database(server: Server, like: str = "newest") -> str:
    """The URL of a new database: at the newest schema, or empty with `like="template0"`."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}".encode())
    return server.url(name)


@pytest.fixture(scope="session")
def newest_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database at the newest schema: copying it is faster than making one."""
    home = tmp_path_factory.mktemp("newest")
    open_database(Settings(home=home)).close()
    return home / "tenor.db"


@pytest.fixture
def new_home(newest_sqlite: Path) -> Callable[[Path], Settings]:
    """Makes a folder a home of its own, with an empty database."""

    def make(home: Path) -> Settings:
        home.mkdir()
        shutil.copy(newest_sqlite, home / "tenor.db")
        return Settings(home=home)

    return make


@pytest.fixture
def sqlite_settings(embedded_settings: Settings, newest_sqlite: Path) -> Settings:
    """The embedded bus, and a database that is new in a file beside it."""
    shutil.copy(newest_sqlite, embedded_settings.home / "tenor.db")
    return embedded_settings


@pytest.fixture
def postgres_settings(embedded_settings: Settings, postgres: Server) -> Settings:
    """The embedded bus, and a PostgreSQL database that is new."""
    return embedded_settings.model_copy(update={"storage": StorageSettings(url=postgres_database(postgres))})


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of each database in turn."""
    settings: Settings = request.getfixturevalue(f"{request.param}_settings")
    return settings


@pytest.fixture
def database(database_settings: Settings) -> Iterator[Database]:
    """Each database in turn, empty, at the newest schema."""
    opened = open_database(database_settings)
    try:
        yield opened
    finally:
        opened.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _delete_topics(address: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        while names := [name for name in await admin.list_topics() if not name.startswith("__")]:
            await admin.delete_topics(names)
            await asyncio.sleep(0.05)
    finally:
        await admin.close()
