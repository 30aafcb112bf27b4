"""The threads that decode: few, because two decoders on one core are both late."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from asr.local import metrics

T = TypeVar("T")


class DecodePool(Generic[T]):
    """Finals wait their turn in order; an interim runs only if a thread is free and no other interim runs."""

    def __init__(self, workers: int) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[T], Callable[[], T]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unfinished = 0
        self._interims = 0
        self._threads = [
            threading.Thread(target=self._work, name=f"decode-{number}", daemon=True) for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Jobs more than there are threads."""
        return max(0, self._unfinished - len(self._threads))

    def submit(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            self._unfinished += 1
        metrics.WAITING.set(self.waiting)
        self._jobs.put((future, job))
        return future

    def offer(self, job: Callable[[], T]) -> Future[T] | None:
        """Decode now or never."""
        with self._lock:
            if self._interims or self._unfinished >= len(self._threads):
                return None
            self._interims += 1
        future = self.submit(job)
        future.add_done_callback(self._interim_done)
        return future

    def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _interim_done(self, _: Future[T]) -> None:
        with self._lock:
            self._interims -= 1

    def _work(self) -> None:
        while (taken := self._jobs.get()) is not None:
            future, job = taken
            try:
                if future.set_running_or_notify_cancel():
                    try:
                        with metrics.DECODING.time():
                            result = job()
                    except BaseException as error:
                        future.set_exception(error)
                    else:
                        future.set_result(result)
            finally:
                with self._lock:
                    self._unfinished -= 1
                metrics.WAITING.set(self.waiting)
