"""What a recogniser learns from: spans of recordings with the words that people wrote for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import soundfile

from finetune.corpus.speech_folder import CHANNEL
from finetune.recipes.base import RunRecord, TrainingRow
from tenor.errors import BadInput

_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")
_SOUNDS = frozenset({"noise", "laughter", "laugh", "cough", "breath", "music", "silence", "ringing", "dogs", "baby"})
"""Tags for what is no speech. Any other tag ([unintelligible], <unk>, [name]) stands for words that are not written."""
LEAST_SEGMENTS = 20
"""With fewer segments to learn from nothing is learned but these."""
_LONGEST_MS = 27_000
"""A segment must fit into a window, with its margins."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """One span of one channel."""

    audio: Path
    channel: int
    start_ms: int
    end_ms: int
    text: str
    """What people wrote, without tags; nothing if nobody speaks."""
    split: str

    @property
    def ms(self) -> int:
        return self.end_ms - self.start_ms


@dataclass(slots=True)
class SpeechData:
    """Segments that can be used, and what was left out and why."""

    segments: list[SpeechSegment] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    faults: list[str] = field(default_factory=list)
    """Files that could not be read, each with its reason."""


def spoken_words(text: str) -> str | None:
    """The text without its tags and broken-off words; None if a tag stands for words."""
    tags = {tag.strip("[]<> ").lower() for tag in _TAG.findall(text)}
    if tags - _SOUNDS:
        return None
    return " ".join(word for word in _TAG.sub(" ", text).split() if not word.endswith("~"))


def from_rows(rows: Iterable[TrainingRow]) -> SpeechData:
    """The rows that have audio, and words that people wrote. A row's channel is in its origin, the first if it does not
    say."""
    data = SpeechData()
    for row in rows:
        if row.audio is None or row.split not in ("train", "val"):
            continue
        if not row.written:  # else the recogniser would be taught its own mistakes
            data.left_out["not written down by people"] += 1
            continue
        text = spoken_words(row.text)
        channel = int(row.origin.get(CHANNEL, "0"))
        if text is None:
            data.left_out["words missing in the text"] += 1
        elif not 0 < row.end_ms - row.start_ms <= _LONGEST_MS:
            data.left_out["empty or too long"] += 1
        else:
            segment = SpeechSegment(Path(row.audio), channel, row.start_ms, row.end_ms, text, row.split)
            data.segments.append(segment)
    return data


def readable(data: SpeechData) -> SpeechData:
    """Without the segments whose recording is missing, broken or shorter than they say."""
    lengths: dict[Path, tuple[int, int]] = {}
    for path in dict.fromkeys(segment.audio for segment in data.segments):
        try:
            info = soundfile.info(path)
            lengths[path] = info.frames * 1000 // info.samplerate, info.channels
        except (OSError, RuntimeError) as error:
            data.faults.append(f"{path.name}: {error}")
    kept = []
    for segment in data.segments:
        ms, channels = lengths.get(segment.audio, (0, 0))
        if segment.end_ms <= ms + 50 and segment.channel < channels:
            kept.append(segment)
        else:
            data.left_out["no audio"] += 1
    return replace(data, segments=kept)


def usable_segments(rows: Iterable[TrainingRow], record: RunRecord) -> list[SpeechSegment]:
    """Those of rows whose recordings can be read; the record is told what is left out."""
    data = readable(from_rows(rows))
    for fault in data.faults:
        record.note(f"left out: {fault}")
    for why, count in data.left_out.items():
        record.note(f"left out: {count} segments, {why}")
    return data.segments


def enough_to_train(found: Iterable[SpeechSegment]) -> None:
    """BadInput where too few segments with words are there to train on."""
    spoken = sum(bool(one.text) for one in found if one.split == "train")
    if spoken < LEAST_SEGMENTS:
        raise BadInput(
            f"only {spoken} segments with words can be trained on, at least {LEAST_SEGMENTS} are needed",
            "audio comes first: `tenor archive` with learn.audio, or `tenor dataset import FOLDER`",
        )


def by_channel(segments: Sequence[SpeechSegment]) -> list[list[int]]:
    """The numbers of each channel's segments, in the order in which they were spoken."""
    channels: dict[tuple[Path, int], list[int]] = defaultdict(list)
    for number, segment in enumerate(segments):
        channels[segment.audio, segment.channel].append(number)
    return [sorted(numbers, key=lambda number: segments[number].start_ms) for numbers in channels.values()]
