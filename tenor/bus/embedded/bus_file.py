"""The file of the embedded bus: one SQLite database in WAL mode, written by many tasks and processes.

    event loop --write(job)--> writer thread   one transaction for all jobs that wait (group commit)
               --read(job)---> reader thread   snapshots, never blocked by writers
               <--wake-------- watcher thread  looks at `PRAGMA data_version` every 10 ms

A power cut can take the last moments with it (`synchronous=NORMAL`), like a Kafka broker that does not
flush; killing processes loses nothing that was acknowledged. All of it is one log, so offsets and
events are always cut at the same point. A process stopped (SIGSTOP) in the middle of a transaction
keeps the others from writing until it goes on or dies: SQLite's lock is the operating system's.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import structlog

from tenor.bus.embedded import schema
from tenor.bus.once import Once
from tenor.errors import TenorError, Unavailable
from tenor.events import Topic

log = structlog.get_logger(__name__)

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

LOOK_S = 0.01
STALE_S = 0.2
"""A watcher that has not looked for this long was stopped: look before trusting what it saw."""
GROUP_JOBS = 512
"""Jobs of one transaction at most, so that other processes get their turn."""


class BusChanges(NamedTuple):
    """What changed on the bus."""

    topics: frozenset[int]
    groups: frozenset[str]


Listener = Callable[[BusChanges], None]


class _Waiting(Generic[T]):
    """A job in the writer's queue and the future its caller waits on."""

    __slots__ = ("error", "future", "job", "result")

    def __init__(self, job: Job[T], future: asyncio.Future[T]) -> None:
        self.job, self.future = job, future
        self.result: T | None = None
        self.error: Exception | None = None

    def resolve(self) -> None:
        if self.future.done():  # its caller was cancelled
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]


class BusFile:
    def __init__(self, path: Path, partitions: int, patience_s: float) -> None:
        self.path = path
        self.partitions = partitions
        self.heads: dict[int, int] = {}
        """Next offset by slot, as last seen. Only ever grows, so threads may merge into it."""
        self.generations: dict[str, int] = {}
        """Generation by group, as last seen."""
        self._patience_s = patience_s
        self._listeners: list[Listener] = []
        self._queue: queue.SimpleQueue[_Waiting[Any] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._looked_at = 0.0
        self._topics: Once[tuple[str, int], int] = Once(self._number_of)

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="bus-reader")
        try:
            await self._loop.run_in_executor(self._readers, self._open)
        except BaseException:
            self._readers.shutdown(wait=False)
            raise
        self._threads = [
            threading.Thread(target=self._write_forever, name="bus-writer", daemon=True),
            threading.Thread(target=self._watch_forever, name="bus-watcher", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    async def close(self) -> None:
        """Finish what is queued, then let go of the file."""
        self._stop.set()
        self._queue.put(None)
        for thread in self._threads:
            await self._loop.run_in_executor(None, thread.join)
        await self._loop.run_in_executor(self._readers, self._reader.close)
        self._readers.shutdown(wait=False)

    async def write(self, job: Job[T]) -> T:
        """Run `job` in a transaction, alone or with others that wait; durable when this returns."""
        future: asyncio.Future[T] = self._loop.create_future()
        waiting = _Waiting(job, future)
        self._queue.put(waiting)
        return await future

    async def read(self, job: Job[T]) -> T:
        """Run `job` on one snapshot of the file."""
        return await self._loop.run_in_executor(self._readers, self._read, job)

    async def empty_log(self) -> None:
        """Bring everything into the main file and cut the log to nothing, so that what was deleted is gone."""
        await self._loop.run_in_executor(None, self._empty_log)

    def _empty_log(self) -> None:
        with contextlib.closing(schema.connect(self.path, self._patience_s)) as db:
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()  # waits for those who read
        if busy:
            raise Unavailable(f"the log of the bus {self.path} is in use", "try again when fewer processes read it")

    async def look(self) -> None:
        """Make sure that `heads` and `generations` are fresh."""
        if time.monotonic() - self._looked_at > STALE_S:
            await self.read(self._see)

    async def topic(self, topic: Topic) -> int:
        """The topic's number in the file, which learns of the topic and how long it is kept."""
        return await self._topics.get((topic.name, topic.retention_s))

    async def _number_of(self, topic: tuple[str, int]) -> int:
        return await self.write(lambda db: schema.topic(db, *topic))

    def shortest_retention(self) -> float:
        """Of the topics this process uses, in seconds."""
        return min((retention_s for _, retention_s in self._topics.known), default=float("inf"))

    def listen(self, listener: Listener) -> None:
        """Call `listener` on the event loop when something changed, by us or by another process."""
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    def saw(self, heads: Iterable[tuple[int, int]], generations: Iterable[tuple[str, int]] = ()) -> BusChanges:
        """Merge what is known to be committed; what is new in it."""
        topics, groups = set(), set()
        for slot, head in heads:
            if head > self.heads.get(slot, 0):
                self.heads[slot] = head
                topics.add(schema.topic_of(slot))
        for group, generation in generations:
            if generation > self.generations.get(group, 0):
                self.generations[group] = generation
                groups.add(group)
        return BusChanges(frozenset(topics), frozenset(groups))

    def _open(self) -> None:
        try:
            self.partitions = schema.prepare(self.path, self.partitions, self._patience_s)
            self._reader = schema.connect(self.path, self._patience_s)
            self._writer = schema.connect(self.path, 0)
            self._watcher = schema.connect(self.path, self._patience_s)
            self._read(self._see)
        except sqlite3.Error as error:
            raise schema.explained(error, self.path) from error

    def _read(self, job: Job[T]) -> T:
        try:
            with schema.snapshot(self._reader):
                return job(self._reader)
        except sqlite3.Error as error:
            raise schema.explained(error, self.path) from error

    def _see(self, db: sqlite3.Connection) -> BusChanges:
        seen = self.saw(*schema.state(db))
        self._looked_at = time.monotonic()
        return seen

    # The writer thread

    def _write_forever(self) -> None:
        last = False
        while not last:
            jobs: list[_Waiting[Any]] = []
            waiting = self._queue.get()
            while waiting is not None:
                jobs.append(waiting)
                if len(jobs) == GROUP_JOBS:
                    break
                try:
                    waiting = self._queue.get_nowait()
                except queue.Empty:
                    break
            last = waiting is None
            self._transact(jobs)
            with contextlib.suppress(RuntimeError):  # the loop was closed without closing us
                self._loop.call_soon_threadsafe(self._resolve, jobs)
        self._writer.close()

    def _resolve(self, jobs: list[_Waiting[Any]]) -> None:
        for waiting in jobs:
            waiting.resolve()

    def _transact(self, jobs: list[_Waiting[Any]]) -> None:
        """All jobs in one transaction; if that fails, each in its own, so that one cannot spoil the others."""
        try:
            self._patiently(lambda: self._attempt(jobs))
        except Exception as error:
            if len(jobs) > 1 and not isinstance(error, Unavailable):
                for waiting in jobs:
                    self._transact([waiting])
                return
            for waiting in jobs:
                waiting.error = error

    def _attempt(self, jobs: list[_Waiting[Any]]) -> None:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            for waiting in jobs:
                waiting.result = waiting.job(self._writer)
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise

    def _patiently(self, attempt: Callable[[], None]) -> None:
        """Retry while others write or the disk is full, until patience runs out."""
        deadline = time.monotonic() + self._patience_s
        warned = False
        while True:
            try:
                return attempt()
            except sqlite3.Error as error:
                passing = schema.passing(error)
                if passing is None or time.monotonic() > deadline:
                    raise schema.explained(error, self.path) from error
                if passing > 0.1 and not warned:
                    log.warning("the bus cannot write, trying again", path=str(self.path), reason=str(error))
                    warned = True
                # Spread out, so that writers do not meet again; shorter than SQLite's own steps.
                time.sleep(passing * random.uniform(0.5, 1.5))

    # The watcher thread

    def _watch_forever(self) -> None:
        version = None
        while not self._stop.wait(LOOK_S):
            try:
                now = self._watcher.execute("PRAGMA data_version").fetchone()
                if now == version:
                    self._looked_at = time.monotonic()
                    continue
                with schema.snapshot(self._watcher):
                    seen = self._see(self._watcher)
                version = now
            except (sqlite3.Error, TenorError) as error:
                log.warning("cannot look at the bus", path=str(self.path), reason=str(error))
                self._stop.wait(1)
                continue
            if seen.topics or seen.groups:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self.tell, seen)
        self._watcher.close()

    def tell(self, seen: BusChanges) -> None:
        """Wake whoever listens. On the event loop."""
        for listener in tuple(self._listeners):
            listener(seen)
