"""Public sets and our own sentences, read into examples. Which of them a shipped model may learn from is said here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from finetune.corpus.examples import LabelledText, Span, TaggedText, plain, unmarked
from finetune.corpus.templates import written
from tenor.errors import BadInput

OWN = Path(__file__).parents[1] / "data"
FROZEN = Path(__file__).parents[2] / "nlp" / "evaluation"


@dataclass(frozen=True, slots=True)
class DatasetSource:
    name: str
    title: str
    licence: str
    ships: bool
    """Whether the licence lets a model that learned from it be given away."""


SOURCES = {
    source.name: source
    for source in (
        DatasetSource("own", "Sentences of this project, `finetune/data`", "Apache-2.0", True),
        DatasetSource("goemotions", "GoEmotions (Demszky et al. 2020), grouped labels", "Apache-2.0", True),
        DatasetSource("uci", "UCI Sentiment Labelled Sentences (Kotzias et al. 2015)", "CC BY 4.0", True),
        DatasetSource("harper-valley", "Harper Valley Bank (Wu et al. 2020), text-only calls", "CC BY 4.0", True),
        DatasetSource("clinc150", "CLINC150 (Larson et al. 2019)", "CC BY 3.0", True),
        DatasetSource("banking77", "BANKING77 (Casanueva et al. 2020)", "CC BY 4.0", True),
        DatasetSource("hwu64", "HWU64 (Liu et al. 2019)", "CC BY 4.0", True),
        DatasetSource("nlupp", "NLU++ (Casanueva et al. 2022)", "CC BY 4.0", True),
        DatasetSource("snips", "Snips NLU benchmark (Coucke et al. 2018)", "CC0 1.0", True),
        DatasetSource("meld", "MELD (Poria et al. 2019)", "GPL-3.0, text from a television series", False),
    )
}

NLUPP_SLOTS = {
    "date": "date", "date_period": "date", "date_from": "date", "date_to": "date",
    "time": "time", "time_period": "time", "time_from": "time", "time_to": "time",
    "amount_of_money": "amount", "person_name": "person", "company_name": "company",
}  # fmt: skip
SNIPS_PLACES = {"city", "state", "country", "geographic_poi"}


def own_sentiment(random: Random, *, most: int = 12) -> list[LabelledText]:
    tree = _yaml("sentiment.yaml")
    return [
        LabelledText(text, label)
        for label in ("negative", "neutral", "positive")
        for pattern in tree[label]
        for text in written(pattern, tree["words"], random, most=most)
    ]


def own_intents(random: Random, *, most: int = 40) -> list[LabelledText]:
    tree = _yaml("intents.yaml")
    return [
        LabelledText(text, intent)
        for intent, patterns in tree["intents"].items()
        for pattern in patterns
        for text in written(pattern, tree["words"], random, most=most)
    ]


def own_slots(random: Random, *, most: int = 60) -> list[TaggedText]:
    tree = _yaml("slots.yaml")
    sentences = (text for pattern in tree["sentences"] for text in written(pattern, tree["words"], random, most=most))
    return [_without_article(unmarked(text)) for text in sentences]


def goemotions(data: Path, split: str = "train", *, named: bool = False) -> list[LabelledText]:
    """Comments that all raters put into one group; mixed and ambiguous ones are left out. `named` leaves the marks in
    place that stand where a name stood."""
    groups = {"1": "negative", "2": "neutral", "3": "positive"}
    found = []
    for line in lines(data / "sentiment" / "goemotions" / f"{split}.tsv.gz"):
        text, group, *_ = line.split("\t")
        if group in groups:
            found.append(LabelledText(text if named else text.replace("[NAME]", "he"), groups[group]))
    return found


def uci(data: Path) -> list[LabelledText]:
    folder = data / "sentiment" / "uci_sentences"
    return [
        LabelledText(row["text"], row["sentiment"])
        for name in ("amazon_cells", "yelp", "imdb")
        for row in _rows(folder / f"{name}.jsonl.gz")
    ]


def meld(data: Path, split: str = "dev") -> list[LabelledText]:
    return [LabelledText(row["text"], row["sentiment"]) for row in _rows(data / f"sentiment/meld/{split}.jsonl.gz")]


def intents(path: Path) -> list[LabelledText]:
    """A file of `{"text", "intent"}` lines, as clinc150, banking77 and hwu64 come."""
    found = []
    for number, row in enumerate(_rows(path), 1):
        if not isinstance(row.get("text"), str) or not isinstance(row.get("intent"), str):
            raise BadInput(
                f"{path}, line {number}: a text and an intent are needed", '{"text": "...", "intent": "..."}'
            )
        found.append(LabelledText(row["text"], row["intent"]))
    return found


def public_labels(source: str) -> dict[str, str]:
    """A public set's labels, and what we call them."""
    return {theirs: ours for ours, several in _yaml("public.yaml")[source].items() for theirs in several}


def translated(rows: Sequence[LabelledText], source: str, rest: str | None = None) -> list[LabelledText]:
    """A public set's labels as ours; those that are none of ours become `rest`, or are left out."""
    names = public_labels(source)
    found = ((row.text, names.get(row.label, rest)) for row in rows)
    return [LabelledText(text, label) for text, label in found if label is not None]


def nlupp(data: Path, folds: Sequence[int]) -> list[TaggedText]:
    found = []
    for name in ("banking", "hotels"):
        for row in _rows(data / "nlu" / "nlupp" / f"{name}.jsonl.gz"):
            if row["fold"] in folds:
                spans = sorted(
                    (*slot["span"], NLUPP_SLOTS[kind])
                    for kind, slot in (row.get("slots") or {}).items()
                    if kind in NLUPP_SLOTS
                )
                found.append(TaggedText(row["text"], tuple(spans)))
    return found


def snips(data: Path) -> list[TaggedText]:
    """Sentences about weather and tables, for their places; times are cut otherwise there, so none with times."""
    return [
        _from_tags(row["tokens"], row["tags"])
        for row in snips_rows(data)
        if row["intent"] in ("GetWeather", "BookRestaurant") and "B-timeRange" not in row["tags"]
    ]


def snips_rows(data: Path) -> Iterator[dict[str, Any]]:
    """Words, their BIO tags and the intent, as they are published."""
    return _rows(data / "nlu" / "snips" / "train.jsonl.gz")


def frozen() -> frozenset[str]:
    """Sentences kept for measuring; none of them may be learned from."""
    rows = (row for path in sorted(FROZEN.glob("*.jsonl")) for row in _rows(path))
    return frozenset(plain(row["text"]) for row in rows)


def evaluation(name: str) -> list[dict[str, str]]:
    """Our frozen sentences: `sentiment` or `intents`."""
    return list(_rows(FROZEN / f"{name}.jsonl"))


def _without_article(row: TaggedText) -> TaggedText:
    """NLU++ marks "5th" in "the 5th", so we do too."""
    spans = (
        (start + 4 * (slot == "date" and row.text.startswith("the ", start)), end, slot)
        for start, end, slot in row.spans
    )
    return TaggedText(row.text, tuple(spans))


def _from_tags(tokens: Sequence[str], tags: Sequence[str]) -> TaggedText:
    spans: list[Span] = []
    position = 0
    for token, tag in zip(tokens, tags, strict=True):
        end = position + len(token)
        if tag[2:] in SNIPS_PLACES:
            joined = spans and tag.startswith("I-") and spans[-1][1] == position - 1
            start = spans.pop()[0] if joined else position
            spans.append((start, end, "place"))
        position = end + 1
    return TaggedText(" ".join(tokens), tuple(spans))


@cache
def _yaml(name: str) -> Any:
    return yaml.load((OWN / name).read_text("utf-8"), yaml.BaseLoader)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines(path), 1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {number}: not a JSON object")
        yield row


def lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    yield line.rstrip("\n")
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror or error}", "--data names the folder of the sets"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
