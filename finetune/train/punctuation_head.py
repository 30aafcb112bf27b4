"""The head that restores marks and capitals: two small layers on the shared encoder's states, trained with numpy."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from finetune.corpus.call_sentences import CallCorpus
from finetune.corpus.datasets import SOURCES
from finetune.corpus.marked_texts import MarkedText, joined, public_sentences, without_marks, written_sentences
from finetune.evaluate.report import Scores
from nlp.inference.models.onnx_model import Floats, softmax
from nlp.inference.models.token_encoder import TokenEncoder
from nlp.inference.punctuation import (
    CASES,
    END,
    HEAD,
    MARKS,
    SMALL,
    Layers,
    PunctuationCard,
    Punctuator,
    sentence_states,
    word_states,
    write_head,
)
from tenor.model_store import CARD

INNER, ROUNDS, SIZE, RATE = 96, 8, 128, 2e-3
QUESTION_INNER, QUESTION_ROUNDS = 24, 12
QUESTION = "?"
DROPPED = 0.15
"""Share of the states that a step does not see."""
TIMES = 1
"""How often each sentence is learned, among other neighbours."""

_README = """# {name} {version}

Marks and capitals for words without them: comma, full stop, question mark; small, Capital, CAPITALS. English. Two
heads of two small layers, {size:.0f} kB, on the states of {encoder}, so they belong to exactly that encoder: one reads
each word and the next, one each sentence. Made by `python -m finetune punctuation`, without torch.

| it learned from | licence |
|---|---|
{sources}

Measured on the written sentences of hands kept apart (`finetune/data/calls/frozen-*`, {sentences:.0f} sentences), in
percent, and beside it what one gets without a model, by a capital at the start and a full stop at the end:

| figure | this head | the rule |
|---|---|---|
{figures}

*In a row* means that up to four sentences follow each other without a mark between them.

It knows names only as far as the encoder does, writes no exclamation marks, semicolons or quotation marks, and
learned from people who wrote to call centres.
"""


def make_punctuation(
    corpus: CallCorpus, encoder: TokenEncoder, folder: Path, *, data: Path | None, name: str, version: str, seed: int
) -> Scores:
    """Train, write and measure the head; `data` adds public sentences."""
    random = Random(seed)
    own = written_sentences(corpus.learned)
    sentences = own + (public_sentences(data) if data else [])
    apart = [text for text in written_sentences(corpus.apart) if text not in set(own)]
    texts = [without_marks(text) for text in joined(sentences, random, times=TIMES)]
    folder.mkdir(parents=True, exist_ok=True)
    write_head(fit(texts, encoder, seed=seed), folder / HEAD)
    card = PunctuationCard(
        name=name,
        version=version,
        encoder_sha256=encoder.card.sha256,
        sha256=hashlib.sha256((folder / HEAD).read_bytes()).hexdigest(),
    )
    _save(card, folder)
    punctuator = Punctuator(folder, encoder)
    figures = measured(punctuator, apart, joined(apart, Random(seed)))
    _save(msgspec.structs.replace(card, figures=figures), folder)
    rules = rule_figures(apart, joined(apart, Random(seed)))
    used = ["own", "banking77"] if data else ["own"]
    readme = _README.format(
        name=name,
        version=version,
        size=(folder / HEAD).stat().st_size / 1000,
        encoder=f"{encoder.card.name} {encoder.card.version}",
        sources="\n".join(f"| {SOURCES[one].title} | {SOURCES[one].licence} |" for one in used),
        sentences=len(apart),
        figures="\n".join(f"| {what} | {value:.1f} | {rules[what]:.1f} |" for what, value in figures.items()),
    )
    (folder / "README.md").write_text(readme, "utf-8")
    return figures


def fit(texts: Sequence[MarkedText], encoder: TokenEncoder, *, seed: int) -> dict[str, Layers]:
    """The encoder is left alone, so its states are computed once."""
    states = [word_states(encoder, text.words).astype(np.float16) for text in texts]
    marks = [MARKS.index(END if mark == QUESTION else mark) for text in texts for mark in text.marks]
    cases = [CASES.index(case) for text in texts for case in text.cases]
    sentences, questions = [], []
    for text, rows in zip(texts, states, strict=True):
        first = 0
        for at, mark in enumerate(text.marks):
            if mark in (END, QUESTION):
                sentences.append(sentence_states(rows[first : at + 1].astype(np.float32)))
                questions.append(int(mark == QUESTION))
                first = at + 1
    words = _Answers(np.array(marks), len(MARKS)), _Answers(np.array(cases), len(CASES))
    return {
        "words": _fit_layers(np.concatenate(states), words, INNER, ROUNDS, seed),
        "questions": _fit_layers(
            np.stack(sentences), (_Answers(np.array(questions), 2),), QUESTION_INNER, QUESTION_ROUNDS, seed
        ),
    }


@dataclass(frozen=True, slots=True)
class _Answers:
    """To one question about every row."""

    right: NDArray[np.int64]
    count: int
    """How many there may be."""


def _fit_layers(states: Floats, answers: Sequence[_Answers], inner: int, rounds: int, seed: int) -> Layers:
    random = np.random.default_rng(seed)
    outputs = sum(one.count for one in answers)
    layers: list[Floats] = [
        (random.standard_normal((states.shape[1], inner)) * (2 / states.shape[1]) ** 0.5).astype(np.float32),
        np.zeros(inner, np.float32),
        (random.standard_normal((inner, outputs)) * (1 / inner) ** 0.5).astype(np.float32),
        np.zeros(outputs, np.float32),
    ]
    step = _Adam(layers)
    batches = -(-len(states) // SIZE)
    for number in range(rounds):
        order = random.permutation(len(states))
        for at in range(batches):
            rows = order[at * SIZE : (at + 1) * SIZE]
            seen = states[rows].astype(np.float32)
            seen *= (random.random(seen.shape, np.float32) >= DROPPED) / np.float32(1 - DROPPED)
            done = (number * batches + at) / (rounds * batches)
            step(_gradients(layers, seen, answers, rows), RATE * (1 - 0.95 * done))
    return tuple(layers)


def _gradients(
    layers: Sequence[Floats], states: Floats, answers: Sequence[_Answers], rows: NDArray[np.int64]
) -> list[Floats]:
    """Of the mean cross-entropy of all answers."""
    inner, bias, weight, output = layers
    before = states @ inner + bias
    hidden = np.maximum(before, 0)
    found = hidden @ weight + output
    error = np.empty_like(found)
    first = 0
    for one in answers:
        own = softmax(found[:, first : first + one.count])
        own[np.arange(len(rows)), one.right[rows]] -= 1
        error[:, first : first + one.count] = own / len(rows)
        first += one.count
    below = (error @ weight.T) * (before > 0)
    return [states.T @ below, below.sum(0), hidden.T @ error, error.sum(0)]


class _Adam:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    def __init__(self, arrays: list[Floats]) -> None:
        self._arrays = arrays
        self._means = [np.zeros_like(one) for one in arrays]
        self._squares = [np.zeros_like(one) for one in arrays]
        self._steps = 0

    def __call__(self, gradients: Sequence[Floats], rate: float) -> None:
        self._steps += 1
        first, second = 1 - 0.9**self._steps, 1 - 0.999**self._steps
        for array, mean, square, gradient in zip(self._arrays, self._means, self._squares, gradients, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            array -= rate * (mean / first / (np.sqrt(square / second) + 1e-8) + 0.01 * array)


def measured(punctuator: Punctuator, sentences: Sequence[str], rows: Sequence[str]) -> Scores:
    return _figures(lambda text: punctuator.words(without_marks(text).words), sentences, rows)


def rule_figures(sentences: Sequence[str], rows: Sequence[str]) -> Scores:
    """What a capital at the start and a full stop at the end are worth."""

    def by_rule(text: str) -> list[str]:
        words = " ".join(without_marks(text).words)
        return f"{words[:1].upper()}{words[1:]}.".split()

    return _figures(by_rule, sentences, rows)


def _figures(written: Callable[[str], list[str]], sentences: Sequence[str], rows: Sequence[str]) -> Scores:
    alone = [(without_marks(text), without_marks(" ".join(written(text)))) for text in sentences]
    in_a_row = [(without_marks(text), without_marks(" ".join(written(text)))) for text in rows]
    ends = [(wanted.marks[-1], found.marks[-1]) for wanted, found in alone]
    marks = [pair for wanted, found in in_a_row for pair in zip(wanted.marks, found.marks, strict=True)]
    cases = [pair for wanted, found in in_a_row for pair in zip(wanted.cases, found.cases, strict=True)]
    capitals = [(wanted != SMALL, found != SMALL) for wanted, found in cases]
    return {
        "right mark at the end of a sentence": 100 * sum(a == b for a, b in ends) / len(ends),
        "question marks, F1": 100 * _f1(ends, "?"),
        "in a row: full stops, F1": 100 * _f1(marks, "."),
        "in a row: question marks, F1": 100 * _f1(marks, "?"),
        "in a row: commas, F1": 100 * _f1(marks, ","),
        "in a row: capitals, F1": 100 * _f1(capitals, True),
    }


def _f1(pairs: Sequence[tuple[object, object]], label: object) -> float:
    right = sum(wanted == found == label for wanted, found in pairs)
    told = sum(wanted == label for wanted, _ in pairs) + sum(found == label for _, found in pairs)
    return 2 * right / told if told else 0.0


def _save(card: PunctuationCard, folder: Path) -> None:
    (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")
