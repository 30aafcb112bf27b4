"""What the first bytes of a file tell that FFmpeg does not pass on: whether all of it is there."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from ingest.warnings import Warnings
from tenor.errors import BadInput


def read_header(file: BinaryIO, name: str, warnings: Warnings) -> bool:
    """Whether an MP3 tells its exact length. Refuses empty files, and warns of a WAV that was cut off."""
    head = file.read(12)
    if not head:
        raise BadInput(f"{name} is empty")
    if head[:4] == b"RIFF" and head[8:] == b"WAVE":
        _compare(file, struct.unpack("<I", head[4:8])[0] + 8, warnings)
    start = 0
    if head[:3] == b"ID3" and len(head) == 12:
        start = 10 + sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
    file.seek(start)
    first_frame = file.read(256)
    file.seek(0)
    return any(mark in first_frame for mark in (b"Xing", b"Info", b"VBRI"))


def _compare(file: BinaryIO, announced: int, warnings: Warnings) -> None:
    """Programs that write to a pipe leave a size of 0 or of about 4 GB in the header: those know nothing."""
    size = file.seek(0, os.SEEK_END)
    if size < announced < 0xFFFF_0000:
        warnings.add(f"incomplete: the file ends after {100 * size // announced} % of its length")
