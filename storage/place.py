"""A folder or any fsspec URL that files are kept in. Whoever looks finds a whole file, or what was there before."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from tenor.errors import BadInput, Unavailable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PART = ".part"
"""How the name of a file ends that is not finished."""


class Place:
    """Names are relative and use slashes: `blobs/ab/abcd`."""

    def __init__(self, url: str, *, worm: bool = False) -> None:
        self.url = url
        self.worm = worm
        """Write once, read many: nothing there is written again or deleted."""
        try:
            self._files, folder = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise BadInput(f"{url!r} cannot be used as a place for files: {error}") from None
        self._folder = folder.rstrip("/") or "/"

    @property
    def folder(self) -> Path | None:
        """Where it is on this machine; None: elsewhere."""
        return Path(self._folder) if isinstance(self._files, LocalFileSystem) else None

    def write(self, name: str, content: bytes, *, writable: bool = True) -> None:
        self._check_new(name)
        with self._explained():
            path = self._parent_made(name)
            if self.folder is None:
                self._files.pipe_file(path, content)  # stores of objects show only whole ones
                return
            with _part(path) as part:
                with open(part, "wb") as file:
                    file.write(content)
                _settle(part, path, writable)

    def put(self, name: str, local: Path, *, writable: bool = True) -> None:
        """Take over a copy of a finished file."""
        self._check_new(name)
        with self._explained():
            path = self._parent_made(name)
            if self.folder is None:
                self._files.put_file(str(local), path)
                return
            with _part(path) as part:
                self._files.put_file(str(local), part)
                _settle(part, path, writable)

    def read(self, name: str) -> bytes:
        """Raises FileNotFoundError."""
        with self._explained():
            return cast(bytes, self._files.cat_file(self.path(name)))

    def open(self, name: str) -> IO[bytes]:
        """For reading; can be sought in. Raises FileNotFoundError."""
        return cast(IO[bytes], self._files.open(self.path(name), "rb"))

    def size(self, name: str) -> int:
        """In bytes. Raises FileNotFoundError."""
        return int(self._files.size(self.path(name)))

    def has(self, name: str) -> bool:
        with self._explained():
            return bool(self._files.exists(self.path(name)))

    def delete(self, name: str) -> bool:
        """Whether there was one, and it could be deleted."""
        if self.worm:
            return False
        try:
            self._files.rm_file(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def names(self, below: str) -> list[str]:
        """Of all finished files below, in order."""
        with self._explained():
            try:
                found = self._files.find(self.path(below))
            except (FileNotFoundError, NotADirectoryError):
                return []
        whole = (path[len(self._folder) :].lstrip("/") for path in found)
        return sorted(name for name in whole if not name.endswith(PART))

    def delete_unfinished(self) -> None:
        """What processes that were killed left behind. Only where nobody writes meanwhile."""
        if self.folder and not self.worm:
            for path in self.folder.rglob(f"*{PART}"):
                path.unlink(missing_ok=True)

    def path(self, name: str) -> str:
        """A name that leads out of the place is none."""
        if name.startswith("/") or "\\" in name or any(step in ("", ".", "..") for step in name.split("/")):
            raise FileNotFoundError(name)
        return f"{self._folder.rstrip('/')}/{name}"

    def _check_new(self, name: str) -> None:
        if self.worm and self.has(name):
            raise BadInput(f"{name} is at {self.url} already, where nothing can be written again (learn.worm)")

    def _parent_made(self, name: str) -> str:
        path = self.path(name)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        return path

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno in FULL:
                raise Unavailable(
                    f"no space left at {self.url}: what was there before is unchanged",
                    "free some space and give the command again: it goes on where it stopped",
                ) from error
            raise Unavailable(f"{self.url} cannot be used: {error.strerror or error}") from error


@contextmanager
def _part(path: str) -> Iterator[str]:
    """The name under which a file is written until it is whole."""
    folder, _, name = path.rpartition("/")
    part = f"{folder}/.{name}.{os.getpid()}{PART}"
    try:
        yield part
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _settle(part: str, path: str, writable: bool) -> None:
    """On the disk, then under its name."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    os.replace(part, path)
    if not writable:
        os.chmod(path, 0o444)  # last: where storage is WORM, a file that is read-only can no longer be renamed
