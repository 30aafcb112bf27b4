"""Files by the SHA-256 of their content: put twice, they are there once; none is ever changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from storage.place import Place
from tenor.errors import BadInput

FOLDER = "blobs"
NAME = re.compile(r"[0-9a-f]{64}")
PIECE = 1 << 20


class BlobCounts(msgspec.Struct, kw_only=True):
    """What was added, and what was there before."""

    added: int = 0
    added_bytes: int = 0
    known: int = 0


class BlobStore:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.counts = BlobCounts()

    def put(self, content: bytes) -> str:
        """Keep it; its hash."""
        sha256 = hashlib.sha256(content).hexdigest()
        self._put(sha256, len(content), lambda name: self.place.write(name, content, writable=False))
        return sha256

    def put_file(self, local: Path) -> str:
        """Keep a copy of a file; its hash."""
        sha256 = hash_of_file(local)
        self._put(sha256, local.stat().st_size, lambda name: self.place.put(name, local, writable=False))
        return sha256

    def get(self, sha256: str) -> bytes:
        """BadInput when it is missing, or is not what it was."""
        try:
            content = self.place.read(blob_name(sha256))
        except FileNotFoundError:
            raise missing(sha256, self.place) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BadInput(f"blob {sha256} at {self.place.url} is damaged", REMEDY)
        return content

    def open(self, sha256: str) -> IO[bytes]:
        """For reading in pieces, unchecked."""
        try:
            return self.place.open(blob_name(sha256))
        except FileNotFoundError:
            raise missing(sha256, self.place) from None

    def has(self, sha256: str) -> bool:
        return self.place.has(blob_name(sha256))

    def delete(self, sha256: str) -> bool:
        return self.place.delete(blob_name(sha256))

    def all(self) -> list[str]:
        """The hashes of all that are there."""
        return [sha256 for name in self.place.names(FOLDER) if NAME.fullmatch(sha256 := name.rpartition("/")[2])]

    def fault(self, sha256: str) -> str:
        """What is wrong with a blob: `missing`, `damaged`, or nothing."""
        try:
            with self.place.open(blob_name(sha256)) as file:
                return "" if hash_of(file) == sha256 else "damaged"
        except FileNotFoundError:
            return "missing"

    def _put(self, sha256: str, size: int, write: Callable[[str], None]) -> None:
        name = blob_name(sha256)
        try:
            known = self.place.size(name) == size  # one that was cut short is written again
        except FileNotFoundError:
            known = False
        if known:
            self.counts.known += 1
            return
        write(name)
        self.counts.added += 1
        self.counts.added_bytes += size


REMEDY = "bring it back from the second place (`learn.sync`) or a backup; `tenor snapshot verify` names all such blobs"


def blob_name(sha256: str) -> str:
    if not NAME.fullmatch(sha256):
        raise BadInput(f"{sha256[:80]!r} is no SHA-256")
    return f"{FOLDER}/{sha256[:2]}/{sha256}"


def missing(sha256: str, place: Place) -> BadInput:
    return BadInput(f"blob {sha256} is missing at {place.url}", REMEDY)


def hash_of(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hash_of(file)
