"""Training: several heads on one encoder, a batch of one head at a time. Needs the extra `finetune`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from torch import nn

from finetune.corpus.examples import LabelledText
from finetune.progress import progress
from finetune.train import encoders
from finetune.train.batches import IGNORED, HeadCorpus, batches, load_tokenizer
from finetune.train.network import Network


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train. The same options on the same corpora give the same model."""

    epochs: int = 2
    batch: int = 32
    encoder_rate: float = 1.5e-4
    head_rate: float = 1e-3
    smoothing: float = 0.05
    unpunctuated: float = 0.4
    seed: int = 7
    threads: int = 1
    trained_layers: int | None = None
    """Of the encoder, from the top; a third when nothing is said."""
    encoder: str = encoders.DEFAULT
    encoders: Path | None = None
    """Folder of the Maven artifacts, for the encoders that come so."""


def train(corpora: Sequence[HeadCorpus], options: TrainingOptions) -> Network:
    """A network with a head for each corpus."""
    _repeatable(options)
    token = {corpus.head for corpus in corpora if "O" in corpus.labels}
    sizes = {corpus.head: len(corpus.labels) for corpus in corpora}
    network = Network(
        encoders.load_encoder(options.encoder, options.encoders),
        {head: size for head, size in sizes.items() if head not in token},
        {head: size for head, size in sizes.items() if head in token},
        trained_layers=options.trained_layers,
    )
    return _trained(network, corpora, options)


def train_intents(rows: Sequence[LabelledText], labels: Sequence[str], options: TrainingOptions) -> Network:
    """A network with an intent head alone. The head is fitted first, on the encoder as it is: a head that starts
    from nothing would shake what the encoder knows."""
    _repeatable(options)
    corpus = HeadCorpus("intent", rows, labels)
    encoder = encoders.load_encoder(options.encoder, options.encoders)
    network = Network(encoder, {"intent": len(labels)}, {}, trained_layers=options.trained_layers).eval()
    fit_head(network, corpus)
    return _trained(network, [corpus], options)


def fit_head(network: Network, corpus: HeadCorpus, *, steps: int = 300, rate: float = 0.05) -> None:
    tokenizer = load_tokenizer(network.tokenizer)
    vectors, targets = [], []
    with torch.no_grad():
        for batch in batches([corpus], tokenizer, Random(0), size=64):
            vectors.append(network.encode(torch.from_numpy(batch.input_ids), torch.from_numpy(batch.attention_mask))[1])
            targets.append(torch.from_numpy(batch.targets))
    known, right = torch.cat(vectors), torch.cat(targets)
    head = network.sentence_heads[corpus.head]
    optimizer = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss_of(head(known), right).backward()
        optimizer.step()


def _repeatable(options: TrainingOptions) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)


def _trained(network: Network, corpora: Sequence[HeadCorpus], options: TrainingOptions) -> Network:
    random = Random(options.seed)
    tokenizer = load_tokenizer(network.tokenizer)
    steps = options.epochs * sum(-(-len(corpus.examples) // options.batch) for corpus in corpora)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": options.encoder_rate},
            {
                "params": [*network.sentence_heads.parameters(), *network.token_heads.parameters()],
                "lr": options.head_rate,
            },
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        [options.encoder_rate, options.head_rate],
        total_steps=steps + 1,
        pct_start=0.06,
        anneal_strategy="linear",
    )
    loss_of = nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=options.smoothing)
    network.train()
    with progress() as shown:
        bar = shown.add_task("training", total=steps, loss="")
        for _ in range(options.epochs):
            for batch in batches(corpora, tokenizer, random, size=options.batch, unpunctuated=options.unpunctuated):
                answers = network(batch.head, torch.from_numpy(batch.input_ids), torch.from_numpy(batch.attention_mask))
                loss = loss_of(answers.flatten(0, -2), torch.from_numpy(batch.targets).flatten()) * batch.weight
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                shown.update(bar, advance=1, loss=f"{batch.head} {loss.item():.2f}")
    network.eval()
    return network
