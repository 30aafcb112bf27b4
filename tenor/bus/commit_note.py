"""What a commit tells whoever takes over the partition."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from tenor.bus import Commit, Progress
from tenor.errors import BadInput

MAX_BYTES = 4000
"""Of a commit's note. Kafka takes 4096 unless its operator says otherwise (offset.metadata.max.bytes)."""
SMALLEST_ENTRY = len('"":0,')


class CommitNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """Offsets on the topics that the stage itself publishes to, or that it reads side by side: what they mean is
    between a stage and its successor."""

    transcripts: int = 0
    calls: int = 0
    reached: int = 0
    """How far the stage has come on the topic of the commit, when it holds on to earlier records: for those who ask
    whether it goes on."""
    resting: dict[str, int] = {}
    """Calls that are over, but may go on, with the offset at which each began."""

    def with_resting(self, calls: Iterable[tuple[str, int]]) -> CommitNote:
        """With as many of `calls`, given in order of importance, as there is room for."""
        resting = dict[str, int]()
        bare = msgspec.structs.replace(self, resting=resting)
        room = MAX_BYTES - len(bare.write()) - len(',"resting":{}')
        for call, began in calls:
            size = len(msgspec.json.encode({call: began})) - 1  # a comma in place of two braces
            if size <= room:
                resting[call] = began
                room -= size
            if room < SMALLEST_ENTRY:
                break
        return msgspec.structs.replace(bare, resting=resting)

    def write(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str) -> CommitNote:
        """Beginning from the beginning is slow, never wrong."""
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(text, type=cls)
        return cls()


def progress(commit: Commit | None, oldest: int, end: int) -> Progress:
    committed = max(oldest, commit.offset if commit else 0)
    return Progress(committed, max(committed, CommitNote.read(commit.note).reached if commit else 0), end)


def checked_note(note: str) -> str:
    """`note`, if a commit can carry it."""
    if len(note.encode()) > MAX_BYTES:
        raise BadInput(f"a commit's note of {len(note.encode())} bytes is more than {MAX_BYTES}")
    return note
