"""Dead letters: what a stage could not read or handle, with the reason and the place where it lies."""

from __future__ import annotations

import time

from tenor.bus import Record
from tenor.events import DeadLetter


def dead_letter(stage: str, record: Record, reason: str) -> DeadLetter:
    return DeadLetter(
        call=record.key,
        stage=stage,
        reason=reason,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        value=record.value,
        at=time.time(),
    )
