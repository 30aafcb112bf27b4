"""Blobs are what their names say, put once, and told by name when they are not."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.archive.blobs import BlobStore, blob_name
from storage.place import Place
from tenor.errors import BadInput


@given(st.lists(st.binary(max_size=200)))
def test_what_is_put_is_got_and_is_there_once(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        blobs = BlobStore(Place(folder))
        names = [blobs.put(content) for content in contents]
        assert [blobs.get(name) for name in names] == contents
        assert sorted(blobs.all()) == sorted({hashlib.sha256(content).hexdigest() for content in contents})
        assert blobs.counts.added == len(set(contents))
        assert blobs.counts.known == len(contents) - len(set(contents))


@pytest.mark.parametrize("url", ["{tmp}/store", "file://{tmp}/store", "memory://store-{pid}"])
def test_a_store_is_a_folder_or_any_url(url: str, tmp_path: Path) -> None:
    blobs = BlobStore(Place(url.format(tmp=tmp_path, pid=os.getpid())))
    name = blobs.put(b"words")
    assert (blobs.get(name), blobs.has(name), blobs.all()) == (b"words", True, [name])
    assert blobs.delete(name)
    assert not blobs.delete(name)
    assert blobs.all() == []


def test_a_damaged_or_missing_blob_is_named(tmp_path: Path) -> None:
    blobs = BlobStore(Place(str(tmp_path)))
    damaged, missing, whole = blobs.put(b"damaged"), blobs.put(b"missing"), blobs.put(b"whole")
    path = tmp_path / blob_name(damaged)
    path.chmod(0o644)
    path.write_bytes(b"another")
    blobs.delete(missing)
    for name, fault in ((damaged, "damaged"), (missing, "missing"), (whole, "")):
        assert blobs.fault(name) == fault
        if fault:
            with pytest.raises(BadInput, match=name):
                blobs.get(name)


def test_a_blob_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    blobs = BlobStore(Place(str(tmp_path)))
    name = blobs.put(b"all of it")
    path = tmp_path / blob_name(name)
    path.chmod(0o644)
    path.write_bytes(b"all")
    assert blobs.put(b"all of it") == name
    assert blobs.get(name) == b"all of it"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "", "a/../b", "a//b", "a\\b"])
def test_a_name_does_not_lead_out_of_its_place(name: str, tmp_path: Path) -> None:
    place = Place(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        place.read(name)
    with pytest.raises(FileNotFoundError):
        place.write(name, b"")


def test_a_hash_is_no_path() -> None:
    with pytest.raises(BadInput, match="no SHA-256"):
        blob_name("../../../etc/passwd")


FULL = """
import sys
from storage.archive.blobs import BlobStore
from storage.place import Place
from tenor.errors import Unavailable
blobs = BlobStore(Place(sys.argv[1]))
blobs.put(b"small")
try:
    blobs.put(b"x" * 200_000)
except Unavailable as error:
    print(error.message)
"""


@pytest.mark.slow
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    def limit() -> None:  # a file cannot grow beyond this, as on a disk that is full
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, env=environment, preexec_fn=limit, capture_output=True, text=True, check=True)
    assert "no space left" in done.stdout
    blobs = BlobStore(Place(str(tmp_path)))
    assert [blobs.get(name) for name in blobs.all()] == [b"small"]
    assert [path.name for path in tmp_path.rglob("*.part")] == []
