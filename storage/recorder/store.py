"""Where recordings lie: a folder or any fsspec URL, one file a call."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import IO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from tenor.settings import Settings

SUFFIX = {"flac": ".flac", "opus": ".opus"}


def recording_name(call: str, form: str) -> str:
    """The file name for a call's recording. Ids come from outside: what is no plain letter, digit, dot, dash or
    underscore is left out, and a fingerprint of the whole id keeps any two apart."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", call)[:60].lstrip(".-")
    mark = hashlib.sha256(call.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{plain}-{mark}{SUFFIX[form]}"


class RecordingStore:
    def __init__(self, settings: Settings) -> None:
        self._files, folder = fsspec.core.url_to_fs(settings.recordings_url)
        self._folder = folder.rstrip("/")

    def put(self, local: Path, name: str) -> None:
        """Take over a finished file. Whoever looks finds the whole of it, or what was there before."""
        self._files.makedirs(self._folder, exist_ok=True)
        if not isinstance(self._files, LocalFileSystem):
            self._files.put_file(str(local), self._path(name))  # stores of objects show only whole ones
            return
        part = self._path(f".{name}.part")
        self._files.put_file(str(local), part)
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, self._path(name))

    def open(self, name: str) -> IO[bytes]:
        """For reading; can be sought in. Raises FileNotFoundError."""
        return cast(IO[bytes], self._files.open(self._path(name), "rb"))

    def size(self, name: str) -> int:
        """In bytes. Raises FileNotFoundError."""
        return int(self._files.size(self._path(name)))

    def delete(self, name: str) -> bool:
        """Whether there was one."""
        try:
            self._files.rm_file(self._path(name))
        except FileNotFoundError:
            return False
        return True

    def _path(self, name: str) -> str:
        if "/" in name or "\\" in name or name in ("", ".", ".."):
            raise FileNotFoundError(name)
        return f"{self._folder}/{name}"
