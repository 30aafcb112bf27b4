"""Sentences of calls by many hands, with who speaks and what was said before: one file per hand, JSON lines.

    {"text", "role", "medium", "industry", "sentiment", "intent", "also": [], "before", "tags": []}

A file whose name begins with `frozen` is for measuring only, one whose name begins with `calibration` for choosing
temperatures and thresholds only. Files may be compressed (`.jsonl.gz`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from finetune.corpus.datasets import lines
from finetune.corpus.examples import LanguageExample
from tenor.errors import BadInput
from tenor.taxonomy.intents import UNKNOWN, Taxonomy

DEFAULT = Path(__file__).parents[1] / "data" / "calls"
FROZEN, CALIBRATION = "frozen", "calibration"
SAME_SIDE = "(same)"
"""How `before` begins where the same side said it."""
SENTIMENTS = ("negative", "neutral", "positive")


class CallSentence(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    role: str = ""
    before: str | None = None
    sentiment: str
    intent: str
    also: tuple[str, ...] = ()
    """Intents that would do as well."""
    medium: str = ""
    industry: str = ""
    tags: tuple[str, ...] = ()
    """Hard cases that it is one of."""
    hand: str = ""

    @property
    def said_before(self) -> str | None:
        return (self.before or "").removeprefix(SAME_SIDE).strip() or None


@dataclass(frozen=True, slots=True)
class CallCorpus:
    learned: list[CallSentence] = field(default_factory=list)
    calibration: list[CallSentence] = field(default_factory=list)
    apart: list[CallSentence] = field(default_factory=list)
    """To measure with."""


def read(folder: Path, taxonomy: Taxonomy) -> CallCorpus:
    files = sorted(path for path in folder.glob("*.jsonl*") if path.is_file())
    if not files:
        raise BadInput(f"{folder} holds no sentences of calls", "one file per hand, NAME.jsonl")
    corpus = CallCorpus()
    for path in files:
        found = read_hand(path, taxonomy)
        if path.name.startswith(FROZEN):
            corpus.apart.extend(found)
        elif path.name.startswith(CALIBRATION):
            corpus.calibration.extend(found)
        else:
            corpus.learned.extend(found)
    return corpus


def read_hand(path: Path, taxonomy: Taxonomy) -> list[CallSentence]:
    known = {*taxonomy.names, UNKNOWN}
    found = []
    for number, line in enumerate(lines(path), 1):
        try:
            row = msgspec.json.decode(line, type=CallSentence)
        except msgspec.MsgspecError as error:
            raise BadInput(f"{path}, line {number}: {error}") from None
        wrong = [name for name in (row.intent, *row.also) if name not in known]
        if row.sentiment not in SENTIMENTS:
            wrong.append(row.sentiment)
        if wrong:
            raise BadInput(f"{path}, line {number}: there is no label {', '.join(map(repr, wrong))}")
        found.append(row)
    return found


def examples(rows: Sequence[CallSentence]) -> list[LanguageExample]:
    return [
        LanguageExample(
            row.text,
            {"sentiment": (row.sentiment,), "intent": (row.intent, *row.also)},
            role=row.role,
            before=row.said_before,
        )
        for row in rows
    ]
