"""Final transcripts of a channel as sentences, also where the recogniser cut one in two.

    utterances   |I'd like to move. My card is|  |at the old address.|  |Thanks.|
    sentences     a ------------ b ----------     b again, longer        c
    revision      0              0                1                      0

A sentence is published as soon as its utterance is over. If the next utterance of the channel turns out to continue it,
it is published again under the same id with the next revision, as long as it has become.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nlp.segmenter import LONGEST, CharSpan, spans
from tenor.events import Transcript, Word

PAUSE_MS = 3000
"""After a longer pause a sentence is over, however it ended."""
STOP_MS = 1500
"""After a full stop a sentence goes on only sooner than this."""
SHORT_PAUSE_MS = 800
"""Without punctuation and capitals the pause is all there is to go by."""
CUT_MS = 300
"""No recogniser ends an utterance after so short a pause, unless because it had become too long."""

_FINISHED = re.compile(r"[.?!…\u061F\u06D4\u3002\uFF01\uFF1F][^\s\w]*$")
_TRAILING = re.compile(r"[,;:\u2013\u2014-]$")
_ELLIPSIS = re.compile(r"(\.\.\.|…)$")
_LAST_WORD = re.compile(r"([\w']+)[^\s\w]*$")
_FIRST_WORD = re.compile(r"[\w']+")
_NEVER_LAST = {"and", "or", "but", "because", "the", "a", "an", "my", "your", "our", "their", "if", "than"}
"""Words no sentence ends with, whatever stop the recogniser put after them."""
_SELDOM_LAST = _NEVER_LAST | {
    *("to", "of", "for", "with", "from", "at", "in", "on", "is", "are", "was", "which", "who"),
    *("i", "we", "his", "her"),
}  # fmt: skip

_BEGINS = {
    *("that", "this", "these", "those", "it", "there", "you", "we", "they", "he", "she", "i", "your", "my"),
    *("what", "how", "why", "but", "so"),
}  # fmt: skip
"""Words that begin a sentence after a full stop, whether they have a capital or not."""
_STOP = re.compile(r"(?<!\.)(?<!\.\w)\.$")
"""A full stop, but none of letters such as a.m."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as it was said, not analyzed yet."""

    id: str
    revision: int
    start_ms: int
    end_ms: int
    text: str
    role: str = ""
    before: str | None = None
    """The sentence before in the call, whoever said it."""
    times: Mapping[str, float] = field(default_factory=dict)
    channel: int = 0
    confidence: float | None = None
    """How sure the recogniser was of the utterances that it is of; None: it does not say."""


class SentenceBuilder:
    """One channel of one call."""

    def __init__(self, *, written: bool = False) -> None:
        self._written = written
        self._open: Draft | None = None
        """What the next utterance may continue."""
        self._start_ms = -1

    def add(self, final: Transcript, before: str | None = None) -> list[Draft]:
        """The sentences of the next final transcript, the first of them perhaps a longer form of the last one.
        `before`: the newest sentence of the call so far."""
        found = spans(final.text)
        drafts: list[Draft] = []
        for number, (span, (start_ms, end_ms)) in enumerate(zip(found, _times(final, found), strict=True)):
            text = final.text[slice(*span)]
            begun = self._open if number == 0 else None
            if begun is not None and _joins(begun, text, start_ms):
                joined = f"{_STOP.sub('', begun.text)} {text}"  # as it goes on, it had not stopped
                longer = max(end_ms, begun.end_ms)
                both = _mean_confidence(begun, text, final.confidence)
                drafts.append(
                    replace(
                        begun, revision=begun.revision + 1, end_ms=longer, text=joined, times=final.times,
                        confidence=both,
                    )
                )  # fmt: skip
            else:
                drafts.append(self._new(final, number, start_ms, end_ms, text, before))
            before = drafts[-1].text
        if drafts:
            self._open = None if self._written else drafts[-1]
        return drafts

    def rename(self, draft: Draft) -> None:
        """One of its sentences was said by somebody else than was thought."""
        if self._open is not None and self._open.id == draft.id:
            self._open = draft

    def _new(self, final: Transcript, number: int, start_ms: int, end_ms: int, text: str, before: str | None) -> Draft:
        start_ms = max(start_ms, self._start_ms + 1)  # words may have the same time; sentences are told apart by it
        if self._written:
            name = final.utterance if number == 0 else f"{final.utterance}.{number}"
        else:
            name = f"{final.call}/{final.channel}/{start_ms}"
        self._start_ms = start_ms
        sure = final.confidence or None
        return Draft(
            name, 0, start_ms, max(start_ms, end_ms), text, final.role, before, final.times, final.channel, sure
        )


def _mean_confidence(begun: Draft, text: str, confidence: float) -> float | None:
    """Of a sentence that goes on: each part counts as its length."""
    if begun.confidence is None or not confidence:
        return begun.confidence or confidence or None
    length = len(begun.text) + len(text)
    return (len(begun.text) * begun.confidence + len(text) * confidence) / length


def _joins(before: Draft, after: str, start_ms: int) -> bool:
    return len(before.text) + len(after) < LONGEST and continues(before.text, after, start_ms - before.end_ms)


def continues(before: str, after: str, pause_ms: int) -> bool:
    """Whether `after` goes on with the sentence that `before` began, `pause_ms` earlier."""
    if pause_ms > PAUSE_MS:
        return False
    last = _LAST_WORD.search(before)
    word = last[1].lower() if last else ""
    if word in _NEVER_LAST or _TRAILING.search(before):
        return True
    if _FINISHED.search(before) and not _ELLIPSIS.search(before):
        # Some recognisers put a full stop after every utterance, but begin a new sentence with a capital.
        begins = _FIRST_WORD.match(after)
        own = begins is not None and begins[0].partition("'")[0] in _BEGINS
        return before.endswith(".") and after[:1].islower() and not own and pause_ms <= STOP_MS
    if word in _SELDOM_LAST or pause_ms < CUT_MS:
        return True
    if not after[:1].islower():
        return False
    has_capitals = before != before.lower()
    return has_capitals or pause_ms <= SHORT_PAUSE_MS


def _times(final: Transcript, found: Sequence[CharSpan]) -> list[tuple[int, int]]:
    """When each sentence begins and ends: by its words, or in proportion where the recogniser gives none."""
    words = _placed(final.text, final.words)
    length_ms, size = final.end_ms - final.start_ms, max(1, len(final.text))
    times = []
    for start, end in found:
        said = [word for place, word in words if start <= place < end]
        if said:
            times.append((said[0].start_ms, max(word.end_ms for word in said)))
        else:
            times.append((final.start_ms + length_ms * start // size, final.start_ms + length_ms * end // size))
    return times


def _placed(text: str, words: Sequence[Word]) -> list[tuple[int, Word]]:
    """Words with the place in the text where they stand; none when they are not the text's."""
    placed, at = [], 0
    for word in words:
        place = text.find(word.text, at)
        if place < 0:
            return []
        placed.append((place, word))
        at = place + len(word.text)
    return placed
