"""Datasets near the computation: words joined, audio decoded once, filled once for many readers.

    CACHE/NAME@N-HASH/   rows.parquet, audio.txt (the blobs it uses), used (its time: when last), pinned, lock
    CACHE/audio/HASH.wav decoded, once for all datasets

Whoever has a dataset open holds its lock shared, so it is not evicted; who fills it holds it alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import soundfile

from storage import metrics
from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.datasets.joining import joined
from storage.datasets.manifest import DatasetVersion
from storage.place import Place
from tenor.errors import BadInput, Unavailable
from tenor.settings import Settings

ROWS, AUDIO_LIST, USED, PINNED, LOCK, AUDIO = "rows.parquet", "audio.txt", "used", "pinned", "lock", "audio"
Progress = Callable[[int, int], None]


class CacheEntry(NamedTuple):
    name: str
    """NAME@N-HASH."""
    bytes: int
    used_at: float
    pinned: bool
    in_use: bool


class CacheUse(NamedTuple):
    entries: list[CacheEntry]
    bytes: int
    free: int


class CachedDataset:
    """A dataset that is there, and stays there until it is closed."""

    def __init__(self, folder: Path, lock: IO[bytes], filled: bool) -> None:
        self.folder, self._lock = folder, lock
        self.filled = filled
        """Whether this was the reader that filled it."""

    def table(self) -> pa.Table:
        return pq.read_table(self.folder / ROWS)

    def audio(self, sha256: str) -> Path:
        return self.folder.parent / AUDIO / f"{sha256}.wav"

    def close(self) -> None:
        self._lock.close()


def folder_of(settings: Settings) -> Path:
    return Path(settings.learn.cache) if settings.learn.cache else settings.home / "learn-cache"


def entry_name(version: DatasetVersion) -> str:
    """An erasure makes another entry of a version."""
    return f"{version.reference}-{version.rows[:12]}"


def cached(
    settings: Settings, place: Place, version: DatasetVersion, progress: Progress = lambda *_: None
) -> CachedDataset:
    """The dataset in the cache, filled if it is not there. Of many who ask at once one fills it, others wait."""
    cache = folder_of(settings)
    evict(settings)
    folder = cache / entry_name(version)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("ab")
        filled = False
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not (folder / ROWS).exists():
                _fill(cache, folder, place, version, progress)
                filled = True
            (folder / USED).touch()
            fcntl.flock(lock, fcntl.LOCK_SH)
            if (folder / ROWS).exists():  # nobody evicted it between the two locks
                show_use(settings)
                return CachedDataset(folder, lock, filled)
        except BaseException as error:
            lock.close()
            if isinstance(error, OSError):
                raise Unavailable(
                    f"the cache {cache} cannot be filled: {error.strerror}",
                    "free some space, or choose another folder with learn.cache",
                ) from error
            raise
        lock.close()


def evict(settings: Settings, now: float | None = None) -> list[str]:
    """Remove what nobody used for as long as the setting says, but nothing that is pinned or in use; what that was."""
    cache, gone = folder_of(settings), []
    limit = (time.time() if now is None else now) - settings.learn.cache_hours * 3600
    for folder in _entries(cache):
        with _alone(folder) as alone:
            used = _used_at(folder)
            if alone and used < limit and not (folder / PINNED).exists():
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder.name)
    if gone:
        _drop_unused_audio(cache)
        show_use(settings)
    return gone


def clear(settings: Settings, version: DatasetVersion) -> bool:
    """Remove a dataset from the cache; False when it is not there, or in use."""
    cache = folder_of(settings)
    folder = cache / entry_name(version)
    if not folder.is_dir():
        return False
    with _alone(folder) as alone:
        if not alone:
            return False
        shutil.rmtree(folder, ignore_errors=True)
    _drop_unused_audio(cache)
    show_use(settings)
    return True


def pin(settings: Settings, version: DatasetVersion, pinned: bool) -> None:
    folder = folder_of(settings) / entry_name(version)
    if not folder.is_dir():
        raise BadInput(
            f"{version.reference} is not in the cache", f"`tenor dataset cache {version.reference}` fills it"
        )
    if pinned:
        (folder / PINNED).touch()
    else:
        (folder / PINNED).unlink(missing_ok=True)


def forget_calls(settings: Settings, calls: list[str]) -> int:
    """Remove every dataset that holds one of these calls, in use or not: who has it open has read it."""
    cache, gone = folder_of(settings), 0
    wanted = set(calls)
    for folder in _entries(cache):
        try:
            held = set(pq.read_table(folder / ROWS, columns=["call"])["call"].to_pylist())
        except (OSError, pa.ArrowException):
            held = wanted  # half filled: nobody knows what is in it
        if held & wanted:
            shutil.rmtree(folder, ignore_errors=True)
            gone += 1
    if gone:
        _drop_unused_audio(cache)
    return gone


def use(settings: Settings) -> CacheUse:
    """What the cache holds, and what is free beside it."""
    cache = folder_of(settings)
    entries = []
    for folder in _entries(cache):
        with _alone(folder) as alone:
            size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
            for sha256 in _audio_list(folder):
                with suppress(FileNotFoundError):
                    size += (cache / AUDIO / f"{sha256}.wav").stat().st_size
            pinned = (folder / PINNED).exists()
            entries.append(CacheEntry(folder.name, size, _used_at(folder), pinned, not alone))
    total = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) if cache.is_dir() else 0
    there = next(one for one in (cache, *cache.absolute().parents) if one.exists())
    return CacheUse(entries, total, shutil.disk_usage(there).free)


def show_use(settings: Settings) -> None:
    """On the gauge."""
    found = use(settings)
    metrics.CACHE_BYTES.set(found.bytes)
    metrics.CACHE_FREE_BYTES.set(found.free)


def _fill(cache: Path, folder: Path, place: Place, version: DatasetVersion, progress: Progress) -> None:
    table = joined(place, version)
    wanted = sorted(set(table["audio"].to_pylist()) - {""})
    (folder / AUDIO_LIST).write_text("\n".join(wanted))  # first, so that nobody takes them for unused
    (cache / AUDIO).mkdir(exist_ok=True)
    blobs = BlobStore(place)
    for number, sha256 in enumerate(wanted, 1):
        target = cache / AUDIO / f"{sha256}.wav"
        if not target.exists():
            part = target.with_suffix(f".{os.getpid()}.part")
            try:
                with blobs.sound(sha256) as file, soundfile.SoundFile(file) as sound:
                    soundfile.write(part, sound.read(dtype="int16"), sound.samplerate, "PCM_16", format="WAV")
                part.replace(target)
            except soundfile.SoundFileError:
                raise BadInput(
                    f"blob {sha256} is no audio that can be read", "`tenor snapshot verify` names all"
                ) from None
            finally:
                part.unlink(missing_ok=True)
        progress(number, len(wanted))
    part = folder / f"{ROWS}.part"
    part.write_bytes(tables.to_bytes(table))
    part.replace(folder / ROWS)


def _entries(cache: Path) -> list[Path]:
    return sorted(path for path in cache.glob("*@*-*") if path.is_dir()) if cache.is_dir() else []


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether nobody has it open; if so, nobody will until the end of the block."""
    try:
        with (folder / LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield True
            except BlockingIOError:
                yield False
    except FileNotFoundError:
        yield False


def _used_at(folder: Path) -> float:
    try:
        return (folder / USED).stat().st_mtime
    except FileNotFoundError:
        return time.time()  # being filled


def _audio_list(folder: Path) -> list[str]:
    try:
        return (folder / AUDIO_LIST).read_text().split()
    except FileNotFoundError:
        return []


def _drop_unused_audio(cache: Path) -> None:
    wanted = {sha256 for folder in _entries(cache) for sha256 in _audio_list(folder)}
    for path in (cache / AUDIO).glob("*"):
        if path.name.partition(".")[0] not in wanted:
            path.unlink(missing_ok=True)
