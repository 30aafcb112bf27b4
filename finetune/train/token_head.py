"""The token head that ships, fitted on the trained encoder. Needs the extra `finetune`.

The encoder is left alone, so its answers are computed once and kept: ten rounds over the examples then cost less than
one round of training.
"""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor, nn

from finetune.train.batches import IGNORED, HeadCorpus, batches, load_tokenizer
from finetune.train.network import NeighbourTokenHead, Network

ROUNDS = 10
RATE = 1e-3


def fit_tokens(network: Network, corpus: HeadCorpus, *, seed: int, unpunctuated: float = 0.4) -> None:
    """Replace the head of the corpus by one that sees its neighbours."""
    random = Random(seed)
    kept = _answers(network, corpus, random, unpunctuated)
    torch.manual_seed(seed)
    head = NeighbourTokenHead(len(network.read_layers) * network.encoder.config.hidden_size, len(corpus.labels))
    teach(head, kept, ROUNDS, RATE, random)
    network.token_heads[corpus.head] = head


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


def _answers(
    network: Network, corpus: HeadCorpus, random: Random, unpunctuated: float
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """What the encoder says to every batch, in half precision to fit in memory."""
    tokenizer = load_tokenizer(network.tokenizer)
    kept = []
    network.eval()
    with torch.no_grad():
        for batch in batches([corpus], tokenizer, random, size=32, unpunctuated=unpunctuated):
            mask = torch.from_numpy(batch.attention_mask)
            layers, _ = network.encode(torch.from_numpy(batch.input_ids), mask)
            kept.append((layers.half(), mask, torch.from_numpy(batch.targets)))
    return kept
