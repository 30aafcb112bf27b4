"""Sentiment labels of one's own, from a YAML file that people edit: what each is worth, and how it sounds.

furious: {valence: -1, examples: [this is a disgrace, ...]}
let down: {valence: -0.5, examples: [that's a bit disappointing, ...]}
fine: {valence: 0, examples: [...]}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Node, Text
from tenor.yaml.nodes import read as read_yaml

SHIPPED = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}
"""The labels of the model that ships, and what each is worth in a mood."""
KEYS = ("valence", "examples")
FEWEST_LABELS, FEWEST_EXAMPLES = 2, 3


@dataclass(frozen=True, slots=True)
class SentimentDefinition:
    name: str
    valence: float
    """From -1 (negative) to 1 (positive)."""
    examples: tuple[str, ...]


def valence_of(label: str) -> float:
    """What a label of a model or a server is worth in a mood; one that we do not know, nothing."""
    return SHIPPED.get(label, 0.0)


def read(path: Path) -> tuple[SentimentDefinition, ...]:
    """The labels of a file; Faulty tells everything that is wrong with it, by line and column."""
    faults = Faults()
    tree = read_yaml(path, faults)
    found = [_feeling(key, node, faults) for key, node in tree]
    if len(tree.entries) < FEWEST_LABELS:
        faults.add(tree, f"at least {FEWEST_LABELS} labels are needed to tell apart")
    faults.raise_if_any(path)
    return tuple(feeling for feeling in found if feeling is not None)


def _feeling(key: Text, node: Node, faults: Faults) -> SentimentDefinition | None:
    what = f"label {key.value!r}"
    tree = fields.mapping(node, faults, what)
    if not key.value.strip():
        faults.add(key, "a label has a name")
    if tree is None:
        return None
    fields.unknown_keys(tree, faults, "key of a label", KEYS)
    valence = _valence(tree.get("valence"), key, faults)
    examples = tree.get("examples")
    texts = tuple(dict.fromkeys(one.value for one in fields.texts(examples, faults, "an example"))) if examples else ()
    if len(texts) < FEWEST_EXAMPLES:
        faults.add(examples or key, f"{what} has fewer than {FEWEST_EXAMPLES} different examples")
    return SentimentDefinition(key.value, valence, texts) if valence is not None else None


def _valence(node: Node | None, key: Text, faults: Faults) -> float | None:
    if node is None:
        faults.add(key, f"label {key.value!r} has no valence: from -1 (negative) to 1 (positive)")
        return None
    value = fields.text(node, faults, "a valence")
    if value is None:
        return None
    found = fields.quantity(value)
    if found is not None and not found[1] and -1 <= found[0] <= 1:
        return found[0]
    faults.add(node, f"a valence is a number from -1 (negative) to 1 (positive), not {value!r}")
    return None
