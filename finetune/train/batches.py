"""Examples as batches of token ids: sentences of like length together, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from finetune.corpus.examples import LabelledText, TaggedText, spoken

Ids = NDArray[np.int64]
IGNORED = -100
"""Label of a token that says nothing: padding, and the ends of a sentence."""
LONGEST = 64


@dataclass(frozen=True, slots=True)
class HeadCorpus:
    """Examples for one head."""

    head: str
    examples: Sequence[LabelledText | TaggedText]
    labels: Sequence[str]
    """Names in the order of the head's outputs; for values the BIO tags."""
    weight: float = 1.0
    """How much a mistake counts."""


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    head: str
    input_ids: Ids
    attention_mask: Ids
    targets: Ids
    weight: float


def bio(slots: Sequence[str]) -> list[str]:
    return ["O", *(f"{part}-{slot}" for slot in slots for part in "BI")]


def load_tokenizer(source: Path | str) -> Tokenizer:
    """From its file, or from the text of one."""
    tokenizer = Tokenizer.from_str(source.read_text("utf-8") if isinstance(source, Path) else source)
    tokenizer.enable_truncation(LONGEST)
    tokenizer.no_padding()
    return tokenizer


def batches(
    corpora: Sequence[HeadCorpus], tokenizer: Tokenizer, random: Random, *, size: int, unpunctuated: float = 0.0
) -> Iterator[TrainingBatch]:
    """All examples once, in batches of one head each, in random order. `unpunctuated`: share without punctuation."""
    made: list[tuple[HeadCorpus, list[LabelledText | TaggedText]]] = []
    for corpus in corpora:
        examples = [_changed(example, random, unpunctuated) for example in corpus.examples]
        random.shuffle(examples)
        window = size * 40
        for start in range(0, len(examples), window):
            part = sorted(examples[start : start + window], key=lambda example: len(example.text))
            made += [(corpus, part[first : first + size]) for first in range(0, len(part), size)]
    random.shuffle(made)
    for corpus, part in made:
        yield _batch(corpus, part, tokenizer)


def _changed(example: LabelledText | TaggedText, random: Random, unpunctuated: float) -> LabelledText | TaggedText:
    if random.random() >= unpunctuated:
        return example
    text = spoken(example.text)
    return LabelledText(text, example.label) if isinstance(example, LabelledText) else TaggedText(text, example.spans)


def _batch(corpus: HeadCorpus, examples: Sequence[LabelledText | TaggedText], tokenizer: Tokenizer) -> TrainingBatch:
    encodings = tokenizer.encode_batch([example.text for example in examples])
    width = max(len(encoding.ids) for encoding in encodings)
    ids = np.zeros((len(encodings), width), np.int64)
    mask = np.zeros_like(ids)
    numbers = {label: number for number, label in enumerate(corpus.labels)}
    targets = (
        np.full(ids.shape, IGNORED, np.int64) if isinstance(examples[0], TaggedText) else np.zeros(len(ids), np.int64)
    )
    for row, (example, encoding) in enumerate(zip(examples, encodings, strict=True)):
        length = len(encoding.ids)
        ids[row, :length] = encoding.ids
        mask[row, :length] = 1
        if isinstance(example, TaggedText):
            targets[row, :length] = token_targets(encoding.offsets, example.spans, numbers)
        else:
            targets[row] = numbers[example.label]
    return TrainingBatch(corpus.head, ids, mask, targets, corpus.weight)


def token_targets(
    offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]], numbers: Mapping[str, int]
) -> list[int]:
    """The BIO tag of every token from the characters it covers."""
    targets = []
    before: tuple[int, int, str] | None = None
    for start, end in offsets:
        if start == end:  # [CLS] and [SEP] cover nothing
            targets.append(IGNORED)
            continue
        span = next((span for span in spans if span[0] < end and start < span[1]), None)
        if span is None:
            targets.append(numbers["O"])
        else:
            targets.append(numbers[f"{'I' if span == before else 'B'}-{span[2]}"])
        before = span
    return targets
