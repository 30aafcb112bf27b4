"""What is wrong with a dataset is found, and errors stop a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from storage.archive.blobs import blob_name
from storage.datasets.checking import DatasetReport, check, same_words
from storage.datasets.importing import import_dataset
from storage.place import Place
from storage.snapshots import verify_datasets
from tenor.settings import Settings
from tenor.taxonomy.in_force import NamesInForce
from tests.storage.datasets.material import manifest, tone

NAMES = NamesInForce(("negative", "neutral", "positive"), ("balance", "unknown"))


def checked(tmp_path: Path, splits: dict[str, list[dict[str, Any]]]) -> DatasetReport:
    """A set of manifests, imported and checked. Every line has a recording of its own, unless it says which."""
    settings = Settings(home=tmp_path / "home")
    for split, lines in splits.items():
        for number, line in enumerate(lines):
            line.setdefault("audio_filepath", f"{split}{number}.wav")
            line.setdefault("duration", 0.5)
            tone(tmp_path / "set" / line["audio_filepath"], seed=hash((split, number)) % 1000)
        manifest(tmp_path / "set" / f"{split}_manifest.json", lines)
    made = import_dataset(settings, tmp_path / "set", "set", by="root")
    return check(Place(settings.learn_url), made, NAMES)


def findings(report: DatasetReport, about: str) -> list[str]:
    return [f"{one.level}: {one.message}" for one in report.findings if one.about == about]


def lines(count: int, sentiment: str = "neutral", **about: Any) -> list[dict[str, Any]]:
    return [{"text": f"sentence {n} is {sentiment} {about}", "sentiment": sentiment, **about} for n in range(count)]


def test_a_test_set_that_is_the_end_of_the_training_set_is_refused(tmp_path: Path) -> None:
    """As TR-4904 prints it: all rows of day 15 are trained with, and its last ones are the test set."""
    day = [{"text": f"click number {n}", "audio_filepath": f"row{n}.wav"} for n in range(30)]
    report = checked(tmp_path, {"train": day, "test": [dict(one) for one in day[-5:]]})
    assert not report.may_train
    assert "error: 10 rows to train with are of calls that are measured with" not in findings(report, "leak")
    assert any("5 rows are in more than one split" in message for message in findings(report, "leak"))


def test_speakers_in_common_are_told_of_a_declared_split(tmp_path: Path) -> None:
    train = [*lines(12, speaker="ann"), *lines(12, "negative", speaker="ben")]
    report = checked(tmp_path, {"train": train, "test": lines(3, "positive", speaker="ann")})
    assert report.may_train
    assert any(one.startswith("warning: ") and "customers" in one for one in findings(report, "leak"))


def test_one_class_is_an_error_and_few_rows_are_a_warning(tmp_path: Path) -> None:
    report = checked(tmp_path / "one", {"train": lines(30)})
    assert findings(report, "balance") == ["error: sentiment: every row to train with is 'neutral'"]
    report = checked(tmp_path / "few", {"train": [*lines(30), *lines(3, "negative")], "val": lines(2)})
    assert findings(report, "balance") == ["warning: sentiment: few rows of negative (3)"]


def test_no_label_and_nothing_to_train_with_are_errors(tmp_path: Path) -> None:
    report = checked(tmp_path, {"test": lines(3)})
    assert "error: there is no row to train with" in findings(report, "balance")


def test_a_stray_label_is_named(tmp_path: Path) -> None:
    report = checked(tmp_path, {"train": [*lines(12), *lines(12, "Touch Bar Shot 2020-03-12.png")]})
    [finding] = findings(report, "labels")
    assert finding.startswith("error: sentiment: Touch Bar Shot 2020-03-12.png is not in force")
    assert "language.sentiments" in finding


def test_a_damaged_set_is_told_and_does_not_stop_the_check_of_another(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    tone(tmp_path / "other" / "a.wav")
    manifest(tmp_path / "other" / "m.json", [{"audio_filepath": "a.wav", "duration": 1, "text": "x"}])
    other = import_dataset(settings, tmp_path / "other", "other", by="root")
    rows = Path(Place(settings.learn_url).path(blob_name(other.rows)))
    rows.chmod(0o644)
    rows.write_bytes(b"?")

    report = checked(tmp_path, {"train": [*lines(12), *lines(12, "negative")]})

    assert report.may_train
    [told] = findings(report, "leak")
    assert told.startswith("warning: other@1 cannot be read")
    damaged, sound = verify_datasets(Place(settings.learn_url))
    assert (damaged.name, [fault.sha256 for fault in damaged.faults]) == ("other@1", [other.rows])
    assert (sound.name, sound.sound) == ("set@1", True)


def test_contradictions_and_duplicates_are_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": f"{n}",
            "intent": None,
            "text": f"Sentence number {n % 50} of many!",
            "sentiment": ("neutral", "negative")[n % 7 == 0],
        }
        for n in range(300)
    ]
    one, four = (list(same_words(rows, workers)) for workers in (1, 4))
    assert one == four
    assert [finding.about for finding in one] == ["duplicates", "contradictions"]
    assert one[0].message.startswith("250 rows")


def test_personal_data_and_mixed_rates_are_warnings(tmp_path: Path) -> None:
    import numpy as np
    import soundfile

    (tmp_path / "set").mkdir()
    soundfile.write(tmp_path / "set" / "wide.wav", np.zeros(16_000, "int16"), 16_000)
    said = [*lines(12), *lines(12, "negative"), {"text": "my card is 4111 1111 1111 1111", "sentiment": "neutral"}]
    settings = Settings(home=tmp_path / "home")
    for number, line in enumerate(said):
        line |= {"audio_filepath": f"{number}.wav", "duration": 0.5}
        tone(tmp_path / "set" / f"{number}.wav")
    wide = {"text": "so wide", "sentiment": "neutral", "audio_filepath": "wide.wav", "duration": 1}
    manifest(tmp_path / "set" / "train.json", [*said, wide])
    made = import_dataset(settings, tmp_path / "set", "set", by="root")
    report = check(Place(settings.learn_url), made)
    assert findings(report, "personal data") == ["warning: 1 rows seem to hold personal data: card"]
    assert findings(report, "audio") == ["warning: codecs are mixed: pcm_16 at 8000 Hz (25), pcm_16 at 16000 Hz (1)"]
    assert report.may_train


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_choice_that_is_not_like_everything_is_told(share: float) -> None:
    from storage.datasets.shares import shares

    everything = [
        {"queue": ("a", "b")[n % 2], "site": "", "role": "", "sentiment": "", "call": n} for n in range(10_000)
    ]
    rows = [
        {"queue": "a" if n < share * 400 else "b", "site": "", "role": "", "sentiment": "", "call": n}
        for n in range(400)
    ]
    (report,) = shares(rows, everything)
    assert report.differs == (share == 0.9)
    of_one_call = [{**row, "call": 1} for row in rows]
    assert not shares(of_one_call, everything)[0].differs, "sentences of one call are one choice"
