"""What goes wrong in reading other people's bytes is told in a line, and reading has an end."""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.datasets.fetching import unpack
from storage.datasets.sources import read_source
from storage.labels.files.formats import BadRow, read_labels
from storage.queries import people
from tenor.errors import BadInput, Unavailable
from tenor.reading import LimitedFile, is_endless, reading


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (MemoryError(), "it takes more memory than there is"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (UnicodeError("no\nsuch text"), "UnicodeError: no such text"),
    ],
)
def test_an_error_becomes_a_line_about_the_file(error: Exception, words: str) -> None:
    with pytest.raises(BadInput) as told, reading("a.eml"):
        raise error
    assert told.value.message == f"a.eml cannot be read: {words}"
    assert told.value.hint


def test_what_is_explained_stays_as_it_is() -> None:
    with pytest.raises(Unavailable, match="the bus is away"), reading("a.eml"):
        raise Unavailable("the bus is away")
    with pytest.raises(KeyboardInterrupt), reading("a.eml"):
        raise KeyboardInterrupt


def test_the_clock_runs_with_the_work_and_longer_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])
    file = LimitedFile(io.BytesIO(bytes(2_000_000)), "a.csv")
    clock[0] = 29.0
    file.read(1_000_000)
    clock[0] = 39.0
    file.check()
    clock[0] = 41.0
    with pytest.raises(BadInput, match=r"a\.csv takes too long to read"):
        file.check()
    file = LimitedFile(io.BytesIO(b"a\nb"), "a.csv")
    assert (file.readline(10), file.readline(10), file.readline(10)) == (b"a\n", b"b", b"")


def test_how_long_audio_may_be() -> None:
    assert not is_endless(3599, 10)
    assert is_endless(3700, 10)
    assert not is_endless(10 * 3600, 10 * 3600 * 750), "Opus at its lowest"


READERS: list[Callable[[Path], object]] = [
    read_source,
    people.read,
    lambda path: list(read_labels(path)),
    lambda path: unpack(path, path.parent / "out"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'"' + b"x" * 200_000 + b'"\n',
        b"sentence,sentiment\n" + b'"' + b"x" * 200_000 + b'",1\n',
        b"PK\x03\x04" + bytes(200) + b"PK\x05\x06\0\0\0\0\x01\0\x01\0\xff\xff\xff\x00\0\0\0\0\0\0",
        b"\xff\xfe\x00\xd8",
        json.dumps({"a": 1}).encode() * 3,
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl", "a.zip", "a.tar.gz"])
def test_no_reader_of_files_does_worse_than_a_refusal(
    tmp_path: Path, read: Callable[[Path], object], content: bytes, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.suppress(BadInput):
        read(path)


def test_a_line_that_is_nested_stops_no_other(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("[" * 100_000 + '\n{"sentence": "a/0/0", "sentiment": "positive"}\n')
    bad, good = read_labels(path)
    assert isinstance(bad, BadRow)
    assert good.place.endswith(":2")
