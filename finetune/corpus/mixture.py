"""The recipe of the model that ships: which examples teach which head."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from finetune.corpus import datasets, harper_valley
from finetune.corpus.examples import LabelledText, LanguageExample, TaggedText, plain
from finetune.train.batches import HeadCorpus, bio
from tenor.taxonomy.intents import UNKNOWN, Taxonomy

SENTIMENTS = ("negative", "neutral", "positive")
SLOTS = ("date", "time", "amount", "person", "place", "product", "company", "number")
LEARNED_FOLDS, MEASURED_FOLDS = range(16), range(16, 20)
"""NLU++ comes in twenty folds; a fifth of them is kept for measuring slots."""
USED = ("own", "goemotions", "uci", "harper-valley", "clinc150", "banking77", "hwu64", "nlupp", "snips")
LONGEST_WORDS = 12
FORMULA_WORDS = 6
GOEMOTIONS = 3500
"""Comments of each sentiment: how people talk elsewhere than in calls."""
_THANKS = re.compile(r"\b(?:thanks?|thx|ty|welcome|cheers)\b", re.IGNORECASE)
HEADS = ["sentiment", "intent", "slots"]
"""What ships; the head that only keeps public intents apart stays behind."""

Example = TypeVar("Example", LabelledText, TaggedText, LanguageExample)


def corpora(data: Path, taxonomy: Taxonomy, seed: int) -> list[HeadCorpus]:
    random = Random(seed)
    calls = list(harper_valley.calls(data, "text-only"))
    public = _public_intents(data, random)
    return [
        HeadCorpus("sentiment", allowed(_sentiment(data, calls, random)), SENTIMENTS),
        HeadCorpus("intent", allowed(_intents(data, taxonomy, calls, random)), (*taxonomy.names, UNKNOWN)),
        HeadCorpus("slots", allowed(_slots(data, calls, random)), bio(SLOTS)),
        # Without it the encoder would forget every difference between wishes that our taxonomy does not draw,
        # and intents added later by example would have nothing to be told apart by.
        HeadCorpus("public", allowed(public), sorted({row.label for row in public}), weight=0.5),
    ]


def slot_corpus(data: Path, seed: int) -> HeadCorpus:
    """For the head that is fitted on the trained layers: it learns quickly, so it gets more."""
    random = Random(seed)
    calls = list(harper_valley.calls(data, "text-only"))
    return HeadCorpus("slots", allowed(_slots(data, calls, random, generous=3)), bio(SLOTS))


def examples(corpora: Sequence[HeadCorpus]) -> list[LanguageExample]:
    """The examples of all heads, each with the one label it was made for."""
    found = []
    for corpus in corpora:
        for row in corpus.examples:
            if isinstance(row, TaggedText):
                found.append(LanguageExample(row.text, spans={corpus.head: row.spans}))
            else:
                found.append(LanguageExample(row.text, {corpus.head: (row.label,)}, role=row.role, before=row.before))
    return found


def _sentiment(data: Path, calls: Sequence[harper_valley.HarperCall], random: Random) -> list[LabelledText]:
    routine = list({row.text: row for call in calls for row in harper_valley.routine(call)}.values())
    return [
        *datasets.own_sentiment(random, most=16),
        *_capped(_felt(_short(datasets.goemotions(data))), GOEMOTIONS, random),
        *_capped(_short(datasets.uci(data)), 700, random),
        *_some(routine, 800, random),
    ]


def _intents(
    data: Path, taxonomy: Taxonomy, calls: Sequence[harper_valley.HarperCall], random: Random
) -> list[LabelledText]:
    nlu = data / "nlu"
    examples = [LabelledText(text, intent.name) for intent in taxonomy.intents for text in intent.examples]
    asked = list({(row.text, row.label): row for call in calls for row in harper_valley.wanted(call)}.values())
    clinc = _capped(datasets.intents(nlu / "clinc150" / "train.jsonl.gz"), 20, random)
    named = {row.text for row in datasets.translated(clinc, "clinc150")}
    others = _capped([row for row in clinc if row.text not in named], 6, random)
    talk = [row.text for row in _short(datasets.goemotions(data)) if row.label == "neutral"]
    known = set(taxonomy.names) | {UNKNOWN}
    found = [
        *examples * 2,
        *datasets.own_intents(random, most=12),
        *_capped(asked, 60, random),
        *datasets.translated(clinc, "clinc150"),
        *datasets.translated(_capped(datasets.intents(nlu / "banking77" / "train.jsonl.gz"), 12, random), "banking77"),
        *datasets.translated(_capped(datasets.intents(nlu / "hwu64" / "train.jsonl.gz"), 30, random), "hwu64"),
        *(LabelledText(row.text, UNKNOWN) for row in others),
        *(LabelledText(row.text, UNKNOWN) for row in datasets.intents(nlu / "clinc150" / "oos_train.jsonl.gz")),
        *(LabelledText(text, UNKNOWN) for text in _some(talk, 500, random)),
    ]
    return [row for row in found if row.label in known]  # an intent taken out of the taxonomy is not taught


def _slots(
    data: Path, calls: Sequence[harper_valley.HarperCall], random: Random, generous: int = 1
) -> list[TaggedText]:
    valued = sorted({row for call in calls for row in harper_valley.valued(call)}, key=lambda row: row.text)
    return [
        *datasets.nlupp(data, LEARNED_FOLDS),
        *datasets.own_slots(random, most=20 * generous),
        *_some(valued, 700 * generous, random),
        *_some(datasets.snips(data), 400 * generous, random),
    ]


def _public_intents(data: Path, random: Random) -> list[LabelledText]:
    return [
        LabelledText(row.text, f"{name}.{row.label}")
        for name in ("clinc150", "banking77")
        for row in _capped(datasets.intents(data / "nlu" / name / "train.jsonl.gz"), 10, random)
    ]


def _short(rows: Sequence[LabelledText]) -> list[LabelledText]:
    """Sentences as long as people speak them: written ones that are longer teach little about speech."""
    return [row for row in rows if len(row.text.split()) <= LONGEST_WORDS]


def _felt(rows: Sequence[LabelledText]) -> list[LabelledText]:
    """Without bare thanks: the public set calls them positive, we call politeness neutral."""
    return [row for row in rows if len(row.text.split()) > FORMULA_WORDS or not _THANKS.search(row.text)]


def allowed(examples: Iterable[Example]) -> list[Example]:
    """Without the sentences that are kept for measuring."""
    frozen = datasets.frozen()
    return [example for example in examples if plain(example.text) not in frozen]


def _capped(rows: Sequence[LabelledText], most: int, random: Random) -> list[LabelledText]:
    """At most so many of each label."""
    groups: dict[str, list[LabelledText]] = defaultdict(list)
    for row in rows:
        groups[row.label].append(row)
    return [row for label in sorted(groups) for row in _some(groups[label], most, random)]


_Any = TypeVar("_Any")


def _some(rows: Sequence[_Any], most: int, random: Random) -> list[_Any]:
    return list(rows) if len(rows) <= most else random.sample(list(rows), most)
