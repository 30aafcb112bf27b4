"""What the head that finds names and places learns from, and how it is measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml

from dialog.values.place.gazetteer import gazetteer
from finetune.corpus import datasets, harper_valley, mixture
from finetune.corpus.examples import LabelledText, Span, TaggedText, unmarked
from finetune.corpus.templates import Words, written
from finetune.evaluate.report import Scores
from tenor.redaction import Finder

KINDS = ("person", "place")
LABELS = ("O", *(f"I-{kind}" for kind in KINDS))
USED = ("own", "harper-valley", "goemotions", "nlupp", "snips", "clinc150", "banking77")
"""Of `datasets.SOURCES`; beside them the cities of `dialog/values/place`."""
HELD_OUT = 6
"""One name in so many is never learned, so that the head is measured on people it has not met."""
NOISE = 0.12
"""Share of names with a letter wrong, as a recogniser that never heard of them writes them."""
_NAME = re.compile(r"\[NAME\]")
_MARKED = re.compile(r"\[[A-Z]+\]")


@dataclass(frozen=True)
class Names:
    """Words to fill sentences with: `first`, `last`, `city`, `state`, `street`."""

    words: Words

    def person(self, random: Random) -> str:
        form = random.choice(("{first}", "{first}", "{first} {last}", "{last}"))
        return form.format(first=self._one("first", random), last=self._one("last", random))

    def _one(self, kind: str, random: Random) -> str:
        return heard(random.choice(self.words[kind]), random)


def names(*, known: bool) -> Names:
    """Those to learn from, or those to measure with."""
    tree = yaml.load((datasets.OWN / "names.yaml").read_text("utf-8"), yaml.BaseLoader)
    words = {}
    for kind, lines in tree.items():
        split = str.split if kind in ("first", "last") else (lambda line: line.split(", "))
        found = [name for line in lines for name in split(line)]
        words[kind] = [name for at, name in enumerate(found) if (at % HELD_OUT != 0) == known]
    return Names(words)


def with_gazetteer(known: Names) -> Names:
    """With the cities of GeoNames, and streets that are called like people: nobody can write down all places. What
    shares a word with a place to measure with is left out."""
    unknown = names(known=False).words
    met = {word for kind in ("city", "state", "street") for place in unknown[kind] for word in place.split()}
    places = gazetteer()
    cities = [name for name in places.places if met.isdisjoint(name.split()) and not places.is_ordinary(name)]
    streets = [name for name in known.words["last"] if name not in met]
    return Names({**known.words, "city": [*known.words["city"], *cities], "street": [*known.words["street"], *streets]})


def heard(name: str, random: Random) -> str:
    """Now and then with a letter wrong."""
    if len(name) < 4 or random.random() >= NOISE:
        return name
    at = random.randrange(1, len(name))
    return name[:at] + random.choice(("", random.choice("aeioulnrst"))) + name[at + random.choice((0, 1)) :]


def corpus(data: Path, seed: int) -> list[TaggedText]:
    """Everything that ships may learn from, with names and places marked and nothing else."""
    random = Random(seed)
    known = names(known=True)
    calls = list(harper_valley.calls(data, "text-only"))
    talk = [row.text for row in _comments(data)]
    rows = [
        *own(known, random, most=120),
        *_placed(own(with_gazetteer(known), random, most=240)),
        *(_only(row) for row in datasets.own_slots(random, most=30)),
        *(_only(row) for row in datasets.nlupp(data, mixture.LEARNED_FOLDS)),
        *random.sample([_only(row) for row in datasets.snips(data)], 1200),
        *_renamed(calls, known, random, most=9000),
        *_filled(talk, known, random, most=6000),
        *_nameless(data, known, random, most=4000),
    ]
    return mixture.allowed(rows)


def own(known: Names, random: Random, *, most: int) -> list[TaggedText]:
    """Sentences of our own patterns."""
    tree = yaml.load((datasets.OWN / "redaction.yaml").read_text("utf-8"), yaml.BaseLoader)
    words: dict[str, Sequence[str]] = {**tree["words"], **known.words, "letter": list("abcdefghijklmnoprstvwy")}
    found = []
    for pattern in tree["sentences"]:
        found += [_misheard(unmarked(text), random) for text in written(pattern, words, random, most=most)]
    return found


def figures(finder: Finder, seed: int) -> Scores:
    """How many words of names and places it finds, and how many of those it finds are one, with names it never met."""
    rows = own(names(known=False), Random(seed + 1), most=30)
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for row in rows:
        there = {(at, kind) for start, end, kind in row.spans for at in _words(row.text, start, end)}
        found = {(at, span.kind) for span in finder.find(row.text, final=True) for at in _words(row.text, *span[:2])}
        for kind, count in counts.items():
            count[0] += sum(one[1] == kind for one in there & found)
            count[1] += sum(one[1] == kind for one in there)
            count[2] += sum(one[1] == kind for one in found)
    return {
        f"{kind} {name}": hits / total
        for kind, (hits, real, taken) in counts.items()
        for name, total in (("recall", real), ("precision", taken))
    }


def _words(text: str, start: int, end: int) -> Iterator[int]:
    """Where the words begin that the characters touch."""
    return (word.start() for word in re.finditer(r"\S+", text) if word.start() < end and start < word.end())


def _misheard(row: TaggedText, random: Random) -> TaggedText:
    def change(value: str, kind: str) -> str:
        return " ".join(heard(word, random) for word in value.split()) if kind == "person" else value

    return replaced(row, change)


def replaced(row: TaggedText, change: Callable[[str, str], str]) -> TaggedText:
    """The sentence with other values in its marked places."""
    text, spans, done = "", [], 0
    for start, end, kind in row.spans:
        text += row.text[done:start]
        value = change(row.text[start:end], kind)
        spans.append((len(text), len(text) + len(value), kind))
        text += value
        done = end
    return TaggedText(text + row.text[done:], tuple(spans))


def _placed(rows: Iterable[TaggedText]) -> list[TaggedText]:
    """Those with a place in them."""
    return [row for row in rows if any(kind == "place" for *_, kind in row.spans)]


def _renamed(calls: Iterable[harper_valley.HarperCall], known: Names, random: Random, *, most: int) -> list[TaggedText]:
    """Sentences of real calls, most of them with other people and places in them: the set has twenty names."""

    def change(value: str, kind: str) -> str:
        if random.random() < 0.2:
            return value
        if kind == "person":
            return " ".join(
                heard(random.choice(known.words["last" if at else "first"]), random) for at in range(len(value.split()))
            )
        last = value.split()[-1]
        if last in ("street", "avenue"):
            return value.replace(value.split()[-2], random.choice(known.words["street"]))
        return random.choice(known.words["state" if last in ("california", "oregon") else "city"])

    rows = [_only(row) for call in calls for row in harper_valley.valued(call)]
    marked = [row for row in rows if row.spans]
    plain = [row for row in rows if not row.spans]
    chosen = [*random.sample(marked, min(len(marked), most // 2)), *random.sample(plain, min(len(plain), most // 2))]
    return [replaced(row, change) for row in chosen]


def _filled(texts: Sequence[str], known: Names, random: Random, *, most: int) -> list[TaggedText]:
    """Comments whose names were taken out when the set was made, with ours put in."""
    marked = [text for text in texts if _NAME.search(text)]
    plain = [text for text in texts if not _MARKED.search(text)]
    chosen = [*random.sample(marked, min(len(marked), most // 2)), *random.sample(plain, most // 2)]
    found = []
    for text in chosen:
        mark = _NAME.sub(lambda _: f"<person {known.person(random)}>", text.replace("<", " ").replace(">", " "))
        found.append(unmarked(mark))
    return found


def _nameless(data: Path, known: Names, random: Random, *, most: int) -> list[TaggedText]:
    """What people ask for; sentences with a word that may be a name are left out, since nobody marked them."""
    doubtful = {word for values in known.words.values() for value in values for word in value.split()}
    doubtful |= {word for values in names(known=False).words.values() for value in values for word in value.split()}
    texts = [
        row.text
        for name in ("clinc150", "banking77")
        for row in datasets.intents(data / "nlu" / name / "train.jsonl.gz")
    ]
    clean = [text for text in texts if doubtful.isdisjoint(re.findall(r"[a-z']+", text.lower()))]
    return [TaggedText(text) for text in random.sample(clean, min(len(clean), most))]


def _comments(data: Path) -> Iterator[LabelledText]:
    return (row for row in datasets.goemotions(data, named=True) if len(row.text.split()) <= 20)


def _only(row: TaggedText) -> TaggedText:
    spans: list[Span] = [span for span in row.spans if span[2] in KINDS]
    return TaggedText(row.text, tuple(spans))
