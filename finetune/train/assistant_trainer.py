"""Training of the assistant's layers on states that are computed once. Needs the extra `finetune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from finetune.corpus.assistant_corpus import Utterance
from finetune.train.assistant_layers import AssistantLayers
from finetune.train.batches import IGNORED
from finetune.train.loop import Figures, LoopOptions, RunPlace, train
from nlp.inference.assistant.words import deciding_tokens, word_offsets
from nlp.inference.models.token_encoder import EncodedText, TokenEncoder
from tenor.taxonomy.assistant import SLOT_LABELS, SPOKEN_INTENTS


@dataclass(frozen=True, slots=True)
class AssistantOptions(LoopOptions):
    """How to train. The same options on the same sentences give the same model."""

    epochs: int = 4
    smoothing: float = 0.05
    slot_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class EncodedExample:
    states: Tensor
    """In half precision, to fit in memory."""
    intent: int
    targets: Tensor
    """The slot label of every token that decides for a word."""
    weight: float


def encoded(
    rows: Sequence[Utterance], encoder: TokenEncoder, intents: Sequence[str] = SPOKEN_INTENTS,
    labels: Sequence[str] = SLOT_LABELS, *, at_once: int = 256,
) -> list[EncodedExample]:  # fmt: skip
    intent_numbers = {intent: number for number, intent in enumerate(intents)}
    label_numbers = {label: number for number, label in enumerate(labels)}
    made = []
    for first in range(0, len(rows), at_once):
        part = rows[first : first + at_once]
        for row, text in zip(part, encoder.encode([row.text for row in part]), strict=True):
            states = torch.from_numpy(text.states).half()
            targets = torch.from_numpy(_targets(row, text, label_numbers))
            made.append(EncodedExample(states, intent_numbers[row.intent], targets, row.weight))
    return made


def _targets(row: Utterance, text: EncodedText, numbers: Mapping[str, int]) -> np.ndarray:
    targets = np.full(len(text.states), IGNORED, np.int64)
    if row.tags is not None:
        tokens = deciding_tokens(row.text, word_offsets(row.text), text.offsets)
        for token, tag in zip(tokens, row.tags, strict=True):
            if token is not None:
                targets[token] = numbers[tag]
    return targets


def train_assistant(
    network: AssistantLayers, rows: Sequence[EncodedExample], options: AssistantOptions, place: RunPlace | None = None,
    validation: Sequence[EncodedExample] = (),
) -> None:  # fmt: skip
    def validate() -> Figures:
        return shares_right(network, validation)

    train(
        network,
        lambda epoch: rows,
        lambda row: len(row.states),
        lambda batch: _summed_loss(network, batch, options),
        options,
        place,
        validate if validation else None,
    )


def _summed_loss(network: AssistantLayers, batch: Sequence[EncodedExample], options: AssistantOptions) -> Tensor:
    """Of every row the mistake in its intent and, where its slots are told, the mean of those in its words."""
    states, mask, _, intents, weights = _together(batch)
    intent, slots, _ = network(states, mask)
    loss = nn.functional.cross_entropy(
        intent.float(), intents, label_smoothing=options.smoothing, reduction="none"
    )  # fmt: skip
    total = (loss * weights).sum()
    for at, row in enumerate(batch):
        if bool((row.targets != IGNORED).any()):
            logits = slots[at, : len(row.targets)].float()
            of_words = nn.functional.cross_entropy(
                logits, row.targets, ignore_index=IGNORED, label_smoothing=options.smoothing
            )
            total = total + options.slot_weight * of_words
    return total


def shares_right(network: AssistantLayers, rows: Sequence[EncodedExample], *, size: int = 64) -> dict[str, float]:
    """Shares of right intents, and of right labels among the words whose labels are told."""
    intents = words = told = 0
    with torch.no_grad():
        for first in range(0, len(rows), size):
            batch = rows[first : first + size]
            states, mask, targets, wanted, _ = _together(batch)
            intent, slots, _ = network(states, mask)
            intents += int((intent.argmax(-1) == wanted).sum())
            known = targets != IGNORED
            words += int((slots.argmax(-1)[known] == targets[known]).sum())
            told += int(known.sum())
    figures = {"val intent accuracy": intents / len(rows)}
    return figures | ({"val slot accuracy": words / told} if told else {})


def _together(batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    length = max(len(row.states) for row in batch)
    states = torch.zeros(len(batch), length, batch[0].states.shape[1])
    mask = torch.zeros(len(batch), length, dtype=torch.int64)
    targets = torch.full((len(batch), length), IGNORED)
    for number, row in enumerate(batch):
        states[number, : len(row.states)] = row.states.float()
        mask[number, : len(row.states)] = 1
        targets[number, : len(row.states)] = row.targets
    intents = torch.tensor([row.intent for row in batch])
    weights = torch.tensor([row.weight for row in batch], dtype=torch.float32)
    return states, mask, targets, intents, weights
