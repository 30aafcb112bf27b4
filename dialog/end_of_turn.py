"""Whether a spoken line is finished: who ends in "in the" goes on, and what follows belongs to the same turn.

Times are those of records, so a successor joins the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import msgspec

from dialog.exchange import CallInput

PATIENCE_S: Final = 1.5
"""How long the end of an unfinished line is waited for."""
OPEN_ENDS: Final = frozenset(
    (
        *("um", "uh", "er", "erm", "hmm", "like"),
        *("a", "an", "the", "my", "your", "our", "this", "these", "some", "any"),
        *("in", "at", "on", "for", "to", "of", "from", "with", "near", "by", "about", "around", "between", "under"),
        *("over", "and", "or", "but", "because", "if", "than", "as"),
        *("hundred", "thousand", "point", "plus", "minus", "number"),
    )
)
_WORD: Final = re.compile(r"[\w']+")


def is_unfinished(text: str) -> bool:
    """A question mark ends a line whatever its last word ("which one is it in?")."""
    if text.rstrip().endswith(("?", "!")):
        return False
    words = _WORD.findall(text.lower())
    return bool(words) and words[-1] in OPEN_ENDS


def lines_of_turn(waiting: Sequence[CallInput]) -> list[CallInput]:
    """The lines that make the next turn: the first that waits, and if it is unfinished, what follows it in time."""
    first = waiting[0]
    joined = [first]
    if first.kind == "heard":
        for line in takewhile(lambda one: one.kind == "heard", list(waiting)[1:]):
            if not is_unfinished(joined[-1].text) or line.at - joined[-1].at > PATIENCE_S:
                break
            joined.append(line)
    return joined


def is_waited_for(lines: Sequence[CallInput], now: float) -> bool:
    """Whether more of the line may come."""
    last = lines[-1]
    return last.kind == "heard" and is_unfinished(last.text) and now < last.at + PATIENCE_S


def joined(lines: Sequence[CallInput]) -> CallInput:
    """One input of several lines."""
    last = lines[-1]
    if len(lines) == 1:
        return last
    text = " ".join(line.text for line in lines)
    event = msgspec.structs.replace(last.event, text=text)  # type: ignore[type-var]
    cause = tuple(utterance for line in lines for utterance in line.cause)
    return CallInput(
        kind=last.kind, event=event, at=last.at, text=text, cause=cause, end_ms=last.end_ms, topic=last.topic,
        offset=last.offset, times=last.times,
    )  # fmt: skip
