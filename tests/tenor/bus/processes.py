"""Other processes on a bus, for tests: run as `python -m tests.tenor.bus.processes`, told what to do on the line.

They print one line of JSON for everything that happens to them.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import structlog

from tenor.aio import run_to_completion
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.opening import open_bus
from tenor.bus.partitioned import PartitionLoop, ReadPartition, Takeover
from tenor.events import Note, Topic
from tenor.settings import BusSettings, Settings

ROOT = Path(__file__).resolve().parents[3]


def note(call: str, text: str = "", number: int = 0) -> Note:
    return Note(call=call, note=str(number), author="test", text=text, at=time.time())


class Process:
    """Such a process, seen from the test."""

    def __init__(self, role: str, settings: Settings, topic: Topic, **told: Any) -> None:
        self._told = {
            "role": role,
            "home": str(settings.home),
            "bus": settings.bus.model_dump(exclude={"sasl_password"}),
            "topic": topic.name,
            "retention_s": topic.retention_s,
            **told,
        }

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.tenor.bus.processes",
            json.dumps(self._told),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._process.returncode is None:
            self.signal(signal.SIGKILL)
        await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def go_on(self) -> None:
        """Answer a process that waits on `await told_to_go_on()`."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        await self._process.stdin.drain()

    async def hear(self, kind: str, within_s: float = 30.0) -> Any:
        """What it says next of this kind; other lines are dropped."""
        async with asyncio.timeout(within_s):
            async for said, what in self.lines():
                if said == kind:
                    return what
        raise AssertionError(f"the process ended without saying {kind!r}")

    async def lines(self) -> AsyncIterator[tuple[str, Any]]:
        """Everything it says until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            kind, what = json.loads(line)
            yield kind, what

    async def ended(self) -> int:
        return await self._process.wait()


# In the process


def say(kind: str, what: Any = None) -> None:
    sys.stdout.write(json.dumps([kind, what]) + "\n")
    sys.stdout.flush()


async def told_to_go_on() -> None:
    await asyncio.to_thread(sys.stdin.readline)


async def consume(bus: Bus, topic: Topic, told: dict[str, Any]) -> None:
    """Read and commit until killed, or until a SIGTERM asks to leave."""
    leaving = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)

    held: frozenset[Partition] = frozenset()
    async with bus.consumer([topic], told["group"]) as consumer:
        while not leaving.is_set():
            records = await consumer.poll(timeout_s=0.1)
            if held != (held := consumer.assignment()):
                say("holds", sorted(partition.number for partition in held))
            if records:
                commits = {Partition(r.topic, r.partition): Commit(r.offset + 1, "seen") for r in records}
                if told.get("commit", True):
                    await consumer.commit(commits)
                say("read", [[r.partition, r.offset, topic.decode(r.value).text] for r in records])
    say("left")


async def publish(bus: Bus, topic: Topic, told: dict[str, Any]) -> None:
    """Publish numbered notes one after another and say which were acknowledged."""
    number = 0
    while number < told["count"]:
        positions = await asyncio.gather(
            *(bus.publish(topic, note(told["call"], str(number + more))) for more in range(told.get("at_once", 1)))
        )
        number += len(positions)
        say("published", [[*position] for position in positions])


async def stall(bus: Bus, topic: Topic, told: dict[str, Any]) -> None:
    """Read, stop for longer than the lease, then try to commit and poll on."""
    hooks: list[str] = []

    async def assigned(partitions: Sequence[Partition]) -> None:
        hooks.append("assigned")

    async def revoked(partitions: Sequence[Partition]) -> None:
        hooks.append("revoked")

    async with bus.consumer([topic], told["group"], on_assigned=assigned, on_revoked=revoked) as consumer:
        while not await consumer.poll():
            pass
        held = consumer.assignment()
        await consumer.commit({p: Commit(1, "before") for p in held})
        hooks.clear()
        say("stopping", [[*p] for p in held])
        os.kill(os.getpid(), signal.SIGSTOP)
        await consumer.commit({p: Commit(99, "from the past") for p in held})
        first = await consumer.poll(timeout_s=0)
        say("woke", {"hooks": list(hooks), "read": len(first)})
        while "revoked" not in hooks:
            await consumer.poll()
        say("revoked")
        await told_to_go_on()


async def loop(bus: Bus, topic: Topic, told: dict[str, Any]) -> None:
    """A stage that publishes everything it reads again, until killed, or until a SIGTERM asks to leave."""
    out = Topic(told["out"], Note, topic.retention_s, codec="msgpack")

    async def open_partition(taken: Takeover) -> ReadPartition:
        say("open", taken.number)
        return ReadPartition(taken)

    async def step(records: Sequence[Record]) -> None:
        for record in records:
            await run_to_completion(again(record))

    async def again(record: Record) -> None:
        await bus.publish(out, topic.decode(record.value))
        stage.partitions[record.partition].done(record)

    stage = PartitionLoop(bus, told["group"], [topic], open_partition, step, commit_s=0.2)
    running = asyncio.create_task(stage.run())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


async def wake(bus: Bus, topic: Topic, told: dict[str, Any]) -> None:
    """A stage that stops for longer than its lease between reading a record and publishing what follows from it."""
    out = Topic(told["out"], Note, topic.retention_s, codec="msgpack")
    await bus.partitions(out)

    async def open_partition(taken: Takeover) -> ReadPartition:
        return ReadPartition(taken)

    async def step(records: Sequence[Record]) -> None:
        for record in records:
            await stage.publish(out, note(record.key, "before"))
            say("stopping")
            os.kill(os.getpid(), signal.SIGSTOP)
            one = await stage.publish(out, note(record.key, "from the past"))
            await stage.publish_many(out, [note(record.key, "from the past, too")])
            say("woke", one)

    stage = PartitionLoop(bus, told["group"], [topic], open_partition, step, commit_s=0.2)
    await stage.run()


async def main() -> None:
    told = json.loads(sys.argv[1])
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    settings = Settings(home=Path(told["home"]), bus=BusSettings(**told["bus"]))
    topic = Topic(told["topic"], Note, told["retention_s"], codec="msgpack")
    roles = {"consume": consume, "publish": publish, "stall": stall, "loop": loop, "wake": wake}
    async with open_bus(settings) as bus:
        await roles[told["role"]](bus, topic, told)


if __name__ == "__main__":
    asyncio.run(main())
