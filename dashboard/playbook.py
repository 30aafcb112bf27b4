"""What an agent might do next: steps by intent, mood and alert, from a YAML file that people edit.

Suggestions, with the reason for each; the agent decides. Nothing is done, sent or noted because of one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Protocol

import structlog

from tenor.errors import BadInput
from tenor.phrases import Phrase, phrase, words
from tenor.taxonomy.polarity import feeling
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Text, read
from tenor.yaml.nodes import Sequence as Items

log = structlog.get_logger(__name__)

DEFAULT = Path(__file__).parent / "playbook.yaml"
SECTIONS = ("intents", "alerts", "moods")
ENTRY = ("because", "steps")
STEP = ("step", "mood", "unless said")
MOODS = {
    "unhappy": "the mood is low",
    "falling": "the mood is falling",
    "calm": "the mood is calm",
    "pleased": "the mood is good",
}
"""Moods of the caller that steps can be for, and how they are told."""
TOLD = {"negative": "unhappy", "neutral": "calm", "positive": "pleased"}
FALL = 0.3
"""By how much the caller's last sentences are below those before, when the mood is falling."""
LAST = 3
MOST = 5
LONGEST = 300


@dataclass(frozen=True, slots=True)
class Suggestion:
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    text: str
    moods: frozenset[str] = frozenset()
    """Empty: whatever the mood."""
    unless_said: tuple[Phrase, ...] = ()
    """What shows that the agent has done it."""


@dataclass(frozen=True, slots=True)
class PlaybookEntry:
    because: str
    """Goes on after "because": `the caller wants to cancel`."""
    steps: tuple[Step, ...]


class PlaybookSentence(Protocol):
    """What is needed of a sentence, as an event or as a row."""

    @property
    def role(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def mood(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Playbook:
    intents: dict[str, PlaybookEntry]
    alerts: dict[str, PlaybookEntry]
    moods: dict[str, PlaybookEntry]

    def suggest(
        self,
        task: str,
        intent: str,
        mood_caller: float | None,
        sentences: Sequence[PlaybookSentence] = (),
        alerts: Sequence[str] = (),
    ) -> list[Suggestion]:
        """Steps, the best first: what an alert calls for, then what the caller wants now, then what the call is about,
        then what the mood alone suggests. `alerts` are names of rules, the newest last; `sentences` the call's last."""
        moods = moods_of(mood_caller, sentences)
        done = [words(said.text) for said in sentences if said.role == "agent"]
        found: dict[str, Suggestion] = {}
        for entry in self._entries(task, intent, moods, alerts):
            fitting = [step for step in entry.steps if not step.moods or step.moods & moods.keys()]
            for step in sorted(fitting, key=lambda step: not step.moods):  # what is meant for this mood comes first
                if not any(phrase.found_in(said) for phrase in step.unless_said for said in done):
                    found.setdefault(step.text, Suggestion(step.text, _reason(entry, step, moods)))
        return list(found.values())[:MOST]

    def _entries(
        self, task: str, intent: str, moods: Collection[str], alerts: Sequence[str]
    ) -> Iterator[PlaybookEntry]:
        keys = (
            (self.alerts, dict.fromkeys(reversed(alerts))),
            (self.intents, dict.fromkeys((intent, task))),
            (self.moods, moods),
        )
        for entries, names in keys:
            yield from (entries[name] for name in names if name in entries)


def moods_of(mood_caller: float | None, sentences: Sequence[PlaybookSentence] = ()) -> dict[str, str]:
    """The moods the caller is in, by name, with words for each."""
    told = []
    moods = [said.mood for said in sentences if said.role == "caller"]
    before, last = moods[:-LAST], moods[-LAST:]
    if before and fmean(last) <= fmean(before) - FALL:
        told.append("falling")
    if mood_caller is not None:
        told.insert(0, TOLD[feeling(mood_caller)])
    return {name: MOODS[name] for name in told}


def _reason(entry: PlaybookEntry, step: Step, moods: dict[str, str]) -> str:
    meant = [words for name, words in moods.items() if name in step.moods]
    return f"Because {entry.because}" + (f" and {' and '.join(meant)}" if meant else "")


def read_playbook(path: Path | None = None, intents: Collection[str] | None = None) -> Playbook:
    """The playbook in a file, ours when none is given; Faulty tells everything that is wrong with it.

    `intents` are the names there are; None: not known, so not checked."""
    path = path or DEFAULT
    faults = Faults()
    tree = read(path, faults)
    fields.unknown_keys(tree, faults, "part of a playbook", SECTIONS)
    known = {"intents": intents, "moods": tuple(MOODS), "alerts": None}
    sections = {name: _section(tree, name, known[name], faults) for name in SECTIONS}
    if not any(sections.values()) and not faults.found:
        faults.add(tree, "has no steps")
    faults.raise_if_any(path)
    return Playbook(**sections)


class PlaybookFile:
    """The playbook of a file that people go on editing: read again when it has changed. While it is faulty, what it
    said before counts."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or DEFAULT
        self._read_at = self._changed_at()
        self._playbook = read_playbook(self._path)

    def playbook(self) -> Playbook:
        changed_at = self._changed_at()
        if changed_at != self._read_at:
            self._read_at = changed_at
            try:
                self._playbook = read_playbook(self._path)
            except BadInput as error:
                log.warning("the playbook has mistakes: the one before stays", reason=error.message)
        return self._playbook

    def _changed_at(self) -> int | None:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return None


def _section(tree: Mapping, name: str, known: Collection[str] | None, faults: Faults) -> dict[str, PlaybookEntry]:
    node = tree.get(name)
    section = fields.mapping(node, faults, f"`{name}`") if node is not None else None
    entries = {}
    for key, value in section or ():
        if known is not None and key.value not in known:
            faults.unknown(key, name.removesuffix("s"), known)
        if entry := _entry(key, value, faults):
            entries[key.value] = entry
    return entries


def _entry(key: Text, node: Node, faults: Faults) -> PlaybookEntry | None:
    tree = fields.mapping(node, faults, f"{key.value!r}")
    if tree is None:
        return None
    fields.unknown_keys(tree, faults, "key", ENTRY)
    because, steps = tree.get("because"), tree.get("steps")
    for name, part in (("because", because), ("steps", steps)):
        if part is None:
            faults.add(key, f"{key.value!r} has no `{name}`")
    reason = fields.text(because, faults, "`because`") if because is not None else None
    if steps is not None and (not isinstance(steps, Items) or not steps.items):
        faults.add(steps, "`steps` is a list")
    if because is None or not isinstance(steps, Items):
        return None
    found = [step for item in steps.items if (step := _step(item, faults))]
    return PlaybookEntry(reason or "", tuple(found))


def _step(node: Node, faults: Faults) -> Step | None:
    """A text, or a mapping that says when as well."""
    tree = node if isinstance(node, Mapping) else None
    if tree is not None:
        fields.unknown_keys(tree, faults, "key of a step", STEP)
    told = tree.get("step") if tree is not None else node
    if told is None:
        faults.add(node, "has no `step`")
        return None
    text = fields.text(told, faults, "a step")
    if text is not None and len(text) > LONGEST:
        faults.add(told, f"longer than {LONGEST} characters: an agent on a call reads a line or two")
    moods, unless = (tree.get("mood"), tree.get("unless said")) if tree is not None else (None, None)
    named = fields.texts(moods, faults, "`mood`") if moods is not None else []
    for mood in named:
        if mood.value not in MOODS:
            faults.unknown(mood, "mood", MOODS)
    phrases = []
    for said in fields.texts(unless, faults, "`unless said`") if unless is not None else []:
        found = phrase(said.value)
        if isinstance(found, str):
            faults.add(said, f"the phrase {said.value!r} {found}")
        else:
            phrases.append(found)
    return Step(text, frozenset(mood.value for mood in named), tuple(phrases)) if text else None
