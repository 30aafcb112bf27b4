"""What the customer talks about: the product, the service, the support, the brand, the price, the delivery.

    [language.classifiers]
    aspect = "nlp.inference.heads.aspects:Aspects"

A logistic regression per aspect on the embedding that the stage has made of the sentence anyway, so it costs next to
nothing; a sentence may have several aspects (`delivery,product`) or none. What is learned from the examples of
aspects.yaml is stored beside this file (`make aspects`), and learned anew when a model with another encoder is loaded.
For other aspects write a class of your own with another file, and name that:

    class Ours(Aspects):
        file = Path("aspects.yaml")
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import structlog

from nlp.inference.local import LocalBackend
from nlp.inference.models.onnx_model import Floats
from nlp.inference.types import Backend, SentenceAnalysis
from tenor.taxonomy.aspects import SEPARATOR, joined
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, read

log = structlog.get_logger(__name__)

NONE = "none"
FEWEST = 3
LEAST = 0.6
"""The least probability worth an answer."""
L2, WEIGHT = 0.03, 4.0
"""How much small weights are preferred, and what an example of an aspect counts against one of the others. These and
`LEAST` were chosen on nlp/evaluation/aspects-dev.jsonl."""
STEPS = 12
"""Newton's method has long converged."""
PROBES = ("the parcel was late and the box was broken", "why is the bill so high", "hello, this is Susan")
SAME = 0.995
"""Cosine from which on two embeddings of a probe are of the same encoder."""


class Learned(NamedTuple):
    names: tuple[str, ...]
    weights: Floats
    """By aspect; the last of a row is the bias."""


class Aspects:
    file = Path(__file__).parents[2] / "aspects.yaml"

    def __init__(self, backend: Backend) -> None:
        self._learned: Learned | None = None
        if isinstance(backend, LocalBackend):
            self._learned = stored(self.file, backend) or learn(examples(self.file), backend)
        else:
            log.info("aspects are told on our own encoder alone: sentences get none")

    def classify(self, sentences: Sequence[SentenceAnalysis]) -> list[tuple[str, float] | None]:
        found: list[tuple[str, float] | None] = [None] * len(sentences)
        places = [at for at, one in enumerate(sentences) if one.embedding is not None]  # not empty, our language
        if self._learned is None or not places:
            return found
        embeddings = np.stack([sentences[at].embedding for at in places])
        for at, row in zip(places, scores(self._learned, embeddings), strict=True):
            said = [name for name, score in zip(self._learned.names, row, strict=True) if score >= LEAST]
            if said:
                found[at] = joined(said), float(row.max())
        return found


def scores(learned: Learned, embeddings: Floats) -> Floats:
    """A row per sentence, the probability of each aspect."""
    logits = embeddings @ learned.weights[:, :-1].T + learned.weights[:, -1]
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def learn(given: Mapping[str, Sequence[str]], backend: LocalBackend) -> Learned:
    """`given`: examples by aspect, or by several aspects at once."""
    texts = [text for few in given.values() for text in few]
    aspects = [_names(key) for key, few in given.items() for _ in few]
    names = tuple(dict.fromkeys(name for one in aspects for name in one))
    embeddings = np.stack(backend.embed(texts)).astype(float)
    told = np.array([[name in one for name in names] for one in aspects])
    weights = [_regression(embeddings, told[:, at]) for at in range(len(names))]
    return Learned(names, np.stack(weights).astype(np.float32))


def _regression(embeddings: Floats, told: Floats) -> Floats:
    inputs = np.hstack([embeddings, np.ones((len(embeddings), 1))])
    counts = np.where(told, WEIGHT, 1.0)
    penalty = np.full(inputs.shape[1], L2)
    penalty[-1] = 1e-6  # the bias may be what it likes
    weights: Any = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        guess = 1.0 / (1.0 + np.exp(-(inputs @ weights)))
        slope = inputs.T @ (counts * (guess - told)) + penalty * weights
        curve = (inputs * (counts * guess * (1.0 - guess))[:, None]).T @ inputs + np.diag(penalty)
        weights = weights - np.linalg.solve(curve, slope)
    return np.asarray(weights, dtype=np.float32)


def _names(key: str) -> tuple[str, ...]:
    return tuple(name for part in key.split(SEPARATOR) if (name := part.strip()) != NONE)


def examples(path: Path) -> dict[str, list[str]]:
    """Sentences by aspect; Faulty tells everything that is wrong with the file."""
    faults = Faults()
    found: dict[str, list[str]] = {}
    for key, node in read(path, faults):
        found[key.value] = [one.value for one in fields.texts(node, faults, "an example")]
        if len(_names(key.value)) < 2 and len(set(found[key.value])) < FEWEST:
            faults.add(key, f"aspect {key.value!r} has fewer than {FEWEST} different examples")
    faults.raise_if_any(path)
    return found


# -- what was learned from the examples that ship, so that no worker learns it anew


STORED = Path(__file__).with_name("aspects.npz")


def stored(path: Path, backend: LocalBackend) -> Learned | None:
    """What was learned from this file on the encoder of this model; None: another file, or another encoder."""
    try:
        with np.load(STORED) as kept:
            if str(kept["examples"]) != _digest(path):
                return None
            probes = np.stack(backend.embed(PROBES))
            if probes.shape != kept["probes"].shape or (probes * kept["probes"]).sum(axis=1).min() < SAME:
                return None
            return Learned(tuple(str(name) for name in kept["names"]), kept["weights"])
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None


def store(path: Path = Aspects.file) -> None:
    """Learn from the examples that ship on the model that ships, and keep it."""
    backend = LocalBackend()
    learned = learn(examples(path), backend)
    probes = np.stack(backend.embed(PROBES)).astype(np.float32)
    np.savez(STORED, names=learned.names, weights=learned.weights, probes=probes, examples=_digest(path))


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


if __name__ == "__main__":
    store()
