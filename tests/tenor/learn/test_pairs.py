"""The gate on real speech: a recording that people wrote down, heard by two recognisers, read by two models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import soundfile

from asr.local.stt.engines.whisper_folder import packaged_folder
from storage.datasets.importing import import_dataset
from storage.datasets.splits import group_of, is_held_out
from storage.db.engine import Database, using
from storage.registry.registry import Registry
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn import judge_model, judge_together, judging
from tenor.settings import Settings
from tests.model_folders import language_folder
from tests.tenor.cli.command import tenor
from tests.tenor.cli.recordings.test_evaluate import CALL, SAID

ANN = Viewer("ann", "analyst")
MOODS = {4: "negative", 11: "negative"}
"""Which of the sentences have one; the others are neutral."""

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def few_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "TIMED", 10)


@pytest.fixture
def settings(sqlite_settings: Settings, tmp_path: Path) -> Settings:
    """With a call of a customer who is held out, a copy of the recogniser and a language model that is turned round."""
    folder = tmp_path / "calls-folder"
    for name in ("audio", "calls"):
        (folder / name).mkdir(parents=True)
    samples, rate = soundfile.read(CALL, stop=47 * 16_000)
    soundfile.write(folder / "audio" / "late.flac", samples, rate)
    customer = next(n for n in range(1000) if is_held_out(group_of(f"late:speaker-{n}", "")))
    segments = [
        {"ch": ch, "role": "caller" if ch == 1 else "agent", "offset_ms": start, "dur_ms": end - start, "text": text,
         "sentiment": MOODS.get(at, "neutral")}
        for at, (ch, start, end, text) in enumerate(SAID)
    ]  # fmt: skip
    record = {"sid": "late", "segments": segments, "caller": {"speaker_id": customer}, "agent": {"speaker_id": 7}}
    (folder / "calls" / "late.json").write_text(json.dumps(record))
    import_dataset(sqlite_settings, folder, "late", by="ann")
    with using(sqlite_settings) as database:
        registry = Registry(database, sqlite_settings.models_folder)
        registry.add(ANN, packaged_folder(), name="hv", kind="speech", origin={"dataset": "late@1"})
        house = language_folder(tmp_path / "house")
        registry.add(ANN, house, name="house", kind="language", origin={"dataset": "late@1"})
    return sqlite_settings


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    with using(settings) as opened:
        yield opened


def test_both_models_alone_and_together_on_real_speech(settings: Settings, database: Database, tmp_path: Path) -> None:
    found = judge_together(settings, database, ANN, ["house-1", "hv-1"], terms=["washing machine", "warehouse"])
    assert not found.passed, "a copy is not better, and a model that is turned round is worse"
    words = next(check for check in found.speech.checks if check.name == "word errors")
    assert words.value == 0
    assert "of 1" in words.details[0]  # words: all that people wrote down
    terms = next(check for check in found.speech.checks if check.name == "business terms")
    assert "of 2 missed" in terms.text
    cost = next(check for check in found.speech.checks if check.name == "cost")
    assert "MB" in cost.text
    checks = {check.name: check for check in found.together}
    assert "on 11 sentences" in checks["both"].text or "on 12 sentences" in checks["both"].text
    assert (checks["both"].value or 0) > 0
    _, before, after = (line.split() for line in checks["earned by"].details)
    assert before[1:] == after[1:], "the recognisers are the same"
    assert float(before[1]) < float(before[2]), "and the language model is worse"
    registry = Registry(database, settings.models_folder)
    for model in ("hv-1", "house-1"):
        gate = registry.version(model).gate
        assert gate is not None
        assert not gate.passed
        assert gate.figures["with"] in ("hv-1", "house-1")


def test_the_command_draws_a_picture_and_refuses_what_is_none(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    (tmp_path / "tenor.toml").write_text(f'home = "{settings.home}"\n')
    done = tenor("models", "gate", "house-1", "--plot", tmp_path / "gate.svg", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "rows: people" in done.stdout
    assert "1 metric of the baseline" in done.stdout
    texts = [one.text for one in ElementTree.parse(tmp_path / "gate.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert "what people say" in " ".join(text or "" for text in texts)
    assert tenor("models", "gate", "house-1", "--plot", "gate.gif", cwd=tmp_path).returncode == 2
    assert tenor("models", "gate", "house-1", "--with", "house-1", cwd=tmp_path).returncode == 2
    with pytest.raises(BadInput, match="no recogniser and language model"):
        judge_together(settings, database, ANN, ["house-1", "house-1"])
    with pytest.raises(BadInput, match="there is no model"):
        judge_model(settings, database, ANN, "nobody-1")
