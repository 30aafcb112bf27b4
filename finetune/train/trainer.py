"""Training: several heads on one encoder, a batch of one head at a time. Needs the extra `finetune`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import nn

from finetune.batches import IGNORED, Lesson, batches, load_tokenizer
from finetune.examples import Labelled
from finetune.network import Network, encoder_folder


@dataclass(frozen=True, slots=True)
class Course:
    """How to train. The same course on the same lessons gives the same model."""

    epochs: int = 2
    batch: int = 32
    encoder_rate: float = 1.5e-4
    head_rate: float = 1e-3
    smoothing: float = 0.05
    unpunctuated: float = 0.4
    seed: int = 7
    threads: int = 1
    trained_layers: int = 2
    """Of the encoder's six, from the top."""


def train(lessons: Sequence[Lesson], course: Course) -> Network:
    """A network with a head for each lesson."""
    _repeatable(course)
    token = {lesson.head for lesson in lessons if "O" in lesson.labels}
    sizes = {lesson.head: len(lesson.labels) for lesson in lessons}
    network = Network(
        {head: size for head, size in sizes.items() if head not in token},
        {head: size for head, size in sizes.items() if head in token},
        trained_layers=course.trained_layers,
    )
    return _taught(network, lessons, course)


def train_intents(rows: Sequence[Labelled], labels: Sequence[str], course: Course) -> Network:
    """A network with an intent head alone. The head is fitted first, on the encoder as it is: a head that starts
    from nothing would shake what the encoder knows."""
    _repeatable(course)
    lesson = Lesson("intent", rows, labels)
    network = Network({"intent": len(labels)}, {}, trained_layers=course.trained_layers).eval()
    fit_head(network, lesson)
    return _taught(network, [lesson], course)


def fit_head(network: Network, lesson: Lesson, *, steps: int = 300, rate: float = 0.05) -> None:
    tokenizer = load_tokenizer(encoder_folder() / "tokenizer.json")
    vectors, targets = [], []
    with torch.no_grad():
        for batch in batches([lesson], tokenizer, Random(0), size=64):
            vectors.append(network.encode(torch.from_numpy(batch.input_ids), torch.from_numpy(batch.attention_mask))[1])
            targets.append(torch.from_numpy(batch.targets))
    known, right = torch.cat(vectors), torch.cat(targets)
    head = network.sentence_heads[lesson.head]
    optimizer = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss_of(head(known), right).backward()
        optimizer.step()


def _repeatable(course: Course) -> None:
    torch.manual_seed(course.seed)
    torch.set_num_threads(course.threads)
    torch.use_deterministic_algorithms(True)


def _taught(network: Network, lessons: Sequence[Lesson], course: Course) -> Network:
    random = Random(course.seed)
    tokenizer = load_tokenizer(encoder_folder() / "tokenizer.json")
    steps = course.epochs * sum(-(-len(lesson.examples) // course.batch) for lesson in lessons)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": course.encoder_rate},
            {
                "params": [*network.sentence_heads.parameters(), *network.token_heads.parameters()],
                "lr": course.head_rate,
            },
        ],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        [course.encoder_rate, course.head_rate],
        total_steps=steps + 1,
        pct_start=0.06,
        anneal_strategy="linear",
    )
    loss_of = nn.CrossEntropyLoss(ignore_index=IGNORED, label_smoothing=course.smoothing)
    network.train()
    with _progress() as progress:
        bar = progress.add_task("training", total=steps, loss="")
        for _ in range(course.epochs):
            for batch in batches(lessons, tokenizer, random, size=course.batch, unpunctuated=course.unpunctuated):
                answers = network(batch.head, torch.from_numpy(batch.input_ids), torch.from_numpy(batch.attention_mask))
                loss = loss_of(answers.flatten(0, -2), torch.from_numpy(batch.targets).flatten()) * batch.weight
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                progress.update(bar, advance=1, loss=f"{batch.head} {loss.item():.2f}")
    network.eval()
    return network


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[loss]}", style="dim"),
        console=Console(stderr=True),
        refresh_per_second=2,
    )
