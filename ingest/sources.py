"""What people name on the command line, expanded to single sources of audio.

    call.mp3  folder/  '2026-*/*.wav'  -  mic  mic:USB  s3://bucket/calls/  https://host/call.opus

A dash is stdin; addresses are whatever fsspec opens.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast
from urllib.parse import urlsplit

from tenor.errors import BadInput, TenorError, Unavailable

SOUND = ("wav", "mp3", "flac", "opus", "ogg", "oga", "m4a", "aac", "wma", "aiff", "aif", "au", "amr", "caf", "w64")
VIDEO = ("mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "3gp", "mka", "weba")
EXTENSIONS = frozenset(f".{ending}" for ending in SOUND + VIDEO)
"""What a folder is searched for. A file named outright may be called anything."""
EXTRAS = {"s3": "s3", "s3a": "s3", "az": "azure", "abfs": "azure", "abfss": "azure", "gs": "gcs", "gcs": "gcs"}
EXTRAS |= dict.fromkeys(("http", "https"), "http")


@dataclass(frozen=True)
class Source:
    """One thing to hear."""

    kind: Literal["file", "url", "stream", "microphone", "folder"]
    """A stream is stdin or a named pipe: it can be read once, from the beginning. A folder is a conversation."""
    location: str
    pieces: tuple[Source, ...] = ()
    """The files of a folder, in the order in which they were spoken."""

    @property
    def name(self) -> str:
        """What to call it in front of people: without folders, passwords and signatures."""
        if self.kind == "microphone":
            return f"microphone {self.location}".strip()
        if self.kind == "stream":
            return "stdin" if self.location == "-" else self.location
        path = urlsplit(self.location).path if self.kind == "url" else self.location
        # A name on disk may be any bytes; what goes onto the bus and before people is text.
        return os.fsencode(path.rstrip("/").rsplit("/", 1)[-1] or self.location).decode("utf-8", "replace")

    @property
    def live(self) -> bool:
        """Comes as it is spoken, or may."""
        return self.kind in ("stream", "microphone")

    @property
    def files(self) -> int:
        return len(self.pieces) or 1

    def open(self) -> BinaryIO:
        """The bytes of a file, URL or stream."""
        try:
            if self.kind == "url":
                system, path = _filesystem(self.location)
                return cast(BinaryIO, system.open(path, "rb"))
            if self.kind == "stream":
                # Unbuffered: a reader that waits for its pipe must not hold a lock the interpreter wants.
                return cast(BinaryIO, open(0 if self.location == "-" else self.location, "rb", buffering=0,
                                           closefd=self.location != "-"))  # fmt: skip
            return open(self.location, "rb")
        except FileNotFoundError:
            raise BadInput(f"there is no {self.name}") from None
        except IsADirectoryError:
            raise BadInput(f"{self.name} is a folder, not a file") from None
        except PermissionError:
            raise BadInput(f"{self.name} may not be read", hint="check the permissions of the file") from None
        except TenorError:
            raise
        except Exception as error:  # every store has errors of its own
            raise Unavailable(f"{self.name} cannot be opened: {getattr(error, 'strerror', '') or error}") from None

    def digest(self) -> str:
        """SHA-256 of what is in it: of the bytes, or for a URL of what its store says identifies them."""
        if self.kind == "url":
            system, path = _filesystem(self.location)
            try:
                identity = str(system.ukey(path))
            except Exception as error:  # every store has errors of its own
                raise Unavailable(f"{self.name} cannot be reached: {type(error).__name__}: {error}") from None
            return hashlib.sha256(identity.encode()).hexdigest()
        digest = hashlib.sha256()
        for piece in self.pieces:
            digest.update(piece.digest().encode())
        if self.pieces:
            return digest.hexdigest()
        with self.open() as file:
            while part := file.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()


def expand(paths: Iterable[str], endings: Set[str] = EXTENSIONS) -> list[Source]:
    """The sources that `paths` name, in the order given, folders and patterns sorted; each once.

    `endings` are what a folder is searched for."""
    found: dict[Source, None] = {}
    for path in paths:
        for source in _expand(path, endings):
            found.setdefault(source)
    if not found:
        raise BadInput("nothing to hear was named")
    return list(found)


def conversations(sources: Iterable[Source]) -> list[Source]:
    """The same with every folder of recordings as one conversation, its files in the order of their names; files that
    are numbered are in the order of the numbers."""
    found: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        heard = source.kind in ("file", "url") and Path(source.name).suffix.lower() in EXTENSIONS
        folder = source.location.rpartition("/")[0] if heard else source.location
        found.setdefault((folder if heard else "", folder), []).append(source)
    return [
        Source("folder", folder, tuple(sorted(files, key=_spoken))) if heard else files[0]
        for (heard, folder), files in found.items()
    ]


def _spoken(source: Source) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", source.name)]


def _expand(path: str, endings: Set[str]) -> Iterator[Source]:
    if path == "-":
        yield Source("stream", "-")
    elif path == "mic" or path.startswith("mic:"):
        yield Source("microphone", path[4:])
    elif path.startswith("file://"):
        yield from _local(urlsplit(path).path, endings)
    elif "://" in path:
        yield from _remote(path, endings)
    else:
        yield from _local(os.path.expanduser(path), endings)


def _local(path: str, endings: Set[str]) -> Iterator[Source]:
    if not path:
        raise BadInput("an empty name is no file")
    try:
        mode = os.stat(path).st_mode
    except PermissionError:
        raise BadInput(f"{path} may not be read", hint="check the permissions of its folder") from None
    except (OSError, ValueError):
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
        if not matches:
            raise BadInput(f"{path} is not there" if not glob.has_magic(path) else f"nothing matches {path}") from None
        files = [match for match in matches if os.path.isfile(match)]
        for match in files or matches:
            yield from _local(match, endings)
        return
    if stat.S_ISDIR(mode):
        yield from _folder(path, endings)
    elif stat.S_ISREG(mode):
        yield Source("file", os.path.realpath(path))
    else:
        yield Source("stream", path)


def _folder(path: str, endings: Set[str]) -> Iterator[Source]:
    try:
        os.listdir(path)  # a search passes over what it may not read
    except PermissionError:
        raise BadInput(f"{path} may not be read", hint="check the permissions of the folder") from None
    files = sorted(file for file in Path(path).rglob("*") if file.suffix.lower() in endings and file.is_file())
    if not files:
        raise BadInput(
            f"there is {_nothing(endings)} in {path}", hint="a file with an unusual ending can be named itself"
        )
    for file in files:
        yield Source("file", os.path.realpath(file))


def _nothing(endings: Set[str]) -> str:
    return "no audio" if endings == EXTENSIONS else "no audio and no text"


def _remote(url: str, endings: Set[str]) -> Iterator[Source]:
    system, path = _filesystem(url)
    shown = Source("url", url).name
    try:
        if glob.has_magic(path) and not url.startswith("http"):
            paths = sorted(system.glob(path))
        elif system.isfile(path) or not system.isdir(path):
            paths = [path] if system.exists(path) else []
        else:
            paths = sorted(p for p in system.find(path) if Path(p).suffix.lower() in endings)
    except Exception as error:  # every store has its own errors for a refused key and a lost network
        raise Unavailable(f"{shown} cannot be reached: {type(error).__name__}: {error}") from None
    if not paths:
        raise BadInput(f"there is {_nothing(endings)} at {shown}")
    for found in paths:
        yield Source("url", url if found == path else str(system.unstrip_protocol(found)))


def _filesystem(url: str) -> tuple[Any, str]:
    import fsspec  # takes longer than all the rest of a start

    protocol = url.split("://", 1)[0]
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        extra = EXTRAS.get(protocol)
        hint = f"pip install 'tenor[{extra}]'" if extra else str(error)
        raise BadInput(f"{protocol}:// needs a package that is not installed", hint=hint) from None
    except ValueError:
        raise BadInput(f"{protocol}:// is no address we know", hint="s3://, gs://, abfs://, https://, ...") from None
    except Exception as error:  # wrong options and credentials, in each store's own words
        raise Unavailable(f"{protocol}:// cannot be reached: {type(error).__name__}: {error}") from None
    return system, str(path)
