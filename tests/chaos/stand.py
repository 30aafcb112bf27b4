"""Every stage twice, a recogniser, a broker and a database, each a process that can be killed and frozen, and
links between them that can be cut off."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil
import psycopg

from asr.riva.client import RivaClient
from asr.riva.errors import RivaError
from deploy.kafka.broker import Broker
from deploy.postgres.server import Server
from deploy.service import Service, ServiceFailed
from tenor.settings import BusSettings, Settings, SpeechSettings, StorageSettings
from tests.chaos.links import Link
from tests.conftest import IMPATIENT, free_port
from tests.killing import TenorProcess

LEASE_S = float(os.environ.get("LEASE_S", "2"))
"""On a machine that does more than this, workers miss a short one without any fault."""
STAGES = (("asr",), ("language",), ("storage", "recordings"))
WORKERS = 2

Fault = Callable[[], Awaitable[None]]


class Stand:
    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        """How often which fault came."""
        self.restarts = 0
        """Processes that ended by themselves: stages do, when what they need is away for too long."""
        self._chance = chance
        broker, database, recogniser = (free_port() for _ in range(3))
        ports = {name: free_port() for name in ("broker", "database", "recogniser")}
        """Where the stages reach them: through a link."""
        listeners, controller = f"PLAINTEXT://127.0.0.1:{broker},LINKED://127.0.0.1:", free_port()
        linked = free_port()
        self.broker = Broker(
            folder / "kafka",
            broker,
            {
                **IMPATIENT,
                "listeners": f"{listeners}{linked},CONTROLLER://127.0.0.1:{controller}",
                "advertised.listeners": f"{listeners}{ports['broker']}",
                "controller.quorum.voters": f"1@127.0.0.1:{controller}",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LINKED:PLAINTEXT",
            },
        )
        self.database = Server(folder / "postgres", database, "s3cret", {"fsync": "off"})
        self._links = {
            "broker": Link(ports["broker"], linked),
            "database": Link(ports["database"], database),
            "recogniser": Link(ports["recogniser"], recogniser),
        }
        bus = BusSettings(url=f"kafka://127.0.0.1:{broker}", partitions=6, lease_s=LEASE_S, patience_s=120)
        home = folder / "home"  # which the stages close to others
        home.mkdir()
        self.settings = Settings(home=home, bus=bus, storage=StorageSettings(url=self.database.url("tenor")))
        """Past the links."""
        reached = self.settings.model_copy(
            update={
                "bus": bus.model_copy(update={"url": f"kafka://127.0.0.1:{ports['broker']}"}),
                "storage": StorageSettings(
                    url=self.database.url("tenor").replace(f":{database}/", f":{ports['database']}/")
                ),
            }
        )
        self._recogniser_address = f"127.0.0.1:{recogniser}"
        self.recogniser = TenorProcess(reached, "riva", "--port", str(recogniser), "--http-port", "0")
        self.workers = [
            TenorProcess(
                reached,
                *("serve", *names),
                TENOR_BUS__LEASE_S=str(LEASE_S),
                TENOR_SPEECH__ADDRESS=f"127.0.0.1:{ports['recogniser']}",
                TENOR_SPEECH__INTERIM="false",
                # Both count seconds of the clock, which the faults take.
                TENOR_SPEECH__FORCE_FINAL_S="60",
                TENOR_SPEECH__WATCHDOG_S="600",
                TENOR_SPEECH__TIMEOUT_S="10",
                TENOR_TELEMETRY__LOG_LEVEL="warning",
            )
            for names in STAGES
            for _ in range(WORKERS)
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for server in (self.broker, self.database):
                await asyncio.to_thread(server.start)
                stack.callback(_end, server)
            with psycopg.connect(self.database.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE tenor")
            for link in self._links.values():
                await stack.enter_async_context(link)
            self.recogniser.start()
            stack.callback(self.recogniser.kill)
            for worker in self.workers:
                worker.start()
                stack.callback(worker.kill)
            await self.recogniser_answers()
            try:
                yield
            except BaseException as error:
                logs = sorted(self.settings.home.glob("*.log"))
                error.add_note("\n".join(f"{log.name}: {log.read_text(errors='replace')[-3000:]}" for log in logs))
                raise

    async def disturb(self, until: asyncio.Event) -> None:
        """One fault after the other, at random, each over before the next; what ended by itself is started again."""
        faults: list[tuple[str, Fault]] = [
            *[("a stage killed", self._kill_stage)] * 3,
            *[("a stage frozen", self._freeze_stage)] * 3,
            ("the recogniser killed", self._kill_recogniser),
            ("the recogniser frozen", self._freeze_recogniser),
            ("the broker killed", lambda: self._kill(self.broker)),
            ("the broker frozen", lambda: self._freeze(self.broker)),
            ("the database killed", lambda: self._kill(self.database)),
            ("the database frozen", lambda: self._freeze(self.database)),
            *((f"the {name} cut off", lambda link=link: self._cut(link)) for name, link in self._links.items()),
        ]
        while not until.is_set():
            await asyncio.sleep(self._chance.uniform(1.0, 4.0))
            name, fault = self._chance.choice(faults)
            self.done[name] += 1
            await fault()
            await self.revive()

    async def revive(self) -> None:
        """As whatever runs them does."""
        for server in (self.broker, self.database):
            if server.ended:
                self.restarts += 1
                await self._start(server)
        for process in (self.recogniser, *self.workers):
            if not process.alive:
                self.restarts += 1
                process.start()

    async def recogniser_answers(self) -> None:
        client = RivaClient(SpeechSettings(address=self._recogniser_address))
        try:
            async with asyncio.timeout(180):
                while True:
                    try:
                        await client.models()
                        return
                    except RivaError:
                        await asyncio.sleep(0.2)
        finally:
            await client.close()

    async def _kill_stage(self) -> None:
        worker = self._chance.choice(self.workers)
        worker.kill()
        await asyncio.sleep(self._chance.uniform(0.0, 2 * LEASE_S))
        worker.start()

    async def _freeze_stage(self) -> None:
        """Past its lease: others take over what it holds, and then it wakes."""
        worker = self._chance.choice(self.workers)
        worker.freeze()
        await asyncio.sleep(self._chance.uniform(1.5, 5.0) * LEASE_S)
        worker.thaw()

    async def _kill_recogniser(self) -> None:
        self.recogniser.kill()
        self.recogniser.start()
        await self.recogniser_answers()

    async def _freeze_recogniser(self) -> None:
        self.recogniser.freeze()
        await asyncio.sleep(self._chance.uniform(1.0, 15.0))
        self.recogniser.thaw()

    async def _kill(self, server: Service) -> None:
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(self._chance.uniform(0.0, 4.0))
        await self._start(server)

    async def _start(self, server: Service) -> None:
        for patience in range(30, -1, -1):
            try:
                await asyncio.to_thread(server.start)
                return
            except ServiceFailed:  # children of the killed one have not all ended
                if not patience:
                    raise
                await asyncio.sleep(1)

    async def _freeze(self, server: Service) -> None:
        stopped = _processes(server)
        _signal(stopped, signal.SIGSTOP)
        await asyncio.sleep(self._chance.uniform(1.0, 10.0))
        _signal(stopped, signal.SIGCONT)

    async def _cut(self, link: Link) -> None:
        link.cut()
        await asyncio.sleep(self._chance.uniform(1.0, 10.0))
        link.join()


def _processes(server: Service) -> list[psutil.Process]:
    if server.ended or server._process is None:
        return []
    main = psutil.Process(server._process.pid)
    return [main, *main.children(recursive=True)]


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _end(server: Service) -> None:
    """Also while it is frozen."""
    _signal(_processes(server), signal.SIGCONT)
    server.kill()
