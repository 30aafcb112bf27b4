"""The engine for CTC models, with one whose letters are tones (tone_model.py)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from asr.local.stt.engines.base import RATE, DecodeOptions
from asr.local.stt.engines.ctc import CtcEngine
from asr.local.stt.engines.ctc_features import FeatureExtractor, FrontEnd
from asr.local.stt.engines.golden import open_checked
from asr.local.stt.engines.opening import open_engine
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions
from tenor.errors import BadInput
from tenor.settings import RivaSettings
from tests.asr.local.stt.conftest import recording
from tests.asr.local.stt.engines.tone_model import FOLDER, TONE_MS, make, tones


@pytest.fixture(scope="module")
def engine() -> CtcEngine:
    return CtcEngine(FOLDER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "tones"))


def test_words_come_with_the_times_at_which_they_were_spoken(engine: CtcEngine) -> None:
    [heard] = engine.decode(tones("hello world"), DecodeOptions())
    assert [word.text for word in heard.words] == ["hello", "world"]  # the two l of hello are two: there is a blank
    for word, first, letters in zip(heard.words, (0, 6), (5, 5), strict=True):
        start = TONE_MS + 2 * TONE_MS * first
        assert abs(word.start_ms - start) <= 40
        assert abs(word.end_ms - (start + TONE_MS * (2 * letters - 1))) <= 80
        assert word.confidence > 0.9
    assert 0.9 < heard.confidence <= 1.0


def test_how_loud_somebody_speaks_does_not_matter(engine: CtcEngine) -> None:
    quiet = tones("hello") * np.float32(0.05)
    assert [word.text for one in engine.decode(quiet, DecodeOptions()) for word in one.words] == ["hello"]


@pytest.mark.parametrize("samples", [0, 1, 100, 161, RATE])
def test_silence_of_any_length_has_no_words(engine: CtcEngine, samples: int) -> None:
    assert engine.decode(np.zeros(samples, np.float32), DecodeOptions()) == []


def test_what_nobody_wants_any_more_is_not_decoded(engine: CtcEngine) -> None:
    assert engine.decode(tones("hello"), DecodeOptions(wanted=lambda: False)) == []


def test_every_band_of_what_the_model_sees_has_mean_0_and_deviation_1() -> None:
    features, heard = FeatureExtractor(FrontEnd()).features(tones("hello world"))
    assert features.shape[1] % 16 == 0
    assert not features[:, heard:].any()
    assert np.allclose(features[:, :heard].mean(axis=1), 0, atol=1e-4)
    assert np.allclose(features[:, :heard].std(axis=1, ddof=1), 1, atol=1e-3)


def test_pieces_of_words_are_put_together(folder: Path) -> None:
    description = json.loads((folder / "ctc.json").read_text())
    description["tokens"] = ["\u2581hel", "lo", "\u2581wo", "<unk>", "rld", *description["tokens"][5:]]
    (folder / "ctc.json").write_text(json.dumps(description))
    # Blank, a, d, e and h are now pieces of words; the third one is none that is written.
    [heard] = CtcEngine(folder).decode(tones(" adehl"), DecodeOptions())
    assert [word.text for word in heard.words] == ["hello", "worldl"]


def test_the_folder_says_which_engine_it_is_for(folder: Path) -> None:
    assert isinstance(open_engine(folder, RivaSettings()), CtcEngine)
    golden = {"audio": "golden-1.wav", "answers": {"text": "hello"}}
    (folder / "golden.jsonl").write_text(json.dumps(golden) + "\n")
    import soundfile

    soundfile.write(folder / "golden-1.wav", tones("hello"), RATE)
    assert open_checked(folder, RivaSettings(), "house-3").name == "house-3"
    soundfile.write(folder / "golden-1.wav", tones("world"), RATE)
    with pytest.raises(BadInput, match="otherwise than where it was made"):
        open_checked(folder, RivaSettings())


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("model.onnx", None, "there is no model.onnx"),
        ("model.onnx", b"nonsense", "cannot be loaded"),
        ("ctc.json", b"{", "ctc.json"),
        ("ctc.json", b'{"front_end": {"rate": 8000}, "tokens": ["a"], "subsampling": 4}', "8000 Hz"),
        ("ctc.json", b'{"front_end": {}, "tokens": ["a"], "subsampling": 4}', "1 tokens"),
        ("model.json", b'{"files": {"model.onnx": "00"}}', "damaged"),
    ],
)
def test_what_is_wrong_with_a_folder_is_told(folder: Path, name: str, content: bytes | None, told: str) -> None:
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(BadInput, match=told):
        CtcEngine(folder)


def test_two_recognisers_cannot_be_named_at_once(folder: Path) -> None:
    with pytest.raises(BadInput, match="both"):
        LocalRecognizer(RivaSettings(ctc_path=str(folder), whisper_path=str(folder)))


async def test_the_server_hears_with_the_model_that_the_setting_names() -> None:
    recognizer = LocalRecognizer(RivaSettings(threads=1, ctc_path=str(FOLDER)))
    assert [engine.name for engine in recognizer.engines] == ["ctc", "moonshine-tiny"]
    stream = recognizer.open_stream(RecognitionOptions(rate=8000, word_times=True))
    speech = np.concatenate([recording("two_cities.wav", 20.7, 24.4), np.zeros(8000, np.int16)])
    results = [*await stream.feed(speech), *await stream.finish()]
    stream.close()
    recognizer.close()
    words = [word for one in results if one.final for answer in one.alternatives for word in answer.words]
    assert words  # speech in letters of tones makes no sense, but it comes from this model
    assert set("".join(word.text for word in words).lower()) <= set("adehlorw.,?!'")
    assert all(0 <= word.start_ms <= word.end_ms <= 4700 for word in words)


def test_the_script_makes_the_model_that_is_here(tmp_path: Path) -> None:
    made = CtcEngine(make(tmp_path / "tones"))
    sound = tones("hello world")
    assert made.decode(sound, DecodeOptions()) == CtcEngine(FOLDER).decode(sound, DecodeOptions())
