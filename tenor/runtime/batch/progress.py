"""How far a batch is, told to whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenor.runtime.batch.call_result import CallResult


@dataclass(frozen=True)
class CallProgress:
    """How far one call is understood."""

    call: str
    file: str
    position_ms: int
    duration_ms: int | None
    """None while it is not known."""
    messages: int = 0
    """Of a chat or an e-mail; 0 for a recording."""
    over: bool = False
    """The last that is told of it."""


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is."""

    files: int
    """In all."""
    done: float = 0.0
    """How many of them are done; of a call that is under way its share."""
    already_stored: int = 0
    """How many of these cost no time: they were in the database."""
    call: CallProgress | None = None
    """The call that this is about, if it is about one."""


ProgressCallback = Callable[[BatchProgress], None]


class ProgressCounter:
    """Counts files and tells of every step."""

    def __init__(self, files: int, callback: ProgressCallback | None) -> None:
        self._files, self._callback = files, callback
        self._done = self._already_stored = 0
        self._under_way: dict[str, float] = {}
        """How many files of a call that is not done are."""
        self._tell(None)

    def advance(self, call: CallProgress, files: float = 0.0) -> None:
        """So many files of the call are understood."""
        self._under_way[call.call] = max(files, self._under_way.get(call.call, 0.0))
        self._tell(call)

    def count(self, result: CallResult) -> None:
        """A call is done; its file is with the last of its calls."""
        self._under_way.pop(result.call, None)
        files = result.files if result.last_of_file else 0
        self._done += files
        self._already_stored += files if result.already_stored else 0
        self._tell(None)

    def _tell(self, call: CallProgress | None) -> None:
        if self._callback:
            done = self._done + sum(self._under_way.values())
            self._callback(BatchProgress(self._files, done, self._already_stored, call))
