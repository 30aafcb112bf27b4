"""Somebody else's data as a dataset: words and audio go into the archive's store, and a version names them."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import soundfile

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.archive.lock import changing
from storage.archive.parts import Part
from storage.datasets.manifest import DatasetVersion, checked_name, content_hash, find, save, versions
from storage.datasets.sources import read_source
from storage.datasets.sources.types import ImportedRow, ImportedSet
from storage.datasets.splits import SplitRow, assign, group_of, plain_words, with_val
from storage.datasets.versions import counts_of, labels_of, rows_table
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.reading import is_endless
from tenor.settings import Settings

Progress = Callable[[int, int], None]
OVERHANG_S = 1.0
"""So far may the last words go beyond the end of their recording: people round."""
MOST_CHANNELS = 8
"""Of a file; the next file of a conversation counts on from there."""


def import_dataset(
    settings: Settings,
    path: Path,
    name: str,
    *,
    by: str,
    viewer: Viewer = HOUSE,
    progress: Progress = lambda *_: None,
) -> DatasetVersion:
    """A new version of what a file or folder holds; the newest one, if it holds just that."""
    viewer.must_train("import datasets")
    checked_name(name)
    given = read_source(path)
    if not given.rows:
        raise BadInput(f"{path} holds no sentence")
    with changing(settings) as place:
        blobs = BlobStore(place)
        sound = _audio(given, name, blobs, progress)
        said = _sentences(given, name, sound)
        parts = (
            _part(blobs, "sentences", name, said),
            *([_part(blobs, "audio", name, sound.table)] if sound.rows else ()),
        )
        split = _split(given, said)
        table = rows_table(_rows(given, said, split.splits))
        rows = blobs.put(tables.to_bytes(table))
        there = versions(place, name)
        hashed = content_hash(rows, parts)
        if there and (newest := find(place, f"{name}@{there[-1]}")).hash == hashed:
            return newest
        made = DatasetVersion(
            name=name,
            version=there[-1] + 1 if there else 1,
            parent=there[-1] if there else None,
            made_at=time.time(),
            by=by,
            source="import",
            query=f"{given.form} {path.name}",
            hash=hashed,
            rows=rows,
            parts=parts,
            counts=counts_of(table),
            left_out=split.left_out,
            declared=_is_declared(given),
            labels=labels_of(table),
            bytes=sum(part.bytes + part.below for part in parts),
            dictionaries=given.dictionaries,
        )
        save(place, made)
        return made


class _Sound:
    """Channels of the set's recordings, and which of them a row is on."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.channel: dict[tuple[str, Path, int], int] = {}
        """Within the call: several files may be one conversation."""

    @property
    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, tables.AUDIO)


def _audio(given: ImportedSet, name: str, blobs: BlobStore, progress: Progress) -> _Sound:
    """Every channel that a row is on, as FLAC at its own rate; a file that cannot be read is named."""
    found = _Sound()
    wanted: dict[tuple[str, Path], set[int]] = {}
    last: dict[tuple[str, Path], ImportedRow] = {}
    for row in given.rows:
        if row.audio:
            own = row.call, row.audio
            wanted.setdefault(own, set()).add(row.channel)
            last[own] = max(last.get(own, row), row, key=lambda one: one.end_ms)
    files: dict[str, list[Path]] = {}
    for call, path in wanted:
        files.setdefault(call, []).append(path)
    for number, ((call, path), channels) in enumerate(wanted.items(), 1):
        try:
            with soundfile.SoundFile(path) as sound:
                if is_endless(sound.frames / sound.samplerate, path.stat().st_size):
                    raise BadInput(f"{path} unpacks without end", "take it out of the set")
                samples, rate, codec = (
                    sound.read(dtype="int16", always_2d=True),
                    sound.samplerate,
                    sound.subtype.lower(),
                )
        except (OSError, RuntimeError) as error:
            raise BadInput(f"{path} cannot be read: {error}", "repair it, or take it out of the set") from None
        _check_end(last[call, path], path, samples.shape[0] / rate)
        for channel in sorted(channels):
            if not 0 <= channel < samples.shape[1]:
                raise BadInput(f"{path} has {samples.shape[1]} channels, and a row is on channel {channel + 1}")
            out = io.BytesIO()
            soundfile.write(out, samples[:, channel], rate, "PCM_16", format="FLAC")
            content = out.getvalue()
            number_in_call = files[call].index(path) * MOST_CHANNELS + channel
            found.channel[call, path, channel] = number_in_call
            found.rows.append(
                {
                    "call": f"{name}:{call}",
                    "channel": number_in_call,
                    "role": "",
                    "sha256": blobs.put(content),
                    "codec": codec,
                    "recording": path.name,
                    "bytes": len(content),
                    "rate": rate,
                    "frames": samples.shape[0],
                    "sample": False,
                }
            )
        progress(number, len(wanted))
    return found


def _check_end(last: ImportedRow, path: Path, seconds: float) -> None:
    """Nobody speaks after the end of a recording: such a row has times of something else."""
    if last.end_ms / 1000 > seconds + OVERHANG_S:
        raise BadInput(
            f"{path} is {seconds:.1f} s long, and {last.text[:40]!r} is to be at {last.start_ms / 1000:.1f} to "
            f"{last.end_ms / 1000:.1f} s",
            "are its times in seconds, or in milliseconds where a record has ms?",
        )


def _sentences(given: ImportedSet, name: str, sound: _Sound) -> pa.Table:
    """As the archive's, in the order of the set; ids say where a row lies, so that one that comes twice is seen."""
    rows = []
    for row in given.rows:
        channel = sound.channel[row.call, row.audio, row.channel] if row.audio else row.channel
        call = f"{name}:{row.call}"
        empty = dict.fromkeys(("sentiment", "sentiment_scores", "intent", "slots", "models"), "")
        rows.append(
            {
                **empty,
                "id": f"{call}/{channel}/{row.start_ms}",
                "call": call,
                "customer": f"{name}:{row.customer}" if row.customer else "",
                "agent": row.agent,
                "queue": row.queue,
                "site": row.site,
                "medium": "voice" if row.audio else "text",
                "role": row.role,
                "channel": channel,
                "start_ms": row.start_ms,
                "end_ms": row.end_ms,
                "spoken_at": row.at + row.start_ms / 1000,
                "text": row.text,
                "intent_score": 0.0,
                "sample": False,
            }
        )
    return pa.Table.from_pylist(rows, tables.SENTENCES)


def _part(blobs: BlobStore, kind: Any, name: str, table: pa.Table) -> Part:
    content = tables.to_bytes(table)
    return Part(
        kind=kind,
        key=f"import/{name}",
        sha256=blobs.put(content),
        bytes=len(content),
        rows=table.num_rows,
        calls=len(tables.calls_in(table)),
        below=sum(table["bytes"].to_pylist()) if kind == "audio" else 0,
    )


def _is_declared(given: ImportedSet) -> bool:
    return any(row.split for row in given.rows)


class _Split(msgspec.Struct):
    splits: list[str]
    left_out: dict[str, int]


def _split(given: ImportedSet, said: pa.Table) -> _Split:
    """The set's own; a part of what it declares for training is for choosing among models, if it declares none for
    that. A set that declares nothing is split as ours are."""
    groups = [group_of(row["customer"], row["call"]) for row in said.select(["customer", "call"]).to_pylist()]
    if not _is_declared(given):
        made = assign(
            [
                SplitRow(call=row.call, group=group, at=row.at, words=plain_words(row.text), trusted=True)
                for row, group in zip(given.rows, groups, strict=True)
            ]
        )
        return _Split(made.splits, made.left_out)
    declared = [row.split or "train" for row in given.rows]
    if "val" not in declared and not given.dictionaries:
        sizes = Counter(group for group, split in zip(groups, declared, strict=True) if split == "train")
        chosen = with_val(dict(sizes))
        declared = [chosen[group] if split == "train" else split for group, split in zip(groups, declared, strict=True)]
    return _Split(declared, {})


def _rows(given: ImportedSet, said: pa.Table, splits: list[str]) -> list[dict[str, Any]]:
    rows = []
    for row, sentence, split in zip(given.rows, said.to_pylist(), splits, strict=True):
        if split:
            rows.append(_row(row, sentence, split))
    return rows


def _row(row: ImportedRow, sentence: dict[str, Any], split: str) -> dict[str, Any]:
    return {
        "id": sentence["id"],
        "call": sentence["call"],
        "group": group_of(sentence["customer"], sentence["call"]),
        "split": split,
        "sentiment": row.sentiment,
        "intent": row.intent,
        "tags": msgspec.json.encode(row.tags).decode() if row.tags is not None else None,
        "why": "import",
        "people": 1,
        "weight": 1.0,
        "at": row.at,
    }
