"""Every label compared with all others of the same words: what is said twice, and what contradicts itself.

Words are cut into parts by their hash, so that any number of processes finds the same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import msgspec
from sqlalchemy import select
from sqlmodel import Session

from storage.labels.trust.agreement import LABEL
from storage.tables import Sentence, Turn

SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
TURN = Turn.__table__  # type: ignore[attr-defined]
AROUND = " .,!?"


class LabelledWords(msgspec.Struct, frozen=True):
    """What one person says of one sentence or turn."""

    words: str
    kind: str
    value: str
    author: str
    item: str


class Contradiction(msgspec.Struct, frozen=True):
    """Words that people label differently."""

    words: str
    kind: str
    """`intent of turns` is told apart: the assistant has intents of its own."""
    values: dict[str, list[str]]
    """The sentences and turns by what was said of them, the most frequent first."""


def labelled_words(session: Session) -> list[LabelledWords]:
    """What everybody says now, with the words; held labels are left out."""
    found = select(LABEL.c.sentence, LABEL.c.turn, LABEL.c.kind, LABEL.c.value, LABEL.c.author)
    found = found.add_columns(SENTENCE.c.text, TURN.c.input)
    found = found.outerjoin(SENTENCE, SENTENCE.c.id == LABEL.c.sentence).outerjoin(TURN, TURN.c.id == LABEL.c.turn)
    found = found.where(LABEL.c.kind.in_(("sentiment", "intent", "slots")), ~LABEL.c.held)
    newest: dict[tuple[str, str, str], LabelledWords] = {}
    for row in session.execute(found.order_by(LABEL.c.at.desc(), LABEL.c.id.desc())):
        item, kind = row.sentence or row.turn, row.kind if row.sentence else f"{row.kind} of turns"
        words = " ".join((row.text if row.text is not None else row.input or "").split())
        newest.setdefault((item, kind, row.author), LabelledWords(words, kind, row.value, row.author, item))
    return list(newest.values())


def find_contradictions(labels: Sequence[LabelledWords], workers: int = 1) -> list[Contradiction]:
    """Words with more than one answer, in their order. The answer does not depend on the number of processes."""
    parts: list[list[LabelledWords]] = [[] for _ in range(workers)]
    for label in labels:
        digest = hashlib.sha256(plain(label.words).encode("utf-8", "surrogatepass")).digest()
        parts[int.from_bytes(digest[:4]) % workers].append(label)
    if workers == 1:
        found = _of_part(parts[0])
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            found = [one for some in pool.map(_of_part, parts) for one in some]
    return sorted(found, key=lambda one: (one.kind, plain(one.words)))


def plain(words: str) -> str:
    """Case and end marks do not matter."""
    return words.lower().strip(AROUND)


def _of_part(labels: Sequence[LabelledWords]) -> list[Contradiction]:
    by_words: dict[tuple[str, str], list[LabelledWords]] = defaultdict(list)
    for label in labels:
        by_words[label.kind, plain(label.words)].append(label)
    found = []
    for (kind, _), some in by_words.items():
        values: dict[str, set[str]] = defaultdict(set)
        for label in some:
            values[label.value].add(label.item)
        if len(values) > 1:
            ordered = sorted(values.items(), key=lambda pair: (-len(pair[1]), pair[0]))
            words = min(label.words for label in some)
            found.append(Contradiction(words, kind, {value: sorted(items) for value, items in ordered}))
    return found
