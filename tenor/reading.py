"""Other people's bytes: what goes wrong in reading them is an error of what is read, and stops nothing else."""

from __future__ import annotations

import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO, TypeVar

import msgspec
import structlog

from tenor.errors import BadInput, TenorError

log = structlog.get_logger(__name__)

T = TypeVar("T")

FREE_S, S_PER_MB = 30.0, 10.0
"""Processor time that reading may take: so much for anything, and so much more for each megabyte. Mails and tables
take a hundredth of it; what takes more was made to take long."""

FREE_AUDIO_S = 3600.0
"""So long may any recording be, and longer only if it is larger:"""
LEAST_BYTES = 10.0
"""for a second of audio. The leanest codec for speech takes six times as much; a few kilobytes of FLAC hold days."""


def is_endless(seconds: float, packed_bytes: int) -> bool:
    """Whether so many bytes cannot hold so much of anybody's speech."""
    return seconds > FREE_AUDIO_S + packed_bytes / LEAST_BYTES


@contextmanager
def reading(name: str, fault: type[BadInput] = BadInput) -> Iterator[None]:
    """Around whatever reads bytes that we did not write. A reader explains what it expects to go wrong; whatever else
    it raises, and libraries raise anything, becomes `fault` of `name` here.

    with reading("monday.eml"):
        ...
    """
    try:
        yield
    except TenorError:
        raise
    except Exception as error:
        # Where, and not what it says: that may be a caller's words.
        at = traceback.extract_tb(error.__traceback__)[-1]
        log.warning("reading failed", of=name, error=type(error).__name__, at=f"{at.filename}:{at.lineno}")
        raise fault(f"{name} cannot be read: {_reason(error)}", "is it damaged? export it again") from None


def listed(names: Collection[str]) -> str:
    """Columns or keys as a file has them, for a line about it: there may be thousands, and each as long as the file."""
    shown = ", ".join(" ".join(name.split())[:40] or "(no name)" for name in islice(names, 20))
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def decode_json(content: bytes | str, kind: type[T]) -> T:
    """JSON that somebody sent. Whatever is wrong with it is a DecodeError, also bytes that are no text and brackets
    without end, for which msgspec has other errors."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(_reason(error)) from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class LimitedFile:
    """A file that may be read for so long: each read looks at the clock, and whoever works long on what was read does.

    The clock is the thread's own processor time: waiting for a slow network or a busy machine is no fault of a file.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._name = file, name
        self._begun, self._bytes = time.thread_time(), 0

    def read(self, size: int) -> bytes:
        return self._counted(self._file.read(size))

    def readline(self, size: int) -> bytes:
        return self._counted(self._file.readline(size))

    def check(self) -> None:
        """BadInput once the time is over."""
        if time.thread_time() - self._begun > FREE_S + S_PER_MB * self._bytes / 1e6:
            raise BadInput(f"{self._name} takes too long to read", "it is nothing that a program for people wrote")

    def _counted(self, content: bytes) -> bytes:
        self._bytes += len(content)
        self.check()
        return content
