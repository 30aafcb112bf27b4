"""Writing the log of promotions: whole lines, one writer at a time, on the disk before it counts."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import structlog

from storage.registry.folders import sync_folder
from tenor.errors import Refused
from tenor.model_store.card import Kind
from tenor.model_store.promotion_log import FILE, Promotion, PromotionLog, read_log
from tenor.model_store.shipped import SHIPPED

log = structlog.get_logger(__name__)

LOCK = "promotions.lock"


def append(models: Path, promotions: Sequence[Promotion]) -> None:
    """Add their lines, all or none. Refused when another promotion is under way, or when what one of them is to replace
    is no longer in force."""
    models.mkdir(parents=True, exist_ok=True)
    with _locked(models):
        path = models / FILE
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            written = _whole_lines(handle)
            known = read_log(written)
            for one in promotions:
                if (champion := champion_of(known, one.kind)) != one.previous:
                    raise Refused(
                        f"{champion} was promoted while you looked: {one.model} was to replace {one.previous}",
                        "see `tenor models list`, then promote again",
                    )
            _write(handle, len(written), b"".join(msgspec.json.encode(one) + b"\n" for one in promotions))
        finally:
            os.close(handle)
        sync_folder(models)


def champion_of(promotions: PromotionLog, kind: Kind) -> str:
    """What was promoted last, whether it counts yet or not; what ships where nothing was."""
    found = promotions.of(kind)
    return found[-1].model if found else SHIPPED[kind].id


def lineage_of(promotions: PromotionLog, kind: Kind) -> list[str]:
    """The models that led to the champion, which is the last. Promoting the one before it takes the champion off again:
    so rolling back twice goes back two steps, and not to and fro."""
    stack = [SHIPPED[kind].id]
    for one in promotions.of(kind):
        if len(stack) > 1 and one.model == stack[-2]:
            stack.pop()
        elif one.model != stack[-1]:
            stack.append(one.model)
    return stack


@contextmanager
def _locked(models: Path) -> Iterator[None]:
    with (models / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused("another promotion is under way", "see `tenor models list`, then promote again") from None
        yield


def _whole_lines(handle: int) -> bytes:
    """What is written. Half a line, of a writer that was killed, never counted and is cut off, or the next line would
    become part of it."""
    written = b""
    while block := os.read(handle, 1 << 20):
        written += block
    whole = written[: written.rfind(b"\n") + 1]
    if len(whole) < len(written):
        log.warning("half a line at the end of the promotions' log is cut off", bytes=len(written) - len(whole))
        os.ftruncate(handle, len(whole))
    return whole


def _write(handle: int, size: int, lines: bytes) -> None:
    """All of it or nothing, also on a full disk."""
    os.lseek(handle, size, os.SEEK_SET)
    try:
        rest = lines
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise
