"""`tenor transcribe`: what a user gets for good recordings, odd ones and bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile

from tests.tenor.cli.command import tenor
from tests.tenor.cli.speech import WORDS, reading

pytestmark = pytest.mark.slow


def write(path: Path, *channels: np.typing.NDArray[np.int16], rate: int = 16000) -> Path:
    soundfile.write(path, np.stack(channels, axis=1), rate, subtype="PCM_16")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One batch with everything that can be wrong or odd about a recording."""
    folder = tmp_path_factory.mktemp("recordings")
    said = reading(7)
    quiet = np.zeros_like(said)
    noise = np.random.default_rng(1)
    write(folder / "good.wav", said, np.roll(quiet, 1))
    write(folder / "mono.wav", said)
    write(folder / "same.wav", said, said)
    write(folder / "silence.wav", quiet, quiet)
    write(folder / "hum.wav", (np.full(len(said), 3000) + noise.normal(0, 20, len(said))).astype(np.int16))
    write(folder / "six.wav", quiet, said, quiet, quiet, quiet, quiet)
    write(folder / "fast.wav", reading(7, 192_000), rate=192_000)
    (folder / "empty.wav").write_bytes(b"")
    (folder / "text.wav").write_text("this is no audio\n" * 50)
    soundfile.write(folder / "nan.wav", np.full(16000, np.nan, np.float32), 16000, subtype="FLOAT")
    (folder / "nothing").mkdir()
    return folder


@pytest.fixture(scope="module")
def batch(folder: Path) -> tuple[dict[str, dict[str, object]], int, str]:
    """All of it in one go, as JSON: documents by file, exit code, complaints."""
    names = ["good", "mono", "same", "silence", "hum", "six", "fast", "empty", "text", "nan"]
    paths = [*(folder / f"{name}.wav" for name in names), folder / "missing.wav", folder / "nothing"]
    done = tenor("transcribe", "--json", *paths, cwd=folder, timeout=280)
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    files = [Path(document["call"]["file"]).name for document in documents]
    assert files == [*(f"{name}.wav" for name in names), "missing.wav", "nothing"]  # in the order given
    return dict(zip(files, documents, strict=True)), done.returncode, done.stderr


Batch = tuple[dict[str, dict[str, object]], int, str]


def said_on(document: dict[str, object], channel: int) -> str:
    utterances: list[dict[str, object]] = document["utterances"]  # type: ignore[assignment]
    return " ".join(str(said["text"]) for said in utterances if said["channel"] == channel).lower()


def call_of(document: dict[str, object]) -> dict[str, object]:
    call: dict[str, object] = document["call"]  # type: ignore[assignment]
    return call


@pytest.mark.parametrize("name", ["good.wav", "mono.wav", "fast.wav"])
def test_what_was_said_is_written_down(batch: Batch, name: str) -> None:
    document = batch[0][name]
    assert all(words in said_on(document, 0) for words in WORDS)
    assert said_on(document, 1) == ""


def test_an_utterance_has_all_that_is_promised(batch: Batch) -> None:
    last: dict[str, Any] = batch[0]["good.wav"]["utterances"][-1]  # type: ignore[index]
    assert {"channel", "role", "start_ms", "end_ms", "text", "words", "confidence"} <= last.keys()
    assert last["role"] == "caller"
    words = last["words"]
    assert [word["text"] for word in words] == last["text"].split()
    assert last["start_ms"] == words[0]["start_ms"] < words[-1]["end_ms"] == last["end_ms"] <= 7000
    assert 0 < last["confidence"] <= 1


def test_that_the_recogniser_resampled_is_on_record(batch: Batch) -> None:
    assert call_of(batch[0]["fast.wav"])["attributes"]["resampled"] == "192000 to 16000 Hz"  # type: ignore[index]
    assert "resampled" not in call_of(batch[0]["good.wav"])["attributes"]  # type: ignore[operator]


def test_a_stereo_file_with_the_same_on_both_sides_is_heard_once(batch: Batch) -> None:
    document = batch[0]["same.wav"]
    assert call_of(document)["roles"] == ["caller", "agent"]
    assert said_on(document, 0).count("best of times") == 1


@pytest.mark.parametrize("name", ["silence.wav", "hum.wav"])
def test_where_nobody_speaks_no_words_are_invented(batch: Batch, name: str) -> None:
    assert batch[0][name]["utterances"] == []
    assert call_of(batch[0][name])["state"] == "ended"


def test_six_channels_are_named_and_the_first_two_heard(batch: Batch) -> None:
    document = batch[0]["six.wav"]
    assert "best of times" in said_on(document, 1)
    assert any("6 channels" in warning for warning in call_of(document)["warnings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.wav", "empty"),
        ("text.wav", "audio"),
        ("nan.wav", "number"),
        ("missing.wav", "not there"),
        ("nothing", "no audio"),
    ],
)
def test_what_cannot_be_heard_fails_with_a_reason_and_the_rest_goes_on(batch: Batch, name: str, reason: str) -> None:
    call = call_of(batch[0][name])
    assert call["state"] == "failed"
    assert reason in str(call["reason"])
    assert batch[0][name]["utterances"] == []


def test_any_failure_makes_the_exit_code_2(batch: Batch) -> None:
    assert batch[1] == 2


def test_roles_are_checked_before_anything_is_heard(folder: Path) -> None:
    done = tenor("transcribe", "--roles", "caller,caller", folder / "good.wav", cwd=folder)
    assert done.returncode == 2
    assert "caller" in done.stderr


def test_text_for_people(folder: Path) -> None:
    done = tenor("transcribe", "--roles", "customer,clerk", folder / "good.wav", cwd=folder)
    assert done.returncode == 0
    assert "customer" in done.stdout
    assert WORDS[0] in done.stdout.lower()


def test_from_standard_input(folder: Path) -> None:
    done = tenor("transcribe", "-", cwd=folder, stdin=(folder / "mono.wav").read_bytes())
    assert done.returncode == 0
    assert WORDS[0] in done.stdout.lower()


def test_a_riva_that_is_not_there(folder: Path) -> None:
    done = tenor("transcribe", "--riva", "localhost:1", folder / "good.wav", cwd=folder)
    assert done.returncode == 3
    assert "localhost:1" in done.stderr
    assert "tenor riva" in done.stderr


def test_a_recording_may_be_sent_as_a_whole(folder: Path, batch: Batch) -> None:
    done = tenor("transcribe", "--json", "--mode", "offline", folder / "good.wav", cwd=folder)
    document = json.loads(done.stdout)
    assert said_on(document, 0) == said_on(batch[0]["good.wav"], 0)
    assert document["utterances"][0]["model"].endswith("-offline")


@pytest.mark.parametrize("flags", [{}, {"movflags": "+faststart"}], ids=["table at the end", "table at the front"])
def test_an_m4a_comes_through_a_pipe(tmp_path: Path, flags: dict[str, str]) -> None:
    """Who cannot seek cannot read it where its table is at the end, as most programs write it."""
    path = tmp_path / "spoken.m4a"
    with av.open(path, "w", format="ipod", options=flags) as made:
        track = made.add_stream("aac", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(reading(7)[None, :], format="s16", layout="mono")
        frame.sample_rate = 16000
        for packet in (*track.encode(frame), *track.encode(None)):
            made.mux(packet)
    content = path.read_bytes()
    assert (content.find(b"moov") < content.find(b"mdat")) is bool(flags)
    done = tenor("transcribe", "-", cwd=tmp_path, stdin=content)
    assert done.returncode == 0, done.stderr
    assert all(words in done.stdout.lower() for words in WORDS)
    cut = tenor("transcribe", "-", cwd=tmp_path, stdin=content[: len(content) // 2])
    if not flags:
        assert cut.returncode == 2
        assert "stdin is not audio that FFmpeg can read" in cut.stderr
