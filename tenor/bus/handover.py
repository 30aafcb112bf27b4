"""What a commit tells whoever takes over the partition."""

from __future__ import annotations

from contextlib import suppress

import msgspec


class Handover(msgspec.Struct, frozen=True):
    """Offsets on the topics that the stage itself publishes to, or that it reads side by side: what they mean is
    between a stage and its successor."""

    transcripts: int = 0
    calls: int = 0

    def write(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str) -> Handover:
        """Beginning from the beginning is slow, never wrong."""
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(text, type=cls)
        return cls()
