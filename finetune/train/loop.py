"""The loop that trains a network on rows: batches, steps, checkpoints, validation. Needs the extra `finetune`.

Everything random is a function of seed and step, so a run that goes on from a checkpoint comes to the same weights as
one that was never stopped, and so does a run on several processes (torchrun), of which each takes its part of every
batch: what they learn is added up before a step is taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

import torch
from torch import Tensor, distributed, nn

from finetune.progress import progress
from finetune.recipes.base import Paused, RunRecord, StopRequest, new_checkpoint, newest_checkpoint

SUFFIX = ".pt"
WINDOW = 40
"""Batches that are sorted by length together: little is padding, and their order stays random."""
FIRST, LAST = 1 / 25, 1 / 250_000
"""Of the rate, at the first and after the last step."""

Row = TypeVar("Row")
Figures = Mapping[str, float]
Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True, slots=True)
class LoopOptions:
    epochs: int = 3
    batch: int = 32
    layer_rate: float = 2e-4
    head_rate: float = 1e-3
    warm_up: float = 0.1
    """Share of the steps in which the rate rises; then it falls."""
    decay: float = 0.01
    seed: int = 7
    threads: int = 1
    precision: Precision = "float32"
    checkpoint_every: int = 200
    """Steps; 0: only when it is asked to stop."""
    validate_every: int = 1
    """Epochs; 0: never."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run keeps and tells things; all of it may be absent."""

    out: Path | None = None
    record: RunRecord | None = None
    stop: StopRequest | None = None


def train(
    network: nn.Module, rows_of_epoch: Callable[[int], Sequence[Row]], length: Callable[[Row], int],
    loss_of: Callable[[Sequence[Row]], Tensor], options: LoopOptions, place: RunPlace | None = None,
    validate: Callable[[], Figures] | None = None,
) -> None:  # fmt: skip
    """`loss_of` gives the sum over the rows of a batch. Parameters of `layers` have a rate of their own."""
    place = place or RunPlace()
    repeatable(options.seed, options.threads)
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer, schedule_of = _optimizer(network, options)
    per_epoch = -(-len(rows_of_epoch(0)) // options.batch)
    steps = options.epochs * per_epoch
    done = _resumed(place, network, optimizer)
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    rank, world = process_rank()
    network.train()
    with progress(quiet=rank > 0) as shown:
        bar = shown.add_task("training", total=steps, completed=done, loss="")
        for epoch in range(done // per_epoch, options.epochs):
            random = Random(f"{options.seed}:{epoch}")
            for number, batch in enumerate(batches(rows_of_epoch(epoch), length, options.batch, random)):
                step = epoch * per_epoch + number
                if step < done:
                    continue
                torch.manual_seed(options.seed * 1_000_003 + step)
                schedule_of(step / steps)
                optimizer.zero_grad(set_to_none=False)
                part, told = batch[rank::world], 0.0
                if part:
                    with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bfloat16"):
                        loss = loss_of(part) / len(batch)
                    loss.backward()
                    told = loss.item()
                told, asked = summed(parameters, told, bool(place.stop and place.stop.asked), world)
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                shown.update(bar, advance=1, loss=f"loss {told:.3f}")
                if place.record is not None and rank == 0:
                    place.record.point(step + 1, "loss", told)
                if asked or (options.checkpoint_every and (step + 1) % options.checkpoint_every == 0):
                    _save(place, step + 1, network, optimizer, rank)
                if asked:
                    raise Paused("stopped, with a checkpoint", "the same command goes on from it")
            last = epoch + 1 == options.epochs
            if validate and options.validate_every and ((epoch + 1) % options.validate_every == 0 or last):
                network.eval()
                for name, value in validate().items():
                    if place.record is not None and rank == 0:
                        place.record.point((epoch + 1) * per_epoch, name, value)
                network.train()
    network.eval()


def batches(rows: Sequence[Row], length: Callable[[Row], int], size: int, random: Random) -> list[list[Row]]:
    """All rows once, of like length together, in random order."""
    order = list(rows)
    random.shuffle(order)
    made = []
    for start in range(0, len(order), size * WINDOW):
        part = sorted(order[start : start + size * WINDOW], key=length)
        made += [part[first : first + size] for first in range(0, len(part), size)]
    random.shuffle(made)
    return made


def repeatable(seed: int, threads: int) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)


def process_rank() -> tuple[int, int]:
    """Which of the processes of torchrun this is, and how many there are."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


@contextmanager
def joined_processes() -> Iterator[int]:
    """The number of this process among those that torchrun started; 0 where it is alone. All end together."""
    together = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if together:
        distributed.init_process_group("gloo")
    try:
        yield process_rank()[0]
        if together:
            distributed.barrier()
    finally:
        if together:
            distributed.destroy_process_group()


def gathered(own: Sequence[Row]) -> list[Row]:
    """What every process made of its part, which is each nth, in the order of the whole."""
    world = process_rank()[1]
    if world == 1:
        return list(own)
    parts: list[Sequence[Row]] = [[] for _ in range(world)]
    distributed.all_gather_object(parts, list(own))
    return [part[at] for at in range(len(parts[0])) for part in parts if at < len(part)]


def most(number: int) -> int:
    """The largest of what the processes say."""
    if process_rank()[1] == 1:
        return number
    found = torch.tensor([number])
    distributed.all_reduce(found, distributed.ReduceOp.MAX)
    return int(found.item())


def _optimizer(network: nn.Module, options: LoopOptions) -> tuple[torch.optim.Optimizer, Callable[[float], None]]:
    """And what sets its rates for a share of the steps: up in a line, then down in a line."""
    named = [(name, parameter) for name, parameter in network.named_parameters() if parameter.requires_grad]
    rates = (options.layer_rate, options.head_rate)
    layers = [parameter for name, parameter in named if name.startswith("layers.")]
    heads = [parameter for name, parameter in named if not name.startswith("layers.")]
    groups = [{"params": some, "lr": rate} for some, rate in zip((layers, heads), rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=options.decay)

    def schedule(share: float) -> None:
        if share < options.warm_up:
            factor = FIRST + (1 - FIRST) * share / options.warm_up
        else:
            factor = 1 + (LAST - 1) * (share - options.warm_up) / (1 - options.warm_up)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor

    return optimizer, schedule


def summed(parameters: Sequence[Tensor], loss: float, asked: bool, world: int) -> tuple[float, bool]:
    """Gradients and loss added up over all processes; whether one of them was asked to stop."""
    if world == 1:
        return loss, asked
    flat = torch.cat([*(one.grad.flatten() for one in parameters), torch.tensor([loss, float(asked)])])
    distributed.all_reduce(flat)
    at = 0
    for one in parameters:
        one.grad.copy_(flat[at : at + one.numel()].view_as(one))
        at += one.numel()
    return flat[-2].item(), bool(flat[-1].item())


def _save(place: RunPlace, step: int, network: nn.Module, optimizer: torch.optim.Optimizer, rank: int) -> None:
    if place.out is None or rank:
        return
    with new_checkpoint(place.out, step, SUFFIX) as part:
        torch.save({"step": step, "network": network.state_dict(), "optimizer": optimizer.state_dict()}, part)


def _resumed(place: RunPlace, network: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Steps that are done already."""
    newest = newest_checkpoint(place.out, SUFFIX) if place.out is not None else None
    if newest is None:
        return 0
    kept = torch.load(newest, weights_only=True)
    network.load_state_dict(kept["network"])
    optimizer.load_state_dict(kept["optimizer"])
    if place.record is not None:
        place.record.note(f"goes on after step {kept['step']}")
    return int(kept["step"])
