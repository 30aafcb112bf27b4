"""NeMo's model and data in our loop, which is repeatable, can be stopped and resumed, and runs on several processes.
Needs NeMo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor, nn

from asr.local.stt.engines.base import RATE
from finetune.train.loop import Figures, LoopOptions, RunPlace, train
from finetune.train.nemo.manifest import Manifest
from finetune.train.nemo.model import greedy_text, tokens_of
from finetune.train.whisper.texts import word_errors


class _Network(nn.Module):  # type: ignore[misc]
    """What is trained of the model, under the loop's names: `layers` have a rate of their own."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.layers, self.heads = model.encoder, model.decoder
        self._whole = (model,)  # in a tuple, so that its weights are not saved twice

    def train(self, mode: bool = True) -> _Network:
        super().train(mode)
        self._whole[0].train(mode)
        return self


def train_nemo(model: Any, training: Manifest, validation: Manifest, options: LoopOptions, place: RunPlace) -> None:
    model.encoder.sync_max_audio_length = False  # it would have all processes wait for each other in every pass
    taught, checked = _dataset(model, training), _dataset(model, validation) if validation.audio else None
    lengths = [entry.duration for entry in taught.manifest_processor.collection]

    def loss_of(rows: Sequence[int]) -> Tensor:
        return _loss(model, taught, rows)[0]

    def validate() -> Figures:
        return _validated(model, checked, validation.texts, options.batch) if checked is not None else {}

    train(
        _Network(model), lambda epoch: range(len(lengths)), lambda row: int(1000 * lengths[row]), loss_of, options,
        place, validate,
    )  # fmt: skip


def _dataset(model: Any, manifest: Manifest) -> Any:
    """As NeMo reads it, with the model's own tokens."""
    config = {"manifest_filepath": str(manifest.path), "sample_rate": RATE, "batch_size": 1, "shuffle": False}
    return model._setup_dataloader_from_config(DictConfig({**config, "labels": list(model.decoder.vocabulary)})).dataset


def _loss(model: Any, dataset: Any, rows: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """The sum over the rows, the likeliest tokens, and how many of them count."""
    audio, audio_lengths, wanted, wanted_lengths = dataset.collate_fn([dataset[row] for row in rows])[:4]
    log_probabilities, lengths, best = model.forward(input_signal=audio, input_signal_length=audio_lengths)
    loss = nn.functional.ctc_loss(
        log_probabilities.float().transpose(0, 1), wanted, lengths, wanted_lengths,
        blank=log_probabilities.shape[-1] - 1, reduction="none", zero_infinity=True,
    )  # fmt: skip
    return loss.sum(), best, lengths


def _validated(model: Any, dataset: Any, texts: Sequence[str], batch: int) -> Figures:
    tokens = tokens_of(model)
    loss, wrong = 0.0, 0
    with torch.no_grad():
        for first in range(0, len(texts), batch):
            rows = range(first, min(first + batch, len(texts)))
            summed, best, lengths = _loss(model, dataset, rows)
            loss += float(summed.item())
            for row, frames, length in zip(rows, best, lengths, strict=True):
                wrong += word_errors(texts[row].split(), greedy_text(tokens, frames[:length]).split())
    words = sum(len(text.split()) for text in texts)
    return {"val_loss": loss / len(texts), "val_wer": wrong / max(words, 1)}
