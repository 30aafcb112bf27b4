"""Training of the assistant's layers on states that are computed once. Needs the extra `finetune`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from torch import Tensor, nn

from finetune.corpus.assistant_corpus import Utterance
from finetune.train.assistant_layers import AssistantLayers
from finetune.train.batches import IGNORED
from finetune.train.trainer import progress_bar
from nlp.inference.token_encoder import EncodedText, TokenEncoder
from nlp.inference.words import deciding_tokens, word_offsets
from tenor.taxonomy.assistant import SLOT_LABELS, SPOKEN_INTENTS

INTENT_NUMBERS = {intent: number for number, intent in enumerate(SPOKEN_INTENTS)}
LABEL_NUMBERS = {label: number for number, label in enumerate(SLOT_LABELS)}


@dataclass(frozen=True, slots=True)
class AssistantOptions:
    """How to train. The same options on the same sentences give the same model."""

    epochs: int = 4
    batch: int = 32
    layer_rate: float = 2e-4
    head_rate: float = 1e-3
    smoothing: float = 0.05
    slot_weight: float = 1.0
    seed: int = 7
    threads: int = 1


@dataclass(frozen=True, slots=True)
class EncodedExample:
    states: Tensor
    """In half precision, to fit in memory."""
    intent: int
    targets: Tensor
    """The slot label of every token that decides for a word."""
    weight: float


def encoded(rows: Sequence[Utterance], encoder: TokenEncoder, *, at_once: int = 256) -> list[EncodedExample]:
    made = []
    for first in range(0, len(rows), at_once):
        part = rows[first : first + at_once]
        for row, text in zip(part, encoder.encode([row.text for row in part]), strict=True):
            states = torch.from_numpy(text.states).half()
            made.append(
                EncodedExample(states, INTENT_NUMBERS[row.intent], torch.from_numpy(_targets(row, text)), row.weight)
            )
    return made


def _targets(row: Utterance, text: EncodedText) -> np.ndarray:
    targets = np.full(len(text.states), IGNORED, np.int64)
    if row.tags is not None:
        tokens = deciding_tokens(row.text, word_offsets(row.text), text.offsets)
        for token, tag in zip(tokens, row.tags, strict=True):
            if token is not None:
                targets[token] = LABEL_NUMBERS[tag]
    return targets


def train_assistant(network: AssistantLayers, rows: Sequence[EncodedExample], options: AssistantOptions) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    random = Random(options.seed)
    layers = list(network.layers.parameters())
    heads = [p for name, p in network.named_parameters() if not name.startswith("layers.")]
    steps = options.epochs * -(-len(rows) // options.batch)
    optimizer = torch.optim.AdamW(
        [{"params": layers, "lr": options.layer_rate}, {"params": heads, "lr": options.head_rate}], weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        [options.layer_rate, options.head_rate],
        total_steps=steps + 1,
        pct_start=0.1,
        anneal_strategy="linear",
    )
    intent_loss = nn.CrossEntropyLoss(label_smoothing=options.smoothing, reduction="none")
    slot_loss = nn.CrossEntropyLoss(label_smoothing=options.smoothing, ignore_index=IGNORED, reduction="sum")
    network.train()
    with progress_bar() as progress:
        bar = progress.add_task("training", total=steps, loss="")
        for _ in range(options.epochs):
            for batch in _batches(rows, options.batch, random):
                states, mask, targets, intents, weights = _together(batch)
                intent, slots, _ = network(states, mask)
                loss = (intent_loss(intent, intents) * weights).mean()
                told = int((targets != IGNORED).sum())
                if told:
                    loss = loss + options.slot_weight * slot_loss(slots.flatten(0, 1), targets.flatten()) / told
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                progress.update(bar, advance=1, loss=f"{loss.item():.2f}")
    network.eval()


def _batches(rows: Sequence[EncodedExample], size: int, random: Random) -> list[list[EncodedExample]]:
    """All rows once, of like length together, in random order."""
    order = list(rows)
    random.shuffle(order)
    made = []
    window = size * 40
    for start in range(0, len(order), window):
        part = sorted(order[start : start + window], key=lambda row: len(row.states))
        made += [part[first : first + size] for first in range(0, len(part), size)]
    random.shuffle(made)
    return made


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
