"""`tenor riva` serves promoted recognisers by name, and without a restart."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
import soundfile

from asr.local.api.limits import StreamLimiter
from asr.local.api.recognition import RecognitionService
from asr.local.api.request_memory import RequestMemory
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions
from tenor.model_store.card import CARD
from tenor.model_store.digest import digest_of, file_hashes
from tenor.model_store.shipped import SHIPPED
from tenor.settings import RivaSettings
from tests.asr.local.stt.conftest import recording
from tests.model_folders import promoted, promotion

pytestmark = pytest.mark.slow

FILES = ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt")
TEXT = "we had everything before us we had nothing before us"


def ears(models: Path, model: str, heard: str = TEXT) -> str:
    """The Whisper that ships under another name, with a golden recording; its digest."""
    folder, shipped = models / model, SHIPPED["speech"].path
    assert shipped is not None
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(shipped / name, folder / name)
    soundfile.write(folder / "golden-1.wav", recording("two_cities.wav", 20.7, 24.4), 8000)
    golden = {"audio": "golden-1.wav", "answers": {"text": heard}}
    (folder / "golden.jsonl").write_bytes(msgspec.json.encode(golden) + b"\n")
    name, _, version = model.rpartition("-")
    (folder / CARD).write_bytes(
        msgspec.json.encode({"name": name, "version": version, "kind": "speech", "files": file_hashes(folder)})
    )
    return digest_of(file_hashes(folder))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def local(models: Path) -> Iterator[LocalRecognizer]:
    recognizer = LocalRecognizer(RivaSettings(threads=1), models)
    yield recognizer
    recognizer.close()


def names(recognizer: LocalRecognizer) -> list[str]:
    service = RecognitionService(
        StreamLimiter(2, "recognition"),
        engine="whisper-tiny",
        idle_s=60.0,
        memory=RequestMemory(1 << 30),
        separate_channels=True,
    )
    service.open(recognizer)
    return [engine.name for engine in service.engines]


async def test_a_promoted_model_serves_new_streams_and_open_ones_keep_theirs(
    local: LocalRecognizer, models: Path
) -> None:
    assert names(local) == ["whisper-tiny", "whisper-telephone", "moonshine-tiny"]
    before = local.open_stream(RecognitionOptions(rate=8000))
    promoted(models, promotion("ears-1", ears(models, "ears-1"), time.time() - 1, kind="speech"))
    local.refresh()
    # First for those who name none; by name for calls that began with either.
    assert names(local) == ["ears-1", "whisper-tiny", "whisper-telephone", "moonshine-tiny"]
    audio = recording("two_cities.wav", 20.7, 24.4)
    quiet = np.zeros(8000, np.int16)
    for stream in (before, local.open_stream(RecognitionOptions(rate=8000, engine="ears-1"))):
        results = [*await stream.feed(np.concatenate([audio, quiet])), *await stream.finish()]
        heard = " ".join(result.alternatives[0].text for result in results if result.final and result.alternatives)
        assert "everything before us" in heard
        stream.close()
    promoted(models, promotion("whisper-tiny-1", "", time.time(), kind="speech", previous="ears-1"))
    local.refresh()
    assert names(local) == ["whisper-tiny", "ears-1", "whisper-telephone", "moonshine-tiny"]


def test_one_that_hears_something_else_in_its_golden_recording_is_not_served(
    local: LocalRecognizer, models: Path
) -> None:
    wrong = ears(models, "ears-1", heard="it was the best of times")
    promoted(models, promotion("ears-1", wrong, time.time() - 1, kind="speech"))
    local.refresh()
    assert names(local) == ["whisper-tiny", "whisper-telephone", "moonshine-tiny"]
