"""deploy/kubernetes without a cluster: every pod on a Kafka with TLS and SASL and a PostgreSQL with TLS, through a
call, through a rolling restart of every stage while calls go on, and back."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from pydantic import SecretStr
from websockets.exceptions import InvalidMessage

from storage.db.engine import Database, open_database
from tenor.bus.opening import open_bus
from tenor.events import CALLS, DEAD, TRANSCRIPTS, CallState, Transcript
from tenor.settings import BusSettings, Settings, StorageSettings
from tests.deploy.manifests import objects
from tests.deploy.pods import Host, Pod
from tests.deploy.secure_servers import PASSWORD, USER, secure_kafka, secure_postgres
from tests.ingest.gateway.simulators.jambonz import Listen
from tests.ingest.gateway.simulators.tones import interleave
from tests.readings import RATE, calls
from tests.storage.writing import rows
from tests.watching import events, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.kafka,
    pytest.mark.postgres,
    pytest.mark.timeout(900),
    pytest.mark.skipif("ROLLING" not in os.environ, reason="make rolling"),
    pytest.mark.skipif(os.geteuid() != 0, reason="containers are put together by root"),
]

SCRIPTS = 2
AT_ONCE = 2
WORKLOADS = [one["metadata"]["name"] for one in objects("Deployment")]
RECREATED = [
    one["metadata"]["name"] for one in objects("Deployment") if one["spec"]["strategy"].get("type") == "Recreate"
]
Said = list[tuple[int, str, int, int, str]]
"""Of a call: channel, role, start, end and text of each sentence."""


class Installation:
    """The pods that run, and calls that come to them."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.pods: list[Pod] = []
        """All that ever were."""
        self._current: dict[str, Pod] = {}
        self.called: dict[str, int] = {}
        """Which script each call was of."""

    async def migrate(self) -> None:
        job = Pod(self._host, "migrate", "1")
        self.pods.append(job)
        job.start()
        await job.completed()

    async def roll(self, version: str) -> None:
        """All deployments at once: a pod that is new is ready before the old one is told to stop."""
        await asyncio.gather(*(self._roll(name, version) for name in WORKLOADS))

    async def call(self, script: int) -> str:
        name = f"{len(self.called)}"
        self.called[f"jambonz-{name}"] = script
        caller, agent = (np.frombuffer(side, "<i2") for side in calls(SCRIPTS)[script])
        length = max(len(caller), len(agent))
        caller, agent = (np.pad(side, (0, length - len(side))) for side in (caller, agent))
        async with AsyncExitStack() as stack:
            listen = await self._connected(stack, name)
            await listen.speak(interleave(caller, agent), paced=True)
        return f"jambonz-{name}"

    async def _connected(self, stack: AsyncExitStack, name: str) -> Listen:
        """Whoever waited in the queue of a gateway that stops is sent to another one, as load balancers do."""
        for _ in range(3):
            with suppress(InvalidMessage, OSError):
                return await stack.enter_async_context(self._caller(name))
        return await stack.enter_async_context(self._caller(name))

    def _caller(self, name: str) -> Listen:
        return Listen(self._current["gateway"].ports[8400], name, authorization="Bearer jambonz token")

    async def calls_while(self, working: asyncio.Task[None]) -> None:
        """One after another, some at once, until the work is done; each call to its end."""

        async def keep_calling(script: int) -> None:
            while not working.done():
                await self.call(script % SCRIPTS)

        await asyncio.gather(working, *(keep_calling(number) for number in range(AT_ONCE)))

    def kill(self) -> None:
        for pod in self.pods:
            pod.kill()

    async def _roll(self, workload: str, version: str) -> None:
        old, new = self._current.get(workload), Pod(self._host, workload, version)
        self.pods.append(new)
        if old and workload in RECREATED:
            await old.stop()
        new.start()
        await new.ready()
        self._current[workload] = new
        if old and workload not in RECREATED:
            await old.stop()


@asynccontextmanager
async def installed(folder: Path) -> AsyncIterator[tuple[Installation, Settings]]:
    (folder / "postgres").mkdir()
    with secure_kafka(folder / "kafka") as kafka, secure_postgres(folder / "postgres") as postgres:
        certificates = folder / "certificates"
        certificates.mkdir()
        for server in ("kafka", "postgres"):
            (certificates / f"{server}-ca.crt").write_bytes((folder / server / f"{server}-ca.crt").read_bytes())
        bus = f"kafka://127.0.0.1:{kafka}"
        database = f"{postgres.url('tenor')}?sslmode=verify-full&sslrootcert="
        secrets = {
            "storage-url": f"{database}/certificates/postgres-ca.crt",
            "bus-password": PASSWORD,
            "dashboard-secret": "a secret that is long enough to be one",
            "jambonz-token": "jambonz token",
        }
        overlay = {
            "TENOR_BUS__URL": bus,
            "TENOR_BUS__REPLICATION": "1",
            # Silence is measured by the clock here, and a machine that starts so much is late.
            "TENOR_SPEECH__FORCE_FINAL_S": "60",
        }
        running = Installation(Host(folder / "host", secrets, certificates, overlay))
        settings = Settings(
            home=folder / "home",
            bus=BusSettings(
                url=bus,
                security="SASL_SSL",
                sasl_mechanism="SCRAM-SHA-512",
                sasl_user=USER,
                sasl_password=SecretStr(PASSWORD),
                ca_file=str(certificates / "kafka-ca.crt"),
            ),
            storage=StorageSettings(url=f"{database}{certificates}/postgres-ca.crt"),
        )
        try:
            await running.migrate()
            yield running, settings
        finally:
            running.kill()


def kept(database: Database) -> dict[str, dict[str, Any]]:
    return rows(database, "calls")["calls"]


def sentences(database: Database) -> dict[str, Said]:
    said: dict[str, Said] = {}
    for row in rows(database, "sentences")["sentences"].values():
        one = (row["channel"], row["role"], row["start_ms"], row["end_ms"], row["text"])
        said.setdefault(row["call"], []).append(one)
    return {call: sorted(lines) for call, lines in said.items()}


async def test_a_rolling_restart_of_everything_loses_nothing_of_any_call_and_doubles_nothing() -> None:
    with tempfile.TemporaryDirectory(prefix="tenor-pods-") as name:  # where the server's own user gets to
        folder = Path(name)
        folder.chmod(0o755)
        async with installed(folder) as (running, settings):
            await running.roll("first")
            database = open_database(settings)
            undisturbed = [await running.call(script) for script in range(SCRIPTS)]

            def all_kept() -> bool:
                found = kept(database)
                assert {one["state"] for one in found.values()} <= {"live", "ended", "analysed"}
                done = [one for one in found.values() if one["state"] == "analysed" and one["recorded"]]
                return len(done) == len(running.called)

            await until(all_kept, timeout_s=300)
            expected = [sentences(database)[call] for call in undisturbed]
            assert all(len(said) >= 2 for said in expected)

            await running.calls_while(asyncio.create_task(running.roll("second")))
            await running.calls_while(asyncio.create_task(running.roll("third")))
            await until(all_kept, timeout_s=300)

            assert len(running.called) >= SCRIPTS + 2 * AT_ONCE
            assert sentences(database) == {call: expected[script] for call, script in running.called.items()}
            for call, script in running.called.items():
                recording = folder / "host" / "volume" / "recordings" / Path(kept(database)[call]["recording"]).name
                frames = max(map(len, calls(SCRIPTS)[script])) // 2
                assert soundfile.info(recording).frames == pytest.approx(frames, abs=RATE // 10)
            database.close()
            async with open_bus(settings) as bus:
                finals = Counter(
                    event.utterance
                    for event in await events(bus, TRANSCRIPTS)
                    if isinstance(event, Transcript) and event.final
                )
                ends = Counter(
                    event.call
                    for event in await events(bus, CALLS)
                    if isinstance(event, CallState) and event.state == "ended"
                )
                assert set(finals.values()) == set(ends.values()) == {1}
                assert await events(bus, DEAD) == []
            await asyncio.gather(*(pod.stop() for pod in running._current.values()))
            assert [line for pod in running.pods for line in pod.errors()] == []
