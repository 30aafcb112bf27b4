"""Recorded calls whose words are tones, for the tests of loops that learn to hear: a recogniser that confuses two
letters is in force, people put its words right, and a recipe makes one that does not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import soundfile

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.engines.ctc_folder import DESCRIPTION
from finetune.export.whisper_export import write_manifest
from finetune.recipes.base import MODEL, RunRecord, TrainingRow, rows_of
from storage.datasets.splits import group_of, is_held_out
from storage.db.engine import Database
from storage.registry.registry import Registry
from storage.tables import Call, Label, Sentence
from tenor.model_store.card import Kind
from tenor.settings import Settings
from tests.asr.local.stt.engines.tone_model import FOLDER as TONES
from tests.asr.local.stt.engines.tone_model import tones
from tests.storage.rows import sentence, store
from tests.tenor.learn.company_home import ANN, SHARED

WORDS = ("hello", "road", "whole", "deal", "arrow", "lead", "world", "older")
CONFUSED = str.maketrans("rl", "lr")
LINES = 3
CALL = Path(__file__).parents[3] / "examples" / "calls" / "late-delivery.ogg"
LOUDNESS = 0.3
DAY_S = 86_400


class TonesRecipe:
    """Leaves the model that hears every letter; the rows must have what it would learn from."""

    name = "tones"
    kind: Kind = "speech"
    presets: Mapping[str, Mapping[str, Any]] = {}

    class parameters(msgspec.Struct, frozen=True, kw_only=True):  # noqa: N801
        model: str = ""
        steps: int = 1

    def run(self, rows: Sequence[TrainingRow], parameters: Any, out: Path, record: RunRecord) -> Path:
        spoken = [row for row in rows_of(rows, "train") if row.audio and row.written]
        assert spoken
        assert not any(row.split == "holdout" and row in spoken for row in rows)
        record.point(parameters.steps, "loss", 1 / len(spoken))
        return tone_folder(out / MODEL)


RECIPE = f"{__name__}:{TonesRecipe.__name__}"


def tone_folder(folder: Path, *, confused: bool = False) -> Path:
    shutil.copytree(TONES, folder, dirs_exist_ok=True)
    if confused:
        description = msgspec.json.decode((folder / DESCRIPTION).read_bytes())
        description["tokens"] = [token.translate(CONFUSED) for token in description["tokens"]]
        (folder / DESCRIPTION).write_bytes(msgspec.json.encode(description))
    write_manifest(folder, {"name": "tones", "version": "1", "kind": "speech"})
    return folder


def add_spoken_calls(settings: Settings, database: Database, folder: Path, *, calls: int, began: float) -> None:
    """Half of them of customers whom splits hold out; the recogniser that confuses letters is in force."""
    registry = Registry(database, settings.models_folder)
    deaf = registry.add(ANN, tone_folder(folder / "deaf", confused=True), name="deaf", kind="speech")
    registry.promote(ANN, deaf.id, "to start from", force=True)
    recordings = Path(settings.recordings_url)
    recordings.mkdir(parents=True, exist_ok=True)
    chance, voice = Random(3), _voice()
    of_split = {held: customers(held_out=held) for held in (True, False)}
    for number in range(calls):
        call, at = f"spoken-{number}", began + number * DAY_S
        sound, lines = [], []
        start_ms = 0
        for _ in range(LINES):
            text = " ".join(chance.sample(WORDS, 2))
            spoken = tones(text)
            spoken = (spoken + voice[: len(spoken)]).astype(np.float32)
            end_ms = start_ms + 1000 * len(spoken) // RATE
            lines.append((start_ms, end_ms, text))
            sound += [spoken, np.zeros(RATE, np.float32)]
            start_ms = end_ms + 1000
        samples = np.concatenate(sound)
        soundfile.write(recordings / f"{call}.flac", samples, RATE)
        customer = next(of_split[number % 2 == 0])
        about: dict[str, Any] = {
            "roles": ["caller"],
            "started_at": at,
            "state": "analysed",
            "state_at": at + 100,
            "customer": customer,
        }
        add_call(
            database,
            Call(id=call, recording=f"{call}.flac", **about),
            [
                sentence(call, start, end_ms=end, spoken_at=at + end / 1000, text=text.translate(CONFUSED))
                for start, end, text in lines
            ],
            [{"intent": chance.choice(SHARED), "text": text} for _, _, text in lines],
        )


def add_call(database: Database, call: Call, said: Sequence[Sentence], labels: Sequence[Mapping[str, str]]) -> None:
    """Two reviewers agree about every sentence."""
    about: dict[str, Any] = {
        "call": call.id,
        "at": call.started_at,
        "author_role": "manager",
        "where": "review",
        "why": "sample",
    }
    labelled = [
        Label(sentence=one.id, kind=kind, value=value, predicted="", author=author, **about)
        for one, own in zip(said, labels, strict=True)
        for kind, value in own.items()
        for author in ("rita", "bo")
    ]
    store(database, call, *said)
    with database.begin() as session:
        session.add_all(labelled)


def _voice() -> Audio:
    """Somebody who speaks low behind the tones, which alone are no speech to the detector."""
    samples, _ = soundfile.read(CALL, start=RATE, stop=12 * RATE, dtype="float32", always_2d=True)
    low: Audio = LOUDNESS * samples[:, 1] / np.abs(samples[:, 1]).max()
    return low


def customers(*, held_out: bool) -> Iterator[str]:
    named = (f"speaker-{number}" for number in count(1))
    return islice((name for name in named if is_held_out(group_of(name, "")) is held_out), 1000)
