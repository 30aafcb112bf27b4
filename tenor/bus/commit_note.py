"""What a commit tells whoever takes over the partition."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from tenor.bus import Commit, Progress


class Handover(msgspec.Struct, frozen=True, omit_defaults=True):
    """Offsets on the topics that the stage itself publishes to, or that it reads side by side: what they mean is
    between a stage and its successor."""

    transcripts: int = 0
    calls: int = 0
    reached: int = 0
    """How far the stage has come on the topic of the commit, when it holds on to earlier records: for those who ask
    whether it goes on."""
    resting: dict[str, int] = {}
    """Calls that are over, but may go on, with the offset at which each began."""

    def write(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str) -> Handover:
        """Beginning from the beginning is slow, never wrong."""
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(text, type=cls)
        return cls()


def progress(commit: Commit | None, oldest: int, end: int) -> Progress:
    committed = max(oldest, commit.offset if commit else 0)
    return Progress(committed, max(committed, Handover.read(commit.note).reached if commit else 0), end)
