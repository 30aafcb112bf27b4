"""A dataset as files of others: NeMo's manifests with audio, its files of intents and slots, a tree of recordings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import msgspec
import soundfile

from storage.datasets.opening import DatasetRow, OpenDataset
from storage.transfer.exporter import file_name, put
from storage.transfer.nemo import FILES, HEADER, LabelledLine, nemo_files
from tenor.errors import BadInput
from tenor.taxonomy.assistant import printed_intent

Progress = Callable[[int, int], None]


def export_manifests(dataset: OpenDataset, folder: Path, progress: Progress = lambda *_: None) -> int:
    """`train_manifest.json` and the like, one line per stretch of speech, with the audio beside them."""
    rows = [row for row in dataset.rows() if row.audio]
    if not rows:
        raise BadInput(
            f"{dataset.version.reference} has no audio", "export it as a bundle, or as NeMo's files with --format nemo"
        )
    lines: dict[str, list[bytes]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    for done, row in enumerate(rows, 1):
        numbers[row.call] += 1
        name = f"audio/{file_name(row.call)}/{numbers[row.call]:05}.wav"
        duration = _cut(row, folder / name)
        said = {"audio_filepath": name, "duration": duration, "text": row.text, "speaker": row.group}
        said |= {kind: value for kind in ("sentiment", "intent") if (value := getattr(row, kind)) is not None}
        lines[row.split].append(msgspec.json.encode(said) + b"\n")
        progress(done, len(rows))
    for split, of_split in lines.items():
        put(folder / f"{split}_manifest.json", b"".join(of_split))
    return len(rows)


def export_tree(dataset: OpenDataset, folder: Path, progress: Progress = lambda *_: None) -> int:
    """DATASET_NAME/COMPANY_DATE/ with a recording and a text per row. A call that came with such names keeps them."""
    rows = [row for row in dataset.rows() if row.audio]
    if not rows:
        raise BadInput(f"{dataset.version.reference} has no audio")
    numbers: Counter[str] = Counter()
    for done, row in enumerate(rows, 1):
        numbers[row.call] += 1
        stem = folder.joinpath(*_conversation(row.call, dataset.version.name)) / f"{numbers[row.call]:05}"
        _cut(row, stem.with_suffix(".wav"))
        put(stem.with_suffix(".txt"), (row.text + "\n").encode("utf-8", "replace"))
        progress(done, len(rows))
    return len(rows)


def export_nemo_slots(dataset: OpenDataset, folder: Path) -> int:
    """The six files. A dataset that was imported from such files has them back byte for byte."""
    rows = [row for row in dataset.rows() if row.intent is not None and row.tags is not None]
    if not rows:
        raise BadInput(f"{dataset.version.reference} has no row with an intent and slots")
    dictionaries = dataset.version.dictionaries
    if dictionaries:
        made = _as_they_were(rows, dictionaries["intents"], dictionaries["slots"])
    else:
        made = nemo_files(
            LabelledLine(" ".join(row.text.split()), printed_intent(row.intent or ""), row.tags or ()) for row in rows
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        put(folder / name, text.encode("utf-8"))
    return len(rows)


def _as_they_were(rows: list[DatasetRow], intents: list[str], slots: list[str]) -> dict[str, str]:
    made = dict.fromkeys(FILES, "")
    made["dict.intents.csv"] = "".join(f"{name}\n" for name in intents)
    made["dict.slots.csv"] = "".join(f"{name}\n" for name in slots)
    number = {name: index for index, name in enumerate(slots)}
    made["train.tsv"] = made["test.tsv"] = HEADER
    for row in rows:
        side = "test" if row.split == "test" else "train"
        made[f"{side}.tsv"] += f"{row.text}\t{intents.index(row.intent or '')}\n"
        made[f"{side}_slots.tsv"] += " ".join(str(number[tag]) for tag in row.tags or ()) + "\n"
    return made


def _conversation(call: str, dataset: str) -> tuple[str, str]:
    """DATASET_NAME and COMPANY_DATE: as they came, or the dataset's name and the call's."""
    name, colon, own = call.partition(":")
    parts = own.split("/")
    if colon and len(parts) == 2 and all(re.fullmatch(r"[\w.-]+", part) and part.strip(".") for part in parts):
        return parts[0], parts[1]
    return (name if colon else dataset), file_name(own or call)


def _cut(row: DatasetRow, target: Path) -> float:
    """The stretch of a row as a file of its own; how many seconds."""
    assert row.audio is not None
    target.parent.mkdir(parents=True, exist_ok=True)
    with soundfile.SoundFile(row.audio) as sound:
        first = min(round(row.start_ms * sound.samplerate / 1000), sound.frames)
        last = min(round(row.end_ms * sound.samplerate / 1000), sound.frames)
        sound.seek(first)
        samples, rate = sound.read(last - first, dtype="int16"), sound.samplerate
    try:
        soundfile.write(target, samples, rate, "PCM_16")
    except (OSError, RuntimeError) as error:
        raise BadInput(f"cannot write {target}: {error}") from None
    return float(round(len(samples) / rate, 3))
