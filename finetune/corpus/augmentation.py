"""More sentences for the assistant from those there are: other values, other spelling, fillers; and by pattern.

`finetune/data/assistant/patterns.yaml` holds the values, the patterns and short phrases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from finetune.corpus import templates
from finetune.corpus.assistant_corpus import OWN, TALK, Utterance
from tenor.taxonomy.assistant import NO_MATCH, OUTSIDE, SLOT_NAMES, routed_intent

PATTERNS = OWN / "patterns.yaml"
HAND = "patterns"
FILLERS = (
    "um",
    "uh",
    "so",
    "well",
    "please",
    "like",
    "okay",
    "hey",
    "actually",
    "you know",
    "i mean",
    "er",
    "ah",
    "now",
)
BEFORE = (
    "hi",
    "hey",
    "hello",
    "ok so",
    "um",
    "uh",
    "so",
    "well",
    "excuse me",
    "quick question",
    "sorry",
    "and",
    "okay",
)
AFTER = ("please", "thanks", "dear", "do you know", "thank you", "man", "if you don't mind", "would you", "then")
ARTICLES = frozenset({"a", "an", "the"})
RAMBLING = 0.15
"""Share of changed sentences with a clause before, and of those with one after."""
SWAPPED = 0.6
"""Share of values that become another of their kind in a changed sentence."""
_MARK = re.compile(r"<([\w.]+) ([^<>]+)>")
_PUNCTUATION = re.compile(r"[,!?;\".:]+$|^[\"(]+")


@dataclass(frozen=True, slots=True)
class Patterns:
    words: Mapping[str, Sequence[str]]
    """What a placeholder may become, with the mark of its slot."""
    values: Mapping[str, Sequence[str]]
    """The values of each slot, without those that stand for a place without a preposition."""
    patterns: Mapping[str, Sequence[str]]
    fragments: Sequence[str]
    phrases: Mapping[str, Sequence[str]]
    before: Sequence[str]
    after: Sequence[str]
    """Clauses around a sentence."""
    short: Mapping[str, str]


@cache
def read_patterns(path: Path = PATTERNS) -> Patterns:
    tree: Any = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
    words: dict[str, list[str]] = {}
    values: dict[str, list[str]] = {}
    for name, entry in tree["words"].items():
        slot = entry.get("slot")
        words[name] = [f"<{slot} {value}>" if slot else value for value in entry["values"]]
        if slot and name != "here":
            values.setdefault(slot, []).extend(entry["values"])
    return Patterns(
        words,
        values,
        tree["patterns"],
        tree["fragments"],
        tree["phrases"],
        tree["before"],
        tree["after"],
        tree["slots"],
    )


def from_patterns(random: Random, *, each: int) -> list[Utterance]:
    """`each` sentences of every pattern, four times as many of every fragment, and every phrase once."""
    known = read_patterns()
    found = []
    for intent, patterns in known.patterns.items():
        for pattern in patterns:
            texts = templates.written(pattern, known.words, random, most=each)
            found += [_marked(text, routed_intent(intent), known.short) for text in texts]
    for pattern in known.fragments:
        texts = templates.written(pattern, known.words, random, most=4 * each)
        found += [replace(_marked(text, NO_MATCH, known.short), weight=0.0) for text in texts]
    for intent, phrases in known.phrases.items():
        found += [_phrase(phrase.split(), intent) for phrase in phrases]
    return [one for one in found if one.words]


def _phrase(words: Sequence[str], intent: str) -> Utterance:
    """Without slots; what is no match may name values, of which nothing is said."""
    tags = None if intent == NO_MATCH else (OUTSIDE,) * len(words)
    return Utterance(tuple(words), tags, intent, HAND)


def _marked(text: str, intent: str, short: Mapping[str, str]) -> Utterance:
    words: list[str] = []
    tags: list[str] = []
    last = 0
    for mark in [*_MARK.finditer(text), None]:
        for word in text[last : mark.start() if mark else len(text)].split():
            words.append(word)
            tags.append("B-article" if word in ARTICLES else OUTSIDE)
        if mark is None:
            break
        slot = short.get(mark[1], mark[1])
        if slot not in SLOT_NAMES:
            raise ValueError(f"{PATTERNS}: no slot is called {slot!r}")
        inner = mark[2].split()
        if inner[0] in ARTICLES:  # a slot of its own
            words.append(inner.pop(0))
            tags.append("B-article")
        words += inner
        tags += [f"B-{slot}", *[f"I-{slot}"] * (len(inner) - 1)]
        last = mark.end()
    return Utterance(tuple(words), tuple(tags), intent, HAND)


def augmented(rows: Sequence[Utterance], random: Random, copies: int) -> list[Utterance]:
    """The rows, and `copies` changed ones of each."""
    return [*rows, *(changed(row, random) for _ in range(copies) for row in rows)]


def changed(row: Utterance, random: Random) -> Utterance:
    """Another sentence that means the same."""
    parts = _parts(row)
    if row.tags is not None:
        parts = [_swapped(part, random) for part in parts]
    words = [word for part, _ in parts for word in part]
    tags = [tag for part, slot in parts for tag in _bio(len(part), slot)]
    words, tags = _with_fillers(words, tags, random)
    words, tags = _with_clauses(words, tags, random, articles=row.weight == 0 or not row.intent.startswith(TALK))
    if random.random() < 0.3:
        _misspell(words, random)
    if random.random() < 0.5:
        words = [_PUNCTUATION.sub("", word) or word for word in words]
    elif random.random() < 0.3 and words[-1][-1].isalnum():
        words[-1] += random.choice("?.!")
    return Utterance(tuple(words), tuple(tags) if row.tags is not None else None, row.intent, row.hand, row.weight)


Part = tuple[list[str], str | None]
"""Words, and the slot they are."""


def _parts(row: Utterance) -> list[Part]:
    parts: list[Part] = []
    for word, tag in zip(row.words, row.tags or [OUTSIDE] * len(row.words), strict=True):
        if tag.startswith("I-") and parts:
            parts[-1][0].append(word)
        else:
            parts.append(([word], None if tag == OUTSIDE else tag[2:]))
    return parts


def _bio(length: int, slot: str | None) -> list[str]:
    return [OUTSIDE] * length if slot is None else [f"B-{slot}", *[f"I-{slot}"] * (length - 1)]


def _swapped(part: Part, random: Random) -> Part:
    """Another value of the same slot, with the punctuation of the first."""
    words, slot = part
    known = read_patterns()
    if slot is None or slot not in known.values or random.random() >= SWAPPED:
        return part
    if slot == "location" and " ".join(words) in {mark[10:-1] for mark in known.words["here"]}:
        return part
    ending = re.search(r"[,!?;.:]*$", words[-1])
    value = random.choice(known.values[slot]).split()
    if value[0] in ARTICLES:
        value = value[1:]
    value[-1] += ending[0] if ending else ""
    return value, slot


def _with_fillers(words: list[str], tags: list[str], random: Random) -> tuple[list[str], list[str]]:
    if random.random() < 0.25:
        first = random.choice(BEFORE).split()
        words, tags = [*first, *words], [*[OUTSIDE] * len(first), *tags]
    if random.random() < 0.15:
        last = random.choice(AFTER).split()
        words, tags = [*words, *last], [*tags, *[OUTSIDE] * len(last)]
    if random.random() < 0.2 and len(words) > 3:
        places = [at for at in range(1, len(words)) if not tags[at].startswith("I-")]
        at, filler = random.choice(places), random.choice(FILLERS).split()
        words, tags = [*words[:at], *filler, *words[at:]], [*tags[:at], *[OUTSIDE] * len(filler), *tags[at:]]
    return words, tags


def _with_clauses(words: list[str], tags: list[str], random: Random, *, articles: bool) -> tuple[list[str], list[str]]:
    """`articles`: whether they are marked, as in questions; small talk is left plain."""
    known = read_patterns()
    for clauses in (known.before, known.after):
        if random.random() < RAMBLING:
            clause = random.choice(clauses).split()
            marked = ["B-article" if articles and word in ARTICLES else OUTSIDE for word in clause]
            words = [*clause, *words] if clauses is known.before else [*words, *clause]
            tags = [*marked, *tags] if clauses is known.before else [*tags, *marked]
    return words, tags


def _misspell(words: list[str], random: Random) -> None:
    """One letter of one longer word dropped, doubled, or exchanged with the next."""
    long = [at for at, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return
    at = random.choice(long)
    word = words[at]
    place = random.randrange(1, len(word) - 1)
    words[at] = random.choice(
        [
            word[:place] + word[place + 1 :],
            word[:place] + word[place] + word[place:],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        ]
    )
