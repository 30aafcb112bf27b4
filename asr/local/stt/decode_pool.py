"""The threads that decode: few, because two decoders on one core are both late."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from asr.local import metrics

T = TypeVar("T")
_Job = tuple[Future[Any], Callable[[], Any]]


class DecodePool:
    """Finals wait their turn in order. An interim is begun only while no final is under way and no other interim is,
    on a thread of its own that gives way to the finals'."""

    def __init__(self, workers: int) -> None:
        self._finals: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._interims: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers = workers
        self._unfinished = 0
        self._interim_running = False
        self._threads = [
            *(threading.Thread(target=self._decode, name=f"decode-{n}", daemon=True) for n in range(workers)),
            threading.Thread(target=self._decode_interims, name="decode-interim", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Finals more than there are threads."""
        return max(0, self._unfinished - self._workers)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._unfinished += 1
        metrics.WAITING.set(self.waiting)
        self._finals.put((future, job))
        return future

    def offer(self, job: Callable[[], T]) -> Future[T] | None:
        """Decode now or never."""
        with self._lock:
            if self._interim_running or self._unfinished:
                return None
            self._interim_running = True
        future: Future[T] = Future()
        self._interims.put((future, job))
        return future

    def close(self) -> None:
        for _ in range(self._workers):
            self._finals.put(None)
        self._interims.put(None)
        for thread in self._threads:
            thread.join()

    def _decode(self) -> None:
        while (taken := self._finals.get()) is not None:
            try:
                with metrics.DECODING.time():
                    _run(*taken)
            finally:
                with self._lock:
                    self._unfinished -= 1
                metrics.WAITING.set(self.waiting)

    def _decode_interims(self) -> None:
        with suppress(OSError, AttributeError):  # Linux schedules by thread; elsewhere interims are only fewer
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_IDLE, os.sched_param(0))
        while (taken := self._interims.get()) is not None:
            try:
                _run(*taken)
            finally:
                with self._lock:
                    self._interim_running = False


def _run(future: Future[T], job: Callable[[], T]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            result = job()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
