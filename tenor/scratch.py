"""Folders that are a process's own and gone with it. What a process that was killed left, the next one removes: there
may be sound in it that nobody redacted."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = "in-use"
"""A file that is locked for as long as its folder's owner lives."""


@contextmanager
def scratch(parent: Path, prefix: str = "") -> Iterator[Path]:
    parent.mkdir(parents=True, exist_ok=True)
    for lock in parent.glob(f"{prefix}*/{LOCK}"):
        with suppress(OSError):  # another's, or somebody is removing it already
            _remove_if_abandoned(lock)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    new = folder / "new"
    with new.open("w") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
        new.rename(folder / LOCK)  # only now, so that nobody finds it unlocked
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_if_abandoned(lock: Path) -> None:
    if lock.parent.lstat().st_uid == os.getuid():
        with lock.open("r+") as theirs:
            fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
