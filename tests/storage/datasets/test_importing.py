"""Other people's data become datasets; what does not belong there is named, and nothing is imported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from storage.datasets import find, listing, open_dataset
from storage.datasets.exporting import export_manifests, export_nemo_slots, export_tree
from storage.datasets.importing import import_dataset
from storage.datasets.splits import group_of
from storage.place import Place
from storage.transfer.nemo import FILES, LabelledLine, nemo_files
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused
from tenor.settings import Settings
from tests.ingest.audio.sounds import silent_flac
from tests.storage.datasets.material import calls_folder, manifest, tone


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def test_a_folder_of_calls_is_a_dataset_with_audio(settings: Settings, tmp_path: Path) -> None:
    folder = calls_folder(tmp_path / "train", calls=12)

    made = import_dataset(settings, folder, "hv", by="root")

    assert (made.reference, made.declared, made.counts["train"] + made.counts["val"]) == ("hv@1", True, 24)
    with open_dataset(settings, "hv@1") as dataset:
        row = next(row for row in dataset.rows() if row.id == "hv:call3/1/900")
        assert (row.text, row.role, row.before, row.start_ms, row.end_ms) == (
            "how can i help [noise]", "agent", "hello this is caller 3", 900, 1700,
        )  # fmt: skip
        assert row.audio is not None
        heard, rate = soundfile.read(row.audio, dtype="int16")
        told, _ = soundfile.read(folder / "audio" / "call3.flac", dtype="int16")
        assert (rate, np.array_equal(heard, told[:, 1])) == (8000, True)
    again = import_dataset(settings, folder, "hv", by="root")
    assert again == made, "the same data make no new version"
    calls_folder(folder, calls=13)
    later = import_dataset(settings, folder, "hv", by="root")
    assert (later.version, later.parent) == (2, 1)


def test_a_recording_that_unpacks_without_end_is_refused(settings: Settings, tmp_path: Path) -> None:
    """Its samples would be taken into memory at once."""
    folder = calls_folder(tmp_path / "train", calls=2)
    (folder / "audio" / "call1.flac").write_bytes(silent_flac(30 * 3600, channels=2))
    with pytest.raises(BadInput, match=r"call1\.flac unpacks without end"):
        import_dataset(settings, folder, "hv", by="root")
    assert list(listing(Place(settings.learn_url))) == []


@pytest.mark.parametrize(
    "stray", ["audio/Touch Bar Shot 2020-03-12 at 7.53.13 PM.png", "calls/weights.pkl", "audio/call99.flac"]
)
def test_a_stray_file_is_refused_by_name(settings: Settings, tmp_path: Path, stray: str) -> None:
    folder = calls_folder(tmp_path / "train", calls=2)
    (folder / stray).write_bytes(b"cos\nsystem\n(S'touch /tmp/owned'\ntR.")
    with pytest.raises(BadInput) as caught:
        import_dataset(settings, folder, "hv", by="root")
    assert stray in caught.value.message
    assert list(listing(Place(settings.learn_url))) == []


def test_a_manifest_keeps_its_split_and_its_conversations(settings: Settings, tmp_path: Path) -> None:
    for number in range(4):
        tone(tmp_path / "set" / "FinanceWatch" / "acme_2021-05-03" / f"{number}.wav", seed=number)
    said = [
        {"audio_filepath": f"FinanceWatch/acme_2021-05-03/{number}.wav", "duration": 0.5, "text": f"line {number}"}
        for number in range(4)
    ]
    manifest(tmp_path / "set" / "train_manifest.json", said[:3])
    manifest(tmp_path / "set" / "test_manifest.json", said[3:])

    import_dataset(settings, tmp_path / "set", "calls", by="root")

    with open_dataset(settings, "calls") as dataset:
        rows = list(dataset.rows())
        assert {row.call for row in rows} == {"calls:FinanceWatch/acme_2021-05-03"}
        assert [row.text for row in dataset.rows("test")] == ["line 3"]
        assert export_tree(dataset, tmp_path / "tree") == 4
        assert export_manifests(dataset, tmp_path / "nemo") == 4
    texts = sorted((tmp_path / "tree" / "FinanceWatch" / "acme_2021-05-03").glob("*.txt"))
    assert sorted(path.read_text().strip() for path in texts) == [f"line {number}" for number in range(4)]
    back = import_dataset(settings, tmp_path / "tree" / "FinanceWatch", "back", by="root")
    with open_dataset(settings, back.reference) as dataset:
        assert {row.call for row in dataset.rows()} == {"back:FinanceWatch/acme_2021-05-03"}
    (line,) = (tmp_path / "nemo" / "test_manifest.json").read_text().splitlines()
    told = json.loads(line)
    assert (told["text"], told["duration"]) == ("line 3", 0.5)
    assert import_dataset(settings, tmp_path / "nemo", "again", by="root").counts["test"] == 1


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"audio_filepath": "a.wav", "duration": 1}', "line 2.*text"),
        (b'{"audio_filepath": "a.wav", "duration": -1, "text": ""}', "line 2.*stretch"),
        (b'{"audio_filepath": "../../etc/passwd", "duration": 1, "text": ""}', "line 2.*no recording"),
        (b'{"audio_filepath": "a.wav", "duration": 1, "text": "\xff"}', "line 2"),
        (b'{"audio_filepath": "a.wav", "dura', "line 2"),
        (b'{"audio_filepath": "a.wav", "duration": 1e308, "text": ""}', "line 2.*stretch"),
        (b'{"audio_filepath": "a.wav", "duration": 1000, "text": "late"}', "1.0 s long, and 'late'"),
        (b'{"audio_filepath": "a.wav", "duration": 1, "offset": 40, "text": "late"}', "1.0 s long, and 'late'"),
    ],
)
def test_a_wrong_line_is_named(settings: Settings, tmp_path: Path, line: bytes, complaint: str) -> None:
    tone(tmp_path / "set" / "a.wav")
    good = b'{"audio_filepath": "a.wav", "duration": 1, "text": "fine"}\n'
    (tmp_path / "set" / "manifest.json").write_bytes(good + line + b"\n")
    with pytest.raises(BadInput, match=complaint):
        import_dataset(settings, tmp_path / "set", "bad", by="root")
    assert list(listing(Place(settings.learn_url))) == []


def test_what_is_no_manifest_is_told_what_one_is(settings: Settings, tmp_path: Path) -> None:
    for name, content in (("labels.csv", "text,intent\nhello,greeting\n"), ("sound.wav", "RIFF"), ("set.json", "[]")):
        (tmp_path / name).write_text(content)
        with pytest.raises(BadInput, match=f"{name} is no manifest") as caught:
            import_dataset(settings, tmp_path / name, "bad", by="root")
        assert "audio_filepath, duration and text" in caught.value.hint


def test_a_manifest_as_other_programs_write_it(settings: Settings, tmp_path: Path) -> None:
    """With a byte order mark, speakers as numbers, and an offset that is null."""
    tone(tmp_path / "set" / "a.wav")
    said = {"audio_filepath": "a.wav", "duration": 1.3, "offset": None, "speaker": 1272, "text": "fine", "lang": "en"}
    (tmp_path / "set" / "manifest.json").write_text(json.dumps(said), "utf-8-sig")
    made = import_dataset(settings, tmp_path / "set", "hv", by="root")
    with open_dataset(settings, made.reference) as dataset:
        [row] = dataset.rows()
        assert (row.text, row.start_ms, row.group) == ("fine", 0, group_of("hv:1272", row.call))


def test_half_a_recording_is_named(settings: Settings, tmp_path: Path) -> None:
    tone(tmp_path / "set" / "a.flac", 5)
    whole = (tmp_path / "set" / "a.flac").read_bytes()
    (tmp_path / "set" / "a.flac").write_bytes(whole[:20])
    manifest(tmp_path / "set" / "m.json", [{"audio_filepath": "a.flac", "duration": 1, "text": "x"}])
    with pytest.raises(BadInput, match=r"a\.flac"):
        import_dataset(settings, tmp_path / "set", "bad", by="root")


def test_nemos_intents_and_slots_come_back_byte_for_byte(settings: Settings, tmp_path: Path) -> None:
    words = ["where is the nearest store", "how much is the red shirt", "will it rain", "find a shop", "what is up"]
    tags = [("O",) * len(text.split()) for text in words]
    lines = [LabelledLine(text, "find_the_store", own) for text, own in zip(words, tags, strict=True)]
    (tmp_path / "given").mkdir()
    for name, text in nemo_files(lines).items():
        (tmp_path / "given" / name).write_text(text)

    made = import_dataset(settings, tmp_path / "given", "nara", by="root")
    with open_dataset(settings, made.reference) as dataset:
        assert export_nemo_slots(dataset, tmp_path / "back") == len(words)

    for name in FILES:
        assert (tmp_path / "back" / name).read_bytes() == (tmp_path / "given" / name).read_bytes(), name


def test_only_who_may_train_imports_and_opens(settings: Settings, tmp_path: Path) -> None:
    folder = calls_folder(tmp_path / "train", calls=2)
    with pytest.raises(Refused, match="does not import"):
        import_dataset(settings, folder, "hv", by="mia", viewer=Viewer("mia", "manager"))
    import_dataset(settings, folder, "hv", by="ann", viewer=Viewer("ann", "analyst"))
    with pytest.raises(Refused, match="does not use"):
        open_dataset(settings, "hv@1", viewer=Viewer("amir", "agent"))


def test_what_is_not_there_is_said(settings: Settings, tmp_path: Path) -> None:
    import_dataset(settings, calls_folder(tmp_path / "train", calls=2), "hv", by="root")
    place = Place(settings.learn_url)
    for reference, complaint in (("hw@1", "there are: hv"), ("hv@2", "no version"), ("hv@x", "no version")):
        with pytest.raises(BadInput, match=complaint):
            find(place, reference)
    with pytest.raises(BadInput, match="name of a dataset"):
        import_dataset(settings, tmp_path / "train", "../hv", by="root")
    with pytest.raises(BadInput, match="there is no"):
        import_dataset(settings, tmp_path / "none", "hv", by="root")


def test_read_speech_as_librispeech_has_it(settings: Settings, tmp_path: Path) -> None:
    chapter = tmp_path / "LibriSpeech" / "dev-clean-2" / "84" / "121123"
    for number in range(3):
        tone(chapter / f"84-121123-{number:04}.flac", seed=number)
    said = "".join(f"84-121123-{number:04} GO DO YOU HEAR {number}\n" for number in range(3))
    (chapter / "84-121123.trans.txt").write_text(said)
    (tmp_path / "LibriSpeech" / "SPEAKERS.TXT").write_text("84 | F")
    made = import_dataset(settings, tmp_path / "LibriSpeech", "read", by="root")
    assert made.counts == {"test": 3}
    with open_dataset(settings, "read") as dataset:
        assert [row.text for row in dataset.rows()] == [f"go do you hear {number}" for number in range(3)]
    (chapter / "84-121123-0001.flac").unlink()
    with pytest.raises(BadInput, match="84-121123-0001"):
        import_dataset(settings, tmp_path / "LibriSpeech", "read", by="root")
