"""Which partition a call belongs to. Both buses use this, so a call lies on the same one everywhere."""

from __future__ import annotations

from zlib import crc32

from tenor.errors import BadInput

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""The largest encoded event. Far above what the stages make, far below what a batch can carry."""


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key. Never change this: calls in flight would lose their order."""
    return crc32(key.encode()) % partitions


def checked_size(topic: str, value: bytes) -> bytes:
    """`value`, if a bus can carry it."""
    if len(value) > MAX_EVENT_BYTES:
        raise BadInput(
            f"an event of {len(value) / 1e6:.1f} MB for {topic} is more than the bus carries",
            f"events are at most {MAX_EVENT_BYTES // 1024 // 1024} MB: send audio in shorter chunks",
        )
    return value
