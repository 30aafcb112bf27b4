"""What people name is found, once, in a stable order; what is not there is said in one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import fsspec
import pytest

from ingest.sources import Source, expand
from tenor.errors import BadInput, Unavailable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.wav", "a.mp3", "deep/er/a.mp3", "deep/c.OPUS", "deep/notes.txt", "film.mp4"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def names(sources: list[Source], folder: Path) -> list[str]:
    return [os.path.relpath(source.location, folder) for source in sources]


def test_a_folder_is_searched_deeply_for_audio_in_order(folder: Path) -> None:
    found = expand([str(folder)])
    assert names(found, folder) == ["a.mp3", "b.wav", "deep/c.OPUS", "deep/er/a.mp3", "film.mp4"]


def test_the_order_given_is_kept_and_nothing_comes_twice(folder: Path) -> None:
    paths = [str(folder / "b.wav"), str(folder / "deep"), str(folder / "deep/../b.wav"), f"file://{folder}/a.mp3"]
    assert names(expand(paths), folder) == ["b.wav", "deep/c.OPUS", "deep/er/a.mp3", "a.mp3"]


def test_patterns(folder: Path) -> None:
    assert names(expand([str(folder / "*.mp?")]), folder) == ["a.mp3", "film.mp4"]
    assert names(expand([str(folder / "**/a.mp3")]), folder) == ["a.mp3", "deep/er/a.mp3"]


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "call [1].wav").write_bytes(b"x")
    assert [source.name for source in expand([str(tmp_path / "call [1].wav")])] == ["call [1].wav"]


def test_a_file_named_outright_may_be_called_anything(folder: Path) -> None:
    assert names(expand([str(folder / "deep/notes.txt")]), folder) == ["deep/notes.txt"]


def test_streams_and_microphones(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = expand(["-", "mic", "mic:USB Audio", str(tmp_path / "pipe")])
    assert [(source.kind, source.live) for source in found] == [
        ("stream", True),
        ("microphone", True),
        ("microphone", True),
        ("stream", True),
    ]
    assert [source.name for source in found[:3]] == ["stdin", "microphone", "microphone USB Audio"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.wav", "is not there"),
        ("*.gone", "nothing matches"),
        ("empty", "no audio in"),
        ("", "empty name"),
        ("bad\0name", "is not there"),
        ("ftpx://host/a.wav", "no address we know"),
        ("memory://nowhere/a.wav", "no audio at a.wav"),
    ],
)
def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=message) as caught:
        expand([path])
    assert "\n" not in caught.value.message


def test_nothing_named() -> None:
    with pytest.raises(BadInput, match="nothing to hear"):
        expand([])


def test_a_folder_we_may_not_read(folder: Path) -> None:
    if os.geteuid() == 0:  # root may read everything, so be somebody else
        for parent in (folder, *list(folder.parents)[:2]):
            parent.chmod(0o755)
    (folder / "deep").chmod(0)
    try:
        if os.getuid() == 0:
            os.seteuid(65_534)
        for path in ("deep", "deep/c.OPUS"):
            with pytest.raises(BadInput, match="may not be read"):
                expand([str(folder / path)])
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        (folder / "deep").chmod(0o755)


@pytest.fixture
def store() -> Any:
    memory = fsspec.filesystem("memory")
    for name in ("/calls/b.wav", "/calls/a.mp3", "/calls/sub/c.flac", "/calls/readme.txt"):
        memory.pipe(name, b"x" * 9)
    yield memory
    memory.rm("/calls", recursive=True)


@pytest.mark.usefixtures("store")
def test_addresses() -> None:
    assert expand(["memory://calls/b.wav"]) == [Source("url", "memory://calls/b.wav")]
    assert [source.name for source in expand(["memory://calls"])] == ["a.mp3", "b.wav", "c.flac"]
    assert [source.name for source in expand(["memory://calls/*.wav"])] == ["b.wav"]
    (source,) = expand(["memory://calls/b.wav"])
    with source.open() as file:
        assert file.read() == b"x" * 9
    assert source.digest() == source.digest()


def test_passwords_and_signatures_are_not_shown() -> None:
    source = Source("url", "https://user:secret@host/calls/a.wav?signature=secret")
    assert source.name == "a.wav"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(url: str) -> Any:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(BadInput) as caught:
        expand(["s3://bucket/a.wav"])
    assert caught.value.hint == "pip install 'tenor[s3]'"


def test_a_store_that_is_away(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(path: str) -> bool:
        raise ConnectionError("no route")

    monkeypatch.setattr(type(store), "isfile", lambda self, path: away(path))
    with pytest.raises(Unavailable, match=r"b\.wav cannot be reached: ConnectionError: no route"):
        expand(["memory://calls/b.wav"])
