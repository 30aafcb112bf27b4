"""Another set of sentiment labels, from a YAML file that people edit: what each is worth, and how it sounds.

furious: {valence: -1, examples: [this is a disgrace, ...]}
let down: {valence: -0.5, examples: [that's a bit disappointing, ...]}
fine: {valence: 0, examples: [...]}

There is no training. A label is likely when the sentence is like its examples, and when what the label is worth is near
to the mood that the model's own head hears.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nlp.likeness import likeness, shares, vectors
from nlp.model import Model, Reading
from tenor import yaml_fields as fields
from tenor.yaml_lines import Faults, Node, Text
from tenor.yaml_lines import read as read_yaml

HEAD = "sentiment"
VALENCES = {"positive": 1.0, "negative": -1.0}
"""What the labels of the model's head are worth in a mood; the rest is worth nothing."""
KEYS = ("valence", "examples")
FEWEST_LABELS, FEWEST_EXAMPLES = 2, 3
SLOPE, WIDTH = 10.0, 0.35
"""How much likeness counts, and how far from the head's mood a label may be; chosen on our frozen sentences."""


@dataclass(frozen=True, slots=True)
class Feeling:
    name: str
    valence: float
    """From -1 (negative) to 1 (positive)."""
    examples: tuple[str, ...]


def read(path: Path) -> tuple[Feeling, ...]:
    """The labels of a file; Faulty tells everything that is wrong with it, by line and column."""
    faults = Faults()
    tree = read_yaml(path, faults)
    found = [_feeling(key, node, faults) for key, node in tree]
    if len(tree.entries) < FEWEST_LABELS:
        faults.add(tree, f"at least {FEWEST_LABELS} labels are needed to tell apart")
    faults.raise_if_any(path)
    return tuple(feeling for feeling in found if feeling is not None)


def _feeling(key: Text, node: Node, faults: Faults) -> Feeling | None:
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
    return Feeling(key.value, valence, texts) if valence is not None else None


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


class Sentiments:
    """How sentences feel, by the model's head or by a set of labels that takes its place."""

    def __init__(self, model: Model, feelings: tuple[Feeling, ...] = ()) -> None:
        self._head = model.card.heads[HEAD]
        self.valences = {feeling.name: feeling.valence for feeling in feelings} or {
            label: VALENCES.get(label, 0.0) for label in self._head
        }
        """Labels, and what each is worth."""
        self.neutral = min(self.valences, key=lambda label: abs(self.valences[label]))
        """The label of a sentence that nothing can be told about."""
        self.version = model.maker(HEAD)
        self._examples = {feeling.name: vectors(model, feeling.examples) for feeling in feelings}
        if feelings:
            self.version += f"+{hashlib.sha256(repr(feelings).encode()).hexdigest()[:8]}"

    def scores(self, reading: Reading) -> dict[str, float]:
        """Every label's probability; they add up to one."""
        told = dict(zip(self._head, map(float, reading.sentence[HEAD]), strict=True))
        if not self._examples:
            return told
        mood = sum(VALENCES.get(label, 0.0) * score for label, score in told.items())
        return shares(
            {
                name: SLOPE * likeness(examples, reading.embedding) - ((self.valences[name] - mood) / WIDTH) ** 2 / 2
                for name, examples in self._examples.items()
            }
        )

    def mood(self, scores: dict[str, float]) -> float:
        return sum(self.valences[label] * score for label, score in scores.items())
