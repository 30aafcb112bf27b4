"""Files by the SHA-256 of their content: put twice, they are there once; none is ever changed."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec
import pyarrow as pa

from storage.archive import tables
from storage.archive.sealing import blocks
from storage.archive.sealing import tables as sealed_tables
from storage.archive.sealing.keys import CallKeys
from storage.archive.sealing.place import ArchivePlace
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

    def table_bytes(self, table: pa.Table) -> bytes:
        """A table as it is kept at this place: in one sealed block per call, where nothing can be rewritten."""
        if not self.place.worm:
            return tables.to_bytes(table)
        return sealed_tables.sealed_bytes(table, self._keys().made(tables.calls_in(table)))

    def table(self, sha256: str, columns: list[str] | None = None) -> pa.Table:
        """A table, sealed or not; of a sealed one the calls whose key is there."""
        content = self.get(sha256)
        if not sealed_tables.is_sealed(content):
            return tables.from_bytes(content, columns)
        ids = set(sealed_tables.blocks_of(content)["key"].to_pylist())
        return sealed_tables.unsealed(content, self._keys().of_ids(ids), columns)

    def sound_bytes(self, call: str, content: bytes) -> bytes:
        """A recording of a call as it is kept at this place."""
        if not self.place.worm:
            return content
        key = self._keys().made({call})[call]
        return blocks.to_file(key.id, key.secret, content)

    def sound(self, sha256: str) -> IO[bytes]:
        """A recording for reading, sealed or not. BadInput when its key was deleted."""
        file = self.open(sha256)
        beginning = file.read(len(blocks.HEADER))
        file.seek(0)
        if beginning != blocks.HEADER:
            return file
        with file:
            content = file.read()
        secret = self._keys().of_ids({blocks.key_of_file(content)})
        if not secret:
            raise BadInput(f"blob {sha256} is of a call that was erased: its key is gone")
        return io.BytesIO(blocks.from_file(next(iter(secret.values())), content))

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

    def _keys(self) -> CallKeys:
        if not isinstance(self.place, ArchivePlace):
            raise BadInput(f"{self.place.url} is sealed, and is no place of this archive")
        return self.place.keys

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
