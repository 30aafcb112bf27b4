"""Harper Valley's calls: sentences with intents and values, and what each call was about."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from finetune.corpus.datasets import OWN
from finetune.corpus.examples import LabelledText, Span, TaggedText

TASKS = {
    "check balance": "balance",
    "get branch hours": "opening_hours",
    "replace card": "card_replacement",
    "pay bill": "payment",
    "order checks": "order_checks",
    "schedule appointment": "appointment",
    "transfer money": "transfer",
    "reset password": "account_access",
}
"""What the set calls a call's task, and what we call it."""

_NOISE = re.compile(r"\[[a-z_ ]+\]|<unk>")
_NUMBER = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|a hundred|thousand)"
)
_VALUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("amount", re.compile(rf"\b{_NUMBER}(?: (?:and )?{_NUMBER})* dollars\b")),
    ("time", re.compile(rf"\b{_NUMBER}(?: {_NUMBER})* [ap] m\b")),
    ("date", re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")),
    ("place", re.compile(rf"\b(?:{_NUMBER} )*(?:main|first|second|third|fourth|oak|elm) (?:street|avenue)\b")),
    ("place", re.compile(r"\b(?:harper valley(?! national)|forest ranch|california|oregon)\b")),
    ("company", re.compile(r"\b(?:smart electric|fossil gas|silver water|harper valley national bank)\b")),
    ("number", re.compile(rf"\b{_NUMBER}(?: {_NUMBER}){{2,}}\b(?! (?:street|main|first|[ap] m|dollars))")),
)


@dataclass(frozen=True, slots=True)
class HarperUtterance:
    role: str
    text: str
    recognised: str
    """By the recogniser of the set's makers."""


@dataclass(frozen=True, slots=True)
class HarperCall:
    id: str
    task: str
    """In our words."""
    names: tuple[str, ...]
    said: tuple[HarperUtterance, ...]


def calls(data: Path, split: str) -> Iterator[HarperCall]:
    """Calls of `text-only` or `dev-audio`."""
    with gzip.open(data / "harper-valley" / "transcripts.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["split"] == split:
                yield _call(row)


def wanted(call: HarperCall) -> Iterator[LabelledText]:
    """The call's sentences whose intent one of the rules tells."""
    for said, before in _with_before(call):
        intent = next((intent for rule, intent in _rules(said.role) if rule.search(said.text)), None)
        if intent is not None:
            yield LabelledText(said.text, intent, said.role, before)


def routine(call: HarperCall) -> Iterator[LabelledText]:
    """Sentences without a word that may carry a feeling."""
    feeling = _feeling()
    for said, before in _with_before(call):
        if not feeling.search(said.text):
            yield LabelledText(said.text, "neutral", said.role, before)


def _with_before(call: HarperCall) -> Iterator[tuple[HarperUtterance, str | None]]:
    before = None
    for said in call.said:
        yield said, before
        before = said.text


def valued(call: HarperCall) -> Iterator[TaggedText]:
    """Sentences with the values in them marked."""
    for said in call.said:
        spans: list[Span] = []
        for slot, pattern in (*(("person", re.compile(rf"\b{re.escape(name)}\b")) for name in call.names), *_VALUES):
            for found in pattern.finditer(said.text):
                if not any(start < found.end() and found.start() < end for start, end, _ in spans):
                    spans.append((*found.span(), slot))
        yield TaggedText(said.text, tuple(sorted(spans)))


def _call(row: dict[str, Any]) -> HarperCall:
    caller = str(row["caller"]["metadata"].get("first and last name", "")).lower()
    agent = str(row["agent"]["metadata"].get("agent_name", "")).lower()
    names = [name for name in (caller, agent) if name]
    names += [part for part in caller.split() if caller not in ("", part)]
    said = []
    for segment in row["segments"]:
        text = _clean(segment["text"])
        if text:
            said.append(HarperUtterance(segment["role"], text, _clean(segment["asr"])))
    # The full name first, so that its parts are found only where they stand alone.
    return HarperCall(row["sid"], TASKS[row["task"]], tuple(dict.fromkeys(names)), tuple(said))


def _clean(text: str) -> str:
    return " ".join(_NOISE.sub(" ", text).split())


@cache
def _tree() -> Any:
    return yaml.load((OWN / "harper.yaml").read_text("utf-8"), yaml.BaseLoader)


@cache
def _rules(role: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(rule["find"]), rule["intent"]) for rule in _tree()[role]]


@cache
def _feeling() -> re.Pattern[str]:
    return re.compile(_tree()["feeling"])
