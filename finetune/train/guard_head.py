"""The head that knows guarded topics, learned from sentences of our own; numpy is enough.

Every style of `finetune/data/guard` is left out in turn and measured by a head that never saw it, at a threshold that
the remaining styles chose. `frozen.txt` is measured once, by the head that ships.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from finetune.corpus import assistant_corpus, datasets, templates
from finetune.evaluate.report import Scores
from nlp.inference.assistant.guard_head import CARD, NONE, WEIGHTS, GuardCard, features
from nlp.inference.models.onnx_model import softmax
from nlp.inference.models.token_encoder import TokenEncoder
from tenor.taxonomy.assistant import NO_MATCH

OWN: Final = datasets.OWN / "guard"
FROZEN: Final = "frozen"
EACH: Final = 5
"""Sentences of every pattern to learn from; one of each is measured."""
SHOP: Final = "shop"
"""The style of the assistant's own sentences, none of which is guarded."""
FROM_SHOP: Final = 1200
ALLOWED: Final = 0.015
"""Share of look-alikes that may be refused where the threshold is chosen."""
STEPS: Final = 150
RATE: Final = 0.03
L2: Final = 0.002
DECAY_1, DECAY_2, LEAST = 0.9, 0.999, 1e-8
"""Adam's."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Line:
    style: str
    topic: str
    text: str
    measured: bool
    """Whether it is the one sentence of its pattern that counts."""


def lines(folder: Path = OWN) -> list[Line]:
    """Every sentence of every style, and some of the assistant's hands, small talk included."""
    found = [line for path in sorted(folder.glob("*.txt")) for line in lines_of(path)]
    shop = [one.text for hand in assistant_corpus.hands().values() for one in hand if one.intent != NO_MATCH]
    return found + [Line(SHOP, NONE, text, False) for text in Random(SHOP).sample(shop, FROM_SHOP)]


def lines_of(path: Path) -> list[Line]:
    """The sentences of a style: under `# TOPIC` those of a topic, under `# none` what only looks like one."""
    found: list[Line] = []
    topic = NONE
    for pattern in path.read_text("utf-8").splitlines():
        if pattern.startswith("# "):
            topic = pattern.removeprefix("# ")
        elif pattern.strip():
            texts = templates.written(pattern, {}, Random(pattern), most=EACH)
            found += [Line(path.stem, topic, text, at == 0) for at, text in enumerate(texts)]
    return found


def make_guard(folder: Path, *, seed: int = 7) -> Scores:
    """The head, put beside the encoder in `folder`."""
    encoder = TokenEncoder(folder, kept=0)
    rows = lines()
    topics = (NONE, *sorted({row.topic for row in rows} - {NONE}))
    vectors = np.stack([features(one.states) for one in encoder.encode([row.text for row in rows])])
    targets = np.array([topics.index(row.topic) for row in rows])
    styles = np.array([row.style for row in rows])
    counts = np.array([row.measured for row in rows])
    teaching = styles != FROZEN
    left_out = {
        style: _scores(vectors[styles == style], *_learned(vectors, targets, teaching & (styles != style), seed))
        for style in sorted(set(styles[teaching]) - {SHOP})
    }
    figures: Scores = {}
    for style, scores in left_out.items():
        others = [_alike(left_out[one], targets[styles == one]) for one in left_out if one != style]
        at = styles == style
        figures |= _measured(f"{style} left out", scores[counts[at]], targets[at][counts[at]], _threshold(others))
    threshold = _threshold([_alike(scores, targets[styles == style]) for style, scores in left_out.items()])
    weight, bias = _learned(vectors, targets, teaching, seed)
    frozen = (styles == FROZEN) & counts
    if frozen.any():
        figures |= _measured(FROZEN, _scores(vectors[frozen], weight, bias), targets[frozen], threshold)
    np.savez(folder / WEIGHTS, weight=weight.astype(np.float16), bias=bias.astype(np.float16))
    card = GuardCard(
        topics=topics, threshold=threshold, sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest(),
        encoder_sha256=encoder.card.sha256, figures={name: round(value, 4) for name, value in figures.items()},
    )  # fmt: skip
    (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")
    return figures


def _learned(
    vectors: Vectors, targets: NDArray[np.int64], chosen: NDArray[np.bool_], seed: int
) -> tuple[Vectors, Vectors]:
    """Softmax regression; every topic weighs as much as its sentences' square root."""
    inputs, wanted = vectors[chosen], targets[chosen]
    mean, spread = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-6)
    inputs = np.column_stack([(inputs - mean) / spread, np.ones(len(inputs), np.float32)])
    many = np.bincount(wanted, minlength=int(targets.max()) + 1).clip(1)
    weights = (1 / np.sqrt(many))[wanted].astype(np.float32)
    weights /= weights.sum()
    values = np.zeros((len(many), inputs.shape[1]), np.float32)
    first, second = np.zeros_like(values), np.zeros_like(values)
    rows = np.arange(len(inputs))
    for step in range(1, STEPS + 1):
        likely = softmax(inputs @ values.T)
        likely[rows, wanted] -= 1
        gradient = (likely * weights[:, None]).T @ inputs
        gradient[:, :-1] += L2 * values[:, :-1]
        first = DECAY_1 * first + (1 - DECAY_1) * gradient
        second = DECAY_2 * second + (1 - DECAY_2) * gradient**2
        values -= RATE * (first / (1 - DECAY_1**step)) / (np.sqrt(second / (1 - DECAY_2**step)) + LEAST)
    weight = values[:, :-1] / spread
    return weight, values[:, -1] - weight @ mean


def _scores(vectors: Vectors, weight: Vectors, bias: Vectors) -> Vectors:
    return np.asarray(softmax(vectors @ weight.T + bias), np.float32)


def _alike(scores: Vectors, targets: NDArray[np.int64]) -> Vectors:
    """How guarded the look-alikes of a style seem."""
    return np.asarray(1 - scores[targets == 0, 0], np.float32)


def _threshold(alike: Sequence[Vectors]) -> float:
    """The lowest at which few look-alikes are refused."""
    return round(max(0.3, float(np.quantile(np.concatenate(alike), 1 - ALLOWED))), 3)


def _measured(name: str, scores: Vectors, targets: NDArray[np.int64], threshold: float) -> Scores:
    refused = 1 - scores[:, 0] >= threshold
    guarded = targets > 0
    right = refused & (1 + scores[:, 1:].argmax(axis=1) == targets)
    return {
        f"{name}: refused": float(refused[guarded].mean()),
        f"{name}: refused with the right topic": float(right[guarded].mean()),
        f"{name}: look-alikes refused": float(refused[~guarded].mean()),
    }
