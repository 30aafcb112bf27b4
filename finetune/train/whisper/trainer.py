"""Training by steps: each step's windows are a function of the seed and its number, so a run that was interrupted
goes on as if it had not been. Needs the extra `finetune`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from asr.local.stt.engines.base import Audio
from asr.local.stt.engines.mel import filters
from finetune.recipes.base import Paused, StopRequest, new_checkpoint, newest_checkpoint
from finetune.train.loop import most, process_rank, summed
from finetune.train.whisper import sound, texts
from finetune.train.whisper.network import WhisperNetwork
from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.windows import WindowMix, WindowPlan, WindowPlanner

_IGNORED = -100
_CHECKPOINT = ".pt"
_MEASURED_WINDOWS = 16
"""The loss on words that are not trained on is told from so many windows."""


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    steps: int
    batch: int
    rate: float
    warmup: int
    mix: WindowMix
    noise_share: float
    noise_snr_db: tuple[float, float]
    spec_augment: bool
    average: float
    """How much of the mean of the weights so far stays at each step; 0: the last weights count."""
    mixed_precision: bool
    seed: int
    threads: int
    checkpoint_every: int
    validate_every: int


@dataclass(frozen=True, slots=True)
class TrainerStep:
    step: int
    loss: float
    seconds: float
    """Of audio in the step's windows."""
    validation: float | None = None


class WhisperTrainer:
    def __init__(
        self,
        network: WhisperNetwork,
        tokenizer: Tokenizer,
        segments: Sequence[SpeechSegment],
        options: TrainerOptions,
        out: Path,
    ) -> None:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        torch.use_deterministic_algorithms(True)
        self._network = network
        self._tokenizer = tokenizer
        self._options = options
        self._out = out
        self._bank = filters(network.encoder.conv1.in_channels)
        self._start = [_token(tokenizer, name) for name in ("<|startoftranscript|>", "<|notimestamps|>")]
        self._end = _token(tokenizer, "<|endoftext|>")
        self._train = [one for one in segments if one.split == "train"]
        self._val = [one for one in segments if one.split == "val"]
        self._trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        for parameter in self._trained:
            parameter.grad = torch.zeros_like(parameter)
        self._optimizer = torch.optim.AdamW(self._trained, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0)
        self._mean = {name: value.clone() for name, value in network.state_dict().items()}
        self._loss = nn.CrossEntropyLoss(ignore_index=_IGNORED, reduction="sum")

    def run(self, on_step: Callable[[TrainerStep], None], stop: StopRequest) -> None:
        """Train to the last step, from the newest checkpoint if there is one. The network then has the mean weights."""
        options = self._options
        plans = WindowPlanner(self._train, options.mix).batches(Random(options.seed), options.batch)
        first = self._resume()
        for step, plan in enumerate(islice(plans, first, options.steps), first + 1):
            loss, asked = self._step(step, plan, stop.asked)
            self._average()
            last = step == options.steps
            if last:
                self._network.load_state_dict(self._mean)
            validation = self.validation_loss() if last or step % options.validate_every == 0 else None
            on_step(TrainerStep(step, loss, sum(one.seconds for one in plan), validation))
            if asked or last or step % options.checkpoint_every == 0:
                self._save(step)
            if asked and not last:
                raise Paused(f"paused after step {step} of {options.steps}", "the same command goes on from there")

    def validation_loss(self) -> float | None:
        """The loss on speakers who are not trained on; None if there are none."""
        planner = WindowPlanner(self._val, WindowMix(live=0.0, noise_only=0.0))
        plans = planner.once()
        chosen = Random(0).sample(plans, min(_MEASURED_WINDOWS, len(plans)))
        if not chosen:
            return None
        loss = 0.0
        self._network.eval()
        with torch.no_grad():
            for at in range(0, len(chosen), self._options.batch):
                plan = chosen[at : at + self._options.batch]
                heard = [self._heard(one, self._val, None) for one in plan]
                features, given, wanted = self._tensors(heard, plan, self._val)
                tokens = int((wanted != _IGNORED).sum())
                loss += float(self._loss_of(features, given, wanted).item()) / tokens * len(plan)
        return loss / len(chosen)

    def _step(self, step: int, plan: Sequence[WindowPlan], asked: bool) -> tuple[float, bool]:
        """The loss, and whether a process was asked to stop. Of several processes each takes its part of the windows,
        and all take the same step."""
        options = self._options
        rising = min(step / max(options.warmup, 1), 1.0)
        falling = (options.steps - step + 1) / options.steps
        for group in self._optimizer.param_groups:
            group["lr"] = options.rate * rising * falling
        self._network.train()
        self._optimizer.zero_grad(set_to_none=False)
        rank, world = process_rank()
        tokens = sum(len(self._tokens(one, self._train)) + 1 for one in plan)
        part = range(rank, len(plan), world)
        heard = [self._heard(plan[number], self._train, Random(f"{options.seed} {step} {number}")) for number in part]
        frames = most(max((one.shape[1] for one in heard), default=0))
        told = 0.0
        if heard:
            own = [plan[number] for number in part]
            loss = self._loss_of(*self._tensors(heard, own, self._train, frames)) / tokens
            loss.backward()
            told = float(loss.item())
        told, asked = summed(self._trained, told, asked, world)
        nn.utils.clip_grad_norm_(self._trained, 1.0)
        self._optimizer.step()
        return told, asked

    def _average(self) -> None:
        for name, value in self._network.state_dict().items():
            self._mean[name].lerp_(value, 1 - self._options.average)

    def _loss_of(self, features: Tensor, given: Tensor, wanted: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=self._options.mixed_precision):
            logits = self._network(features, given)
        loss: Tensor = self._loss(logits.flatten(0, 1).float(), wanted.flatten())
        return loss

    def _tensors(
        self, heard: Sequence[Audio], plan: Sequence[WindowPlan], segments: Sequence[SpeechSegment], frames: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Features (`frames` long at least), the tokens that are given, and those wanted at each place."""
        frames = max(frames, *(one.shape[1] for one in heard))
        features = np.stack(
            [np.pad(one, ((0, 0), (0, frames - one.shape[1])), constant_values=one.min()) for one in heard]
        )
        said = [self._tokens(one, segments) for one in plan]
        length = len(self._start) + max(map(len, said))
        given = np.full((len(plan), length), self._end)
        wanted = np.full((len(plan), length), _IGNORED)
        skip = len(self._start) - 1  # the start is given, not learned
        for row, ids in enumerate(said):
            given[row, : len(self._start) + len(ids)] = [*self._start, *ids]
            wanted[row, skip : skip + len(ids) + 1] = [*ids, self._end]
        return torch.from_numpy(features), torch.from_numpy(given), torch.from_numpy(wanted)

    def _heard(self, plan: WindowPlan, segments: Sequence[SpeechSegment], random: Random | None) -> Audio:
        """What the network hears of a window; with `random` made harder."""
        options = self._options
        noise = None
        if random is not None and random.random() < options.noise_share:
            noise = sound.Noise(random.uniform(*options.noise_snr_db), random.getrandbits(32))
        spectrum = sound.features(plan, sound.window_audio(plan, segments, noise), self._bank)
        return sound.masked(spectrum, random) if random is not None and options.spec_augment else spectrum

    def _tokens(self, plan: WindowPlan, segments: Sequence[SpeechSegment]) -> list[int]:
        text = texts.as_window(segments[number].text for number in plan.segments)
        ids: list[int] = self._tokenizer.encode(f" {text}", add_special_tokens=False).ids if text else []
        return ids

    def _save(self, step: int) -> None:
        if process_rank()[0]:
            return
        state = {
            "step": step,
            "network": self._network.state_dict(),
            "mean": self._mean,
            "optimizer": self._optimizer.state_dict(),
        }
        with new_checkpoint(self._out, step, _CHECKPOINT) as path:
            torch.save(state, path)

    def _resume(self) -> int:
        """The number of steps that the newest checkpoint has behind it."""
        newest = newest_checkpoint(self._out, _CHECKPOINT)
        if newest is None:
            return 0
        state: dict[str, Any] = torch.load(newest, weights_only=True)
        self._network.load_state_dict(state["network"])
        self._mean = state["mean"]
        self._optimizer.load_state_dict(state["optimizer"])
        return int(state["step"])


def _token(tokenizer: Tokenizer, text: str) -> int:
    number: int | None = tokenizer.token_to_id(text)
    if number is None:
        raise ValueError(f"the tokenizer has no {text}")
    return number
