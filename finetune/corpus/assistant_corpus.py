"""Sentences for the assistant: our own by several hands, and public ones whose labels clearly correspond.

A sentence is words between blanks with one BIO tag each. Where a set has no slots of ours, `tags` is None and only its
intent is learned.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from finetune.corpus import datasets
from finetune.corpus.examples import plain
from tenor.errors import BadInput
from tenor.taxonomy.assistant import INTENTS, NO_MATCH, OUTSIDE, SLOT_LABELS, routed_intent

OWN = datasets.OWN / "assistant"
FROZEN = "frozen"
"""The hand that is only for measuring."""
TALK = ("smalltalk.", "universal.", NO_MATCH)
"""Beginnings of the intents that ask for nothing; grammar is not marked in them."""
_GRAMMAR = ("interrogative", "verb", "article")
_MARK = re.compile(r"\[([^\]\[]+)\]\(([a-z_.]+)\)")


@dataclass(frozen=True, slots=True)
class Utterance:
    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    """BIO, one per word; None where nobody said them."""
    intent: str
    """As flows route it."""
    hand: str
    weight: float = 1.0
    """How much a mistake counts."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def hands(folder: Path = OWN) -> dict[str, list[Utterance]]:
    """Our own sentences by the hand that wrote them, without the one that is only for measuring."""
    files = sorted(path for path in folder.glob("*.txt") if path.stem != FROZEN)
    if not files:
        raise BadInput(f"{folder} holds no sentences for the assistant")
    return {path.stem: read_hand(path) for path in files}


def frozen(folder: Path = OWN) -> list[Utterance]:
    path = folder / f"{FROZEN}.txt"
    return read_hand(path) if path.is_file() else []


def read_hand(path: Path) -> list[Utterance]:
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            found.append(utterance(line, path.stem))
        except ValueError as error:
            raise BadInput(f"{path}, line {number}: {error}", "see README.md beside it") from None
    return found


def utterance(line: str, hand: str) -> Utterance:
    """`intent<TAB>sentence` with its slots in place: `[the](article) [best](rating.high) [pasta](item.type)`."""
    name, tab, marked = line.partition("\t")
    intent = routed_intent(name.strip())
    if not tab or not marked.strip():
        raise ValueError("an intent, a tab and a sentence are needed")
    if intent not in INTENTS:
        raise ValueError(f"no intent is called {name.strip()!r}")
    words: list[str] = []
    tags: list[str] = []
    last = 0
    glued = False  # what comes next belongs to the last word
    for mark in [*_MARK.finditer(marked), None]:
        between = marked[last : mark.start() if mark else len(marked)]
        plain_words = between.split()
        if plain_words and glued and not between[0].isspace():
            words[-1] += plain_words.pop(0)
        words += plain_words
        tags += [OUTSIDE] * len(plain_words)
        if mark is None:
            break
        begins_inside = bool(between) and not between[-1].isspace() and bool(words)
        inner = mark[1].split()
        if f"B-{mark[2]}" not in SLOT_LABELS:
            raise ValueError(f"no slot is called {mark[2]!r}")
        labels = [f"B-{mark[2]}", *[f"I-{mark[2]}"] * (len(inner) - 1)]
        if begins_inside:
            words[-1] += inner.pop(0)
            tags[-1] = labels.pop(0)
            labels = labels or []
        words += inner
        tags += labels
        last, glued = mark.end(), True
    if "[" in "".join(words) or "](" in "".join(words):
        raise ValueError("a bracket is not closed")
    return Utterance(tuple(words), tuple(tags), intent, hand)


def by_rule(row: Utterance) -> Utterance:
    """With question words, verbs and articles plain in small talk, where some hands mark them and others do not."""
    if row.tags is None or not row.intent.startswith(TALK):
        return row
    tags = tuple(OUTSIDE if tag[2:].split(".")[0] in _GRAMMAR else tag for tag in row.tags)
    return replace(row, tags=tags)


# -- public sets

CLINC = {
    "weather.weather": ["weather"],
    "navigation.showdirection": ["directions"],
    "navigation.geteta": ["distance"],
    "smalltalk.greeting": ["greeting"],
    "smalltalk.thanks": ["thank_you"],
    "smalltalk.who_are_you": ["are_you_a_bot", "what_is_your_name"],
    "universal.repeat": ["repeat"],
    "universal.cancel": ["cancel"],
    "universal.help": ["what_can_i_ask_you"],
    "universal.goodbye": ["goodbye"],
    "universal.yes": ["yes"],
    "universal.no": ["no"],
    "store_location": ["restaurant_suggestion"],
}
"""Intents of CLINC150 that mean the same; `weather` only where the question is a general one."""
HWU = {
    "universal.repeat": ["general_repeat"],
    "universal.cancel": ["general_commandstop"],
    "smalltalk.praise": ["general_praise"],
    "store_location": ["recommendation_locations"],
}
DOUBTFUL = {
    "clinc150": [
        *("order", "order_status", "current_location", "traffic", "gas", "change_speed", "maybe", "restaurant_reviews"),
        *("how_busy", "accept_reservations", "restaurant_reservation", "next_holiday", "shopping_list", "calories"),
        *("nutrition_info", "food_last", "ingredients_list", "plug_type", "who_made_you", "who_do_you_work_for"),
        *("where_are_you_from", "how_old_are_you", "do_you_have_pets", "what_are_your_hobbies", "gas_type"),
        *("shopping_list_update", "reset_settings", "share_location", "travel_suggestion", "cancel_reservation"),
        *("confirm_reservation", "sync_device", "oil_change_how", "tire_pressure", "tire_change", "jump_start"),
    ],
    "hwu64": [
        *("general_affirm", "general_confirm", "general_dontcare", "general_explain", "general_negate"),
        *("transport_traffic", "transport_query", "takeaway_query", "takeaway_order", "weather_query", "lists_query"),
        *("lists_createoradd", "qa_stock", "recommendation_events", "general_quirky", "iot_coffee", "transport_taxi"),
        *("datetime_query", "lists_remove", "cooking_recipe"),
    ],
}
"""Neither clearly one of ours nor clearly something else."""
_GENERAL = re.compile(r"\b(?:weather|forecast)\b")
_SPECIFIC = re.compile(
    r"\b(?:rain\w*|snow\w*|sunny|sun|cloud\w*|overcast|humid\w*|muggy|temperature|degrees|hot|cold|warm\w*|chill\w*"
    r"|cool\w*|freez\w*|umbrella|jacket|storm\w*|wind\w*|fog\w*|hail|blizzard|degree|celsius|fahrenheit)\b"
)
_SNIPS_TIME = re.compile(
    r"(?:right now|now|today|tonight|tomorrow|yesterday|this (?:week|weekend|morning|afternoon|evening|month|year)"
    r"|next (?:week|weekend|month|year)|(?:this |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|april|june|july|august|september|october|november|december|noon|midnight|christmas)"
)
_ARTICLES = {"a", "an", "the"}
_PLAIN = {
    *("will", "is", "be", "in", "for", "weather", "forecast", "at", "like", "there", "me", "of", "going", "to", "it"),
    *("i", "know", "please", "on", "?", "and", "are", "can", "you"),
}
"""Words that are in no slot, whatever stands around them."""


def public(data: Path, random: Random, *, most: int = 40, others: int = 8) -> list[Utterance]:
    """`most` sentences of each intent that corresponds, `others` of each that is none of ours."""
    nlu = data / "nlu"
    found = [
        *_translated(datasets.intents(nlu / "clinc150" / "train.jsonl.gz"), CLINC, "clinc150", random, most, others),
        *_translated(datasets.intents(nlu / "hwu64" / "train.jsonl.gz"), HWU, "hwu64", random, most, others),
        *_plain(datasets.intents(nlu / "clinc150" / "oos_train.jsonl.gz"), NO_MATCH, "clinc150"),
        *_snips(data, random, most, others),
    ]
    return [one for one in found if one.words]


def _plain(rows: Iterable[Any], intent: str, source: str) -> list[Utterance]:
    return [Utterance(tuple(row.text.split()), None, intent, source) for row in rows]


def _translated(
    rows: Sequence[Any], names: Mapping[str, Sequence[str]], source: str, random: Random, most: int, others: int
) -> list[Utterance]:
    ours = {theirs: intent for intent, several in names.items() for theirs in several}
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[row.label].append(row)
    found: list[Utterance] = []
    for label in sorted(groups):
        if label in DOUBTFUL[source]:
            continue
        kept = groups[label]
        if ours.get(label) == "weather.weather":
            kept = [row for row in kept if _is_general(row.text)]
        amount = most if label in ours else others
        kept = kept if len(kept) <= amount else random.sample(kept, amount)
        found += _plain(kept, ours.get(label, NO_MATCH), source)
    return found


def _is_general(text: str) -> bool:
    return bool(_GENERAL.search(text.lower())) and not _SPECIFIC.search(text.lower())


def _snips(data: Path, random: Random, most: int, others: int) -> list[Utterance]:
    """General questions about the weather with their places and times; other topics as no match."""
    groups: dict[str, list[Utterance]] = defaultdict(list)
    for row in datasets.snips_rows(data):
        words, theirs = _joined(row["tokens"], row["tags"])
        intent = row["intent"]
        if intent == "GetWeather":
            if not _is_general(" ".join(words)):
                continue
            tags = _snips_tags(words, theirs)
            if tags is not None:
                groups[intent].append(Utterance(words, tags, "weather.weather", "snips"))
        elif intent != "BookRestaurant":  # neither a place asked for nor clearly another topic
            groups[intent].append(Utterance(words, None, NO_MATCH, "snips"))
    return [
        one
        for intent in sorted(groups)
        for one in random.sample(groups[intent], min(len(groups[intent]), (2 if intent == "GetWeather" else 1) * most))
    ]


def _joined(words: Sequence[str], tags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """With "what s" as one word, as people and recognisers write it."""
    made: list[tuple[str, str]] = []
    for word, tag in zip(words, tags, strict=True):
        if word == "s" and tag == OUTSIDE and made:
            made[-1] = (f"{made[-1][0]}'s", made[-1][1])
        else:
            made.append((word, tag))
    return tuple(word for word, _ in made), tuple(tag for _, tag in made)


def _snips_tags(words: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...] | None:
    """Their places and times as ours, articles and question words by rule; None where the rules differ."""
    places = {"city", "state", "country"}
    tags: list[str] = []
    kinds: list[str] = []
    for word, tag in zip(words, theirs, strict=True):
        kind = tag[2:]
        if kind in places:
            joined = tags and tags[-1] != OUTSIDE and kinds[-1] in places  # "portland oregon" is one
            tags.append("I-location" if joined else "B-location")
        elif kind == "timeRange":
            tags.append("I-time.period_of_time" if tag.startswith("I-") else "B-time.period_of_time")
        elif kind:
            return None
        elif word in _ARTICLES:
            tags.append("B-article")
        elif word in ("what", "what's", "whats", "which"):
            tags.append("B-interrogative")
        elif word == "how":
            tags.append("B-interrogative.manner")
        elif word in _PLAIN:
            tags.append(OUTSIDE)
        else:
            return None  # a verb or something that our rules may mark
        kinds.append(kind)
    times = [" ".join(span) for span in _spans(words, tags, "time.period_of_time")]
    return tuple(tags) if all(_SNIPS_TIME.fullmatch(time) for time in times) else None


def _spans(words: Sequence[str], tags: Sequence[str], name: str) -> list[list[str]]:
    found: list[list[str]] = []
    for word, tag in zip(words, tags, strict=True):
        if tag == f"B-{name}":
            found.append([word])
        elif tag == f"I-{name}":
            found[-1].append(word)
    return found


def without(rows: Iterable[Utterance], measured: Iterable[Utterance]) -> list[Utterance]:
    """Those whose words are not among the measured ones."""
    known = {plain(one.text) for one in measured}
    return [one for one in rows if plain(one.text) not in known]
