"""What callers may want: names, descriptions and examples, from a YAML file that people edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Node, Text
from tenor.yaml.nodes import read as read_yaml

DEFAULT = Path(__file__).parent / "intents.yaml"
UNKNOWN = "unknown"
"""The intent of a sentence that is none of them; not a name of the file."""
KEYS = ("description", "examples", "task")
FEWEST = 3
"""Fewer examples than this say nothing about how else a wish can be put."""


@dataclass(frozen=True, slots=True)
class WantedIntent:
    name: str
    description: str
    examples: tuple[str, ...]
    task: bool = False
    """Whether a whole call can be about it."""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    intents: tuple[WantedIntent, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(intent.name for intent in self.intents)

    @property
    def tasks(self) -> frozenset[str]:
        return frozenset(intent.name for intent in self.intents if intent.task)


def read(path: Path = DEFAULT) -> Taxonomy:
    """The taxonomy in a file; Faulty tells everything that is wrong with it, by line and column."""
    faults = Faults()
    tree = read_yaml(path, faults)
    found = [_intent(key, node, faults) for key, node in tree]
    if not tree.entries:
        faults.add(tree, "no intents: a mapping is expected, name -> description, examples")
    faults.raise_if_any(path)
    return Taxonomy(tuple(intent for intent in found if intent is not None))


def _intent(key: Text, node: Node, faults: Faults) -> WantedIntent | None:
    what = f"intent {key.value!r}"
    if key.value == UNKNOWN:
        faults.add(key, f"{UNKNOWN!r} is what a sentence without an intent is called; choose another name")
    tree = fields.mapping(node, faults, what)
    if tree is None:
        return None
    fields.unknown_keys(tree, faults, "key of an intent", KEYS)
    description, examples, task = (tree.get(name) for name in KEYS)
    words = fields.text(description, faults, "a description") if description is not None else None
    if description is None:
        faults.add(key, f"{what} has no description")
    texts = tuple(one.value for one in fields.texts(examples, faults, "an example")) if examples is not None else ()
    if len(set(texts)) < FEWEST:
        faults.add(examples or key, f"{what} has fewer than {FEWEST} different examples; some ten are good")
    is_task = fields.choice(task, faults, "answer to `task`", ("true", "false")) if task is not None else None
    return WantedIntent(key.value, words or "", texts, is_task == "true")
