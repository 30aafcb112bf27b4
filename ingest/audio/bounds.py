"""What a recording may turn out to be, however small it is packed."""

from __future__ import annotations

from collections.abc import Iterator

from ingest.audio.types import AudioFormat, AudioReader, BrokenSource, Samples
from tenor.errors import BadInput
from tenor.reading import is_endless, reading

LOWEST_RATE, HIGHEST_RATE = 1000, 768_000
MOST_SAMPLES = 8_000_000
"""A second, of all channels: 32 channels of the best microphones."""


def check_format(name: str, audio: AudioFormat) -> None:
    if not LOWEST_RATE <= audio.rate <= HIGHEST_RATE or audio.rate * len(audio.channels) > MOST_SAMPLES:
        raise BadInput(f"{name} holds no audio that can be heard: {audio.rate} Hz, {len(audio.channels)} channels")


def blocks_of(reader: AudioReader, name: str) -> Iterator[Samples]:
    """All of its blocks. Whatever a decoder raises is an error of the recording, and so is audio without end."""
    heard = 0
    with reading(name, BrokenSource):
        for block in reader.blocks():
            heard += len(block)
            if is_endless(heard / reader.format.rate, reader.packed_bytes):
                raise BrokenSource(f"{name} cannot be read on: {reader.packed_bytes:,} bytes that unpack without end")
            yield block
