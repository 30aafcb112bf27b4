"""Progress bars: of a batch, and of the calls under way in it."""

from __future__ import annotations

import time

from rich.progress import Progress as Bars
from rich.progress import TaskID

from tenor.cli.output import clock
from tenor.runtime import BatchProgress, CallProgress

LONG = 100
"""Messages of a conversation that takes so long to understand that it has a bar of its own."""


class BatchBars:
    """A bar for all files, with how fast they go, unless there is a single one; and one for each call under way. What
    cannot be measured yet, the start and a call of which nothing is understood, has a bar that only moves."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._starting: TaskID | None = bars.add_task("starting", total=None, detail="")
        self._began = time.monotonic()
        self._all: TaskID | None = None
        self._calls: dict[str, TaskID] = {}

    def show(self, progress: BatchProgress) -> None:
        if self._starting is not None and (progress.files > 1 or progress.call):
            self._bars.remove_task(self._starting)
            self._starting = None
        if progress.files > 1:
            self._show_all(progress)
        if progress.call:
            self._show_call(progress.call)

    def _show_all(self, progress: BatchProgress) -> None:
        if self._all is None:
            self._began = time.monotonic()
            self._all = self._bars.add_task("all files", total=progress.files, detail="")
            return
        rate = (progress.done - progress.already_stored) / max(time.monotonic() - self._began, 1e-3)
        detail = f"{int(progress.done):,} of {progress.files:,}, {rate:.1f} files/s"
        self._bars.update(self._all, completed=progress.done, detail=detail)

    def _show_call(self, call: CallProgress) -> None:
        if call.over:
            if call.call in self._calls:
                self._bars.remove_task(self._calls.pop(call.call))
            return
        if 0 < call.messages < LONG:
            return
        detail = f"{call.messages:,} messages or pieces" if call.messages else clock(call.position_ms)
        if call.call not in self._calls:
            first = detail if call.messages else ""
            self._calls[call.call] = self._bars.add_task(call.file, total=None, detail=first)
            return
        total = call.duration_ms if call.position_ms else None
        self._bars.update(self._calls[call.call], total=total, completed=call.position_ms, detail=detail)
