"""A conversation as people keep it in a text file.

    Agent: How can I help?            [10:02] Customer: My parcel ...        12/03/2026, 10:02 - Anna: Hi

Where most lines name who speaks, every such line begins a message and the others go on with it. Else a message is
a paragraph, or a line if no line is empty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from ingest.text.message import Message
from ingest.text.speakers import known
from ingest.text.timestamps import parse

_PEEK = 500
"""Lines that decide of what form the file is."""
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DATE = r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})"
_TIME = rf"(?:{_DATE}(?:T|,?\s+){_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?|{_CLOCK})"
_TURN = re.compile(
    rf"\s*+(?:[\[(]?(?P<time>{_TIME})[\])]?\s*+[-\u2013\u2014]?\s*+)?"
    rf"(?P<speaker>[^\W\d_][^:\n<>\"/\[(]{{0,39}}?)\s*+(?:[\[(](?P<later>{_TIME})[\])]\s*+)?:(?:\s++(?P<text>.*)|\s*+)$"
)
_NAME_WORDS = 4


def read(lines: Iterable[str]) -> Iterator[Message]:
    lines = iter(lines)
    first = list(islice(lines, _PEEK))
    speakers = _speakers(first)
    everything = chain(first, lines)
    if speakers:
        return _turns(everything, speakers)
    filled = "\n".join(line.strip() for line in first).strip()
    return _paragraphs(everything) if "\n\n" in filled else (Message(line) for line in everything)


def _speakers(lines: Iterable[str]) -> set[str]:
    """Who speaks; empty when the file is no dialogue."""
    filled = [line for line in lines if line.strip()]
    turns = [turn for line in filled if (turn := _turn(line))]
    counts = Counter(turn["speaker"] for turn in turns)
    told = {turn["speaker"] for turn in turns if turn["time"] or turn["later"]}
    all_turns = len(turns) == len(filled)
    speakers = {name for name, count in counts.items() if known(name) or name in told or count > 1 or all_turns}
    enough = sum(counts[name] for name in speakers) * 3 >= len(filled)
    return speakers if enough and (len(speakers) > 1 or any(map(known, speakers)) or told) else set()


def _turn(line: str) -> re.Match[str] | None:
    turn = _TURN.match(line.rstrip("\n"))
    return turn if turn and len(turn["speaker"].split()) <= _NAME_WORDS else None


def _turns(lines: Iterable[str], speakers: set[str]) -> Iterator[Message]:
    speaker, at, said = "", None, list[str]()
    for line in lines:
        turn = _turn(line)
        if turn and (turn["speaker"] in speakers or known(turn["speaker"]) or turn["time"]):
            yield Message("\n".join(said), speaker, at)
            speaker, said = turn["speaker"], [turn["text"] or ""]
            at = parse(turn["time"] or turn["later"] or "")
        else:
            said.append(line.strip())
    yield Message("\n".join(said), speaker, at)


def _paragraphs(lines: Iterable[str]) -> Iterator[Message]:
    said: list[str] = []
    for line in chain(lines, [""]):
        if line.strip():
            said.append(line.strip())
        elif said:
            yield Message("\n".join(said))
            said = []
