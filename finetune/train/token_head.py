"""Training of a token head alone, on an encoder's answers that were computed once. Needs the extra `finetune`."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor, nn

from finetune.train.batches import IGNORED
from finetune.train.network import NeighbourTokenHead


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
