"""Where recordings lie: a folder or any fsspec URL, one file per call."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import IO

from storage.place import Place
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
        self._place = Place(settings.recordings_url)

    def put(self, local: Path, name: str) -> None:
        """Take over a finished file. Whoever looks finds the whole of it, or what was there before."""
        self._place.put(_checked(name), local)

    def open(self, name: str) -> IO[bytes]:
        """For reading; can be sought in. Raises FileNotFoundError."""
        return self._place.open(_checked(name))

    def size(self, name: str) -> int:
        """In bytes. Raises FileNotFoundError."""
        return self._place.size(_checked(name))

    def delete(self, name: str) -> bool:
        """Whether there was one."""
        try:
            return self._place.delete(_checked(name))
        except FileNotFoundError:
            return False


def _checked(name: str) -> str:
    if "/" in name:
        raise FileNotFoundError(name)
    return name
