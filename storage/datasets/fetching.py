"""Public sets from the web: fetched once, in pieces that go on where they stopped, checked by hash, then imported.

HOME/fetched/HASH-OF-URL/   set.tar.gz.part while it comes, then the file, then the folder that was in it
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from storage.archive.blobs import hash_of_file
from storage.datasets.importing import import_dataset
from storage.datasets.manifest import DatasetVersion, checked_name, find, names
from storage.place import Place
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput, Refused, Unavailable
from tenor.reading import reading
from tenor.settings import Settings
from tenor.yaml.nodes import meant

ATTEMPTS = 5
PAUSE_S = 0.5
LARGEST = 200 << 30
"""Bytes of what is packed in a file."""
MOST_FILES = 2_000_000
Progress = Callable[[int, int], None]


class PublicSet(NamedTuple):
    url: str
    licence: str
    what: str


_OPENSLR = "https://www.openslr.org/resources/31/"
KNOWN = {
    "librispeech-dev": PublicSet(f"{_OPENSLR}dev-clean-2.tar.gz", "CC BY 4.0", "read English, two hours"),
    "librispeech-train": PublicSet(f"{_OPENSLR}train-clean-5.tar.gz", "CC BY 4.0", "read English, five hours"),
}
"""By the names that `tenor dataset fetch` knows. Others are fetched by their URL."""


def fetch(
    settings: Settings,
    wanted: str,
    name: str = "",
    *,
    by: str,
    sha256: str = "",
    viewer: Viewer = HOUSE,
    progress: Progress = lambda *_: None,
) -> DatasetVersion:
    """A public set as a dataset, by a name that is known or by its URL; as it is, if it is there already. `sha256`:
    what the file must be."""
    viewer.must_train("import datasets")
    url = KNOWN[wanted].url if wanted in KNOWN else wanted
    if not re.match(r"https?://", url):
        raise BadInput(
            f"no public set is called {wanted!r}{meant(wanted, KNOWN)}", "give a name, or a URL with https://"
        )
    name = checked_name(name or (wanted if wanted in KNOWN else _stem(url)))
    place = Place(settings.learn_url)
    if name in names(place):
        return find(place, name)
    folder = settings.home / "fetched" / hashlib.sha256(url.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (PurePosixPath(urlsplit(url).path).name or "set")
    if not file.exists():
        _download(url, file, progress)
    if sha256 and (found := hash_of_file(file)) != sha256.lower():
        file.unlink()
        raise Refused(
            f"{url} is not what it should be: its SHA-256 is {found}", "give the right one, or ask who offers it"
        )
    made = import_dataset(settings, unpack(file, folder / "unpacked"), name, by=by, progress=progress)
    shutil.rmtree(folder, ignore_errors=True)  # the archive has it now
    return made


def _download(url: str, file: Path, progress: Progress) -> None:
    """In one go, or in several: a connection that breaks, or a process that is killed, loses nothing."""
    part = file.with_name(f"{file.name}.part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _continue(url, part, progress)
            part.replace(file)
            return
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            if status < 500 or attempt == ATTEMPTS:
                raise Refused(f"{url} answers {status} {error.response.reason_phrase}", "check the address") from None
        except (httpx.HTTPError, OSError) as error:
            if attempt == ATTEMPTS or isinstance(error, OSError):
                raise Unavailable(
                    f"{url} could not be fetched: {error}", "give the command again: it goes on where it stopped"
                ) from None
        time.sleep(PAUSE_S * attempt)


def _continue(url: str, part: Path, progress: Progress) -> None:
    there = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={there}-", "Accept-Encoding": "identity"} if there else {"Accept-Encoding": "identity"}
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=60) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and there:
            return  # all of it had come
        answer.raise_for_status()
        if answer.status_code != httpx.codes.PARTIAL_CONTENT:
            there = 0  # the server cannot continue, so from the beginning
        total = there + int(answer.headers.get("Content-Length", 0))
        with part.open("r+b" if there else "wb") as out:
            out.seek(there)
            for piece in answer.iter_raw():
                out.write(piece)
                there += len(piece)
                progress(there, max(total, there))
        if total > there:
            raise httpx.ReadError(f"{there} of {total} bytes came")


def unpack(file: Path, folder: Path) -> Path:
    """The folder that is in a tar or zip; a file of its own stays as it is. Nothing is written outside the folder."""
    if not (tarfile.is_tarfile(file) or zipfile.is_zipfile(file)):
        return file
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with reading(file.name):
        (_unpack_tar if tarfile.is_tarfile(file) else _unpack_zip)(file, folder)
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _unpack_tar(file: Path, folder: Path) -> None:
    size = 0
    with tarfile.open(file) as tar:
        for number, member in enumerate(tar):
            size += member.size
            _check_size(file, number, size)
            if not (member.isreg() or member.isdir()):
                raise BadInput(f"{file.name} is refused: {member.name[:80]!r} is no plain file")
            _check_path(file, member.name)
            tar.extract(member, folder, filter="data")


def _unpack_zip(file: Path, folder: Path) -> None:
    size = 0
    with zipfile.ZipFile(file) as packed:
        for number, member in enumerate(packed.infolist()):
            size += member.file_size
            _check_size(file, number, size)
            _check_path(file, member.filename)
            packed.extract(member, folder)


def _check_path(file: Path, name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise BadInput(f"{file.name} is refused: {name[:80]!r} leads out of it")


def _check_size(file: Path, number: int, size: int) -> None:
    limit = min(LARGEST, max(1 << 30, 200 * file.stat().st_size))
    if size > limit or number > MOST_FILES:
        raise BadInput(f"{file.name} is refused: unpacked it is more than {limit >> 20} MB, or {MOST_FILES:,} files")


def _stem(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).name.partition(".")[0].lower() or "set"
