"""What recognisers hear of the hold-out's recordings, as `tenor transcribe` hears them; each is asked once.

An imported recording is written down as a whole, so all that is heard in it counts. Of an archived call only the
sentences that people corrected are known, so only what was heard in these counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import soundfile
from whisper_normalizer.english import EnglishTextNormalizer

from asr.local.stt.engines.base import Audio, DecodeOptions
from asr.local.stt.engines.ctc_folder import is_ctc_folder
from asr.local.stt.engines.whisper import WhisperEngine
from finetune.gate import CallErrors, ModelCost
from finetune.recipes.base import TrainingRow
from finetune.train.whisper.sound import resampled
from nlp.evaluation.alignment import HypothesisWord, ReferenceSentence, align, plain, word_errors
from nlp.evaluation.terms import TermCounter
from storage.registry.registry import ModelVersion, Registry
from tenor.errors import BadInput
from tenor.runtime import transcribe
from tenor.runtime.profiles import PATIENT, change_settings
from tenor.settings import Settings

MARGIN_MS = 300
"""A word this far from a sentence of an archived call may belong to another, which nobody wrote down."""
TIMED, ROUNDS = 12, 2
"""Sentences whose time is measured, and how often."""
LONGEST_S = 15.0


class HeardHoldout:
    """The recordings of a hold-out, and what each recogniser makes of them."""

    def __init__(
        self, settings: Settings, registry: Registry, rows: Sequence[TrainingRow],
        progress: Callable[[str, int, int], None],
    ) -> None:  # fmt: skip
        self._settings, self._registry, self._progress = settings, registry, progress
        self._normal = EnglishTextNormalizer()
        self._rows: dict[str, list[TrainingRow]] = {}
        for row in sorted(rows, key=lambda row: row.start_ms):
            if row.audio:
                self._rows.setdefault(row.audio, []).append(row)
        self._heard: dict[str, dict[str, list[HypothesisWord]]] = {}

    @property
    def has_audio(self) -> bool:
        return bool(self._rows)

    def texts(self, version: ModelVersion) -> dict[str, str]:
        """What the recogniser wrote of each sentence, by the sentence's id."""
        return {
            row.id: text
            for file, rows in self._rows.items()
            for row, text in zip(rows, self._by_sentence(file, rows, version), strict=True)
        }

    def errors(self, versions: tuple[ModelVersion, ModelVersion], terms: Sequence[str]) -> list[CallErrors]:
        """Word errors of the champion and of the candidate, where people wrote down what was said."""
        counters = [TermCounter(terms) for _ in versions]
        found = []
        for file, rows in self._rows.items():
            written = [row for row in rows if row.written]
            whole = all(not row.recognised for row in rows)
            wanted = self._words(" ".join(plain(row.text) for row in written))
            if not wanted:
                continue
            wrong, missed, said = [], [], 0
            for version, counter in zip(versions, counters, strict=True):
                heard = self._heard_by(version)[file]
                parts = [word.text for word in heard] if whole else self._by_sentence(file, written, version)
                got = self._words(" ".join(parts))
                wrong.append(word_errors(wanted, got))
                said, terms_missed = counter.add(wanted, got)
                missed.append(terms_missed)
            found.append(
                CallErrors(
                    call=rows[0].call or file, words=len(wanted), champion=wrong[0], candidate=wrong[1],
                    terms=said, champion_terms=missed[0], candidate_terms=missed[1],
                )
            )  # fmt: skip
        return found

    def costs(self, versions: tuple[ModelVersion, ModelVersion]) -> tuple[ModelCost, ModelCost] | None:
        """Processor time of each of a few sentences, the least of some rounds. None where one of them is no Whisper
        model, whose engine this process has."""
        folders = [self._registry.path(one) for one in versions]
        if not all((folder / "model.bin").is_file() for folder in folders):
            return None
        sounds = [
            sound for file, rows in self._rows.items() for row in rows[:3] if len(sound := _sound(file, row)) > 0
        ][:TIMED]  # fmt: skip
        if not sounds:
            return None
        engines = [WhisperEngine(folder, window_s=self._settings.riva.window_s, workers=1) for folder in folders]
        try:
            times: list[list[float]] = [[], []]
            for sound in sounds:
                for engine, own in zip(engines, times, strict=True):
                    own.append(min(_milliseconds(engine, sound) for _ in range(ROUNDS)))
        finally:
            for engine in engines:
                engine.close()
        before, after = (
            ModelCost(p95_ms=sorted(own)[int(0.95 * len(own))], megabytes=megabytes(folder))
            for own, folder in zip(times, folders, strict=True)
        )
        return before, after

    def _heard_by(self, version: ModelVersion) -> dict[str, list[HypothesisWord]]:
        if version.id not in self._heard:
            path = "" if version.ships else str(self._registry.path(version))
            files = list(self._rows)
            heard = {}
            for file, result in zip(files, transcribe(files, _hearing(self._settings, path)), strict=True):
                if result.error:
                    raise BadInput(f"{file} could not be heard: {result.error.message}", result.error.hint)
                heard[file] = [
                    HypothesisWord(0, word.start_ms, word.end_ms, word.text)
                    for utterance in result.utterances
                    for word in utterance.words
                ]
                self._progress(version.id, len(heard), len(files))
            self._heard[version.id] = heard
        return self._heard[version.id]

    def _by_sentence(self, file: str, rows: Sequence[TrainingRow], version: ModelVersion) -> list[str]:
        spans = [
            ReferenceSentence(row.call, 0, row.role, row.start_ms, row.end_ms, row.text) for row in rows
        ]  # fmt: skip
        align(spans, self._heard_by(version)[file], MARGIN_MS)
        return [span.recognised for span in spans]

    def _words(self, text: str) -> list[str]:
        return str(self._normal(text)).split()


def megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6


def _sound(file: str, row: TrainingRow) -> Audio:
    with soundfile.SoundFile(file) as recording:
        start = min(row.start_ms * recording.samplerate // 1000, recording.frames)
        recording.seek(start)
        frames = min((row.end_ms - row.start_ms) / 1000, LONGEST_S) * recording.samplerate
        samples = recording.read(max(int(frames), 0), dtype="int16", always_2d=True)[:, 0]
        return resampled(samples, recording.samplerate)


def _milliseconds(engine: WhisperEngine, sound: Audio) -> float:
    began = time.process_time()
    engine.decode(sound, DecodeOptions())
    return 1000 * (time.process_time() - began)


def _hearing(settings: Settings, folder: str) -> Settings:
    """As `tenor transcribe` hears, with another recogniser."""
    ctc = bool(folder) and is_ctc_folder(Path(folder))
    paths = {"whisper_path": "" if ctc else folder, "ctc_path": folder if ctc else ""}
    changes: dict[str, dict[str, Any]] = {"riva": paths, "speech": {"redact": "off"}}
    for name, value in PATIENT.items():
        section, _, field = name.partition(".")
        changes.setdefault(section, {})[field] = value
    return change_settings(settings, **changes)
