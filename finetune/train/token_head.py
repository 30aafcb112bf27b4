"""Training of a token head alone, on what lies below it. Needs the extra `finetune`.

What lies below is left alone, so its answers are computed once: ten rounds over the examples then cost less than one
round of training all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import torch
from torch import Tensor, nn

from finetune.train.batches import IGNORED
from finetune.train.language_layers import LanguageLayers
from finetune.train.language_trainer import EncodedExample, LanguageOptions, drawn_example, padded
from finetune.train.loop import repeatable
from finetune.train.network import NeighbourTokenHead

ROUNDS, RATE, SIZE = 10, 1e-3, 32


def fit_tokens(network: LanguageLayers, head: str, rows: Sequence[EncodedExample], options: LanguageOptions) -> None:
    """Train the head on, with the layers as they are."""
    repeatable(options.loop.seed, options.loop.threads)
    random = Random(options.loop.seed)
    drawn = sorted((drawn_example(row, random, options) for row in rows), key=len)
    kept = []
    with torch.no_grad():
        for first in range(0, len(drawn), SIZE):
            batch = drawn[first : first + SIZE]
            states, mask, segments = padded(batch)
            _, tokens, own = network.read(states, mask, segments)
            targets = torch.full(mask.shape, IGNORED)
            for at, row in enumerate(batch):
                known = row.form.targets[head]
                targets[at, : len(known)] = known
            kept.append((tokens.half(), own, targets))
    teach(network.token_heads[head], kept, ROUNDS, RATE, random)


def teach(
    head: NeighbourTokenHead, kept: list[tuple[Tensor, Tensor, Tensor]], rounds: int, rate: float, random: Random
) -> None:
    """Train a token head on what lies below it: layers, mask and targets of each batch."""
    optimizer = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=rounds * len(kept))
    loss_of = nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=0.02)
    head.train()
    for _ in range(rounds):
        random.shuffle(kept)
        for layers, mask, targets in kept:
            loss = loss_of(head(layers.float(), mask).flatten(0, -2), targets.flatten())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
    head.eval()
