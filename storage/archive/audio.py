"""Audio of recorded calls: one FLAC per channel, at the rate of the recording, and a table of a day that names them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import soundfile
import structlog

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.archive.days import RecordedCall
from storage.archive.sealing.tables import blocks_of, is_sealed
from storage.labels.effective import side
from storage.recorder.store import RecordingStore

log = structlog.get_logger(__name__)

BLOCK = 1 << 20
"""Samples of a channel in memory at once."""


def audio_table(
    calls: list[RecordedCall], known: pa.Table, recordings: RecordingStore, blobs: BlobStore, done: Callable[[], None]
) -> pa.Table:
    """The channels of all calls. Those that `known` has of the same recording are not decoded again; a recording that
    cannot be read is told and left out."""
    had: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in known.to_pylist():
        had.setdefault((row["call"], row["recording"]), []).append(row)
    rows: list[dict[str, Any]] = []
    for call in calls:
        mark = f"{call.recording}@{call.state_at:.3f}"
        found = had.get((call.id, mark))
        if found is None:
            try:
                found = _channels(call, mark, recordings, blobs)
            except (FileNotFoundError, soundfile.SoundFileError, RuntimeError) as error:
                log.warning("a recording cannot be archived", call=call.id, reason=type(error).__name__)
                found = []
        for row in found:
            row["role"] = _role(call, row["channel"])
        rows += found
        done()
    return pa.Table.from_pylist(rows, tables.AUDIO)


def sounds(blobs: BlobStore, sha256: str) -> Iterator[tuple[str, int, str]]:
    """The blobs that a table of audio names: hash, size, and of what it is. Needs no keys."""
    content = blobs.get(sha256)
    if is_sealed(content):
        for row in blocks_of(content, ("key", "blobs", "bytes")).to_pylist():
            for one, size in zip(row["blobs"], row["bytes"], strict=True):
                yield one, size, f"audio of the call with key {row['key']}"
        return
    for row in tables.from_bytes(content, ["call", "channel", "sha256", "bytes"]).to_pylist():
        yield row["sha256"], row["bytes"], f"audio of call {row['call']}, channel {row['channel']}"


def _channels(call: RecordedCall, mark: str, recordings: RecordingStore, blobs: BlobStore) -> list[dict[str, Any]]:
    with recordings.open(call.recording) as file, soundfile.SoundFile(file) as sound:
        outs = [io.BytesIO() for _ in range(sound.channels)]
        encoders = [soundfile.SoundFile(out, "w", sound.samplerate, 1, "PCM_16", format="FLAC") for out in outs]
        for block in sound.blocks(BLOCK, dtype="int16", always_2d=True):
            for number, encoder in enumerate(encoders):
                encoder.write(block[:, number])
        for encoder in encoders:
            encoder.close()
        codec = str(call.attributes.get("codec") or Path(call.recording).suffix.lstrip("."))
        kept = [blobs.sound_bytes(call.id, out.getvalue()) for out in outs]
        return [
            {
                "call": call.id,
                "channel": number,
                "sha256": blobs.put(content),
                "codec": codec,
                "recording": mark,
                "bytes": len(content),
                "rate": sound.samplerate,
                "frames": sound.frames,
                "sample": call.sample,
            }
            for number, content in enumerate(kept)
        ]


def _role(call: RecordedCall, channel: int) -> str:
    told = call.roles[channel] if channel < len(call.roles) else ""
    return side(told, call.swapped)
