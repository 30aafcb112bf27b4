"""Upper layers and heads of a language model, trained on from the weights it ships with. Needs the extra `finetune`.

The shared encoder stays as it is, so its answers are computed once. So that what the model knew stays known, sentences
of our own are learned again beside the rows, with the deployed model's own answers as targets; and where a row has no
label for a head, that head is to answer as it did. `torchrun -m finetune run layers ...` trains on several processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from finetune.corpus.examples import LanguageExample
from finetune.export.language_folder import KEPT, WEIGHTS, child_card, open_start, save_card, write_golden
from finetune.recipes.base import MODEL, RunRecord, StopRequest, TrainingRow, needs_training, stoppable
from finetune.recipes.language_rows import (
    examples,
    grown,
    language_rows,
    learned_examples,
    own_texts,
    repeatable_encoder,
    replay,
)
from nlp.inference.models.layered_model import LayeredModel
from nlp.inference.types import SentenceContext
from tenor.model_store import read_card
from tenor.model_store.card import Kind

if TYPE_CHECKING:
    from finetune.train.language_trainer import EncodedExample

MEASURED = 2000
"""Sentences that are asked in both precisions."""


MOST_OFTEN = 4
"""More makes a model that is worse at other sentences."""


class LayersParameters(msgspec.Struct, frozen=True, kw_only=True):
    model: Annotated[str, Meta(description="Folder of the model to start from; empty: the one that ships.")] = ""
    epochs: Annotated[int, Meta(ge=1, description="How often every row is seen.")] = 4
    batch: Annotated[int, Meta(ge=1, description="Rows of one step, of all processes together.")] = 32
    layer_rate: Annotated[float, Meta(gt=0, description="How far a step of the layers goes at most,")] = 1e-4
    head_rate: Annotated[float, Meta(gt=0, description="and one of the heads.")] = 5e-4
    dropout: Annotated[float, Meta(ge=0, lt=1, description="Share of values that are left out in training.")] = 0.1
    replay: Annotated[int, Meta(ge=0, description="Sentences of our own that are learned again beside the rows.")] = (
        4000
    )
    repeat: Annotated[
        int,
        Meta(ge=0, description="How often an epoch has each row, our own sentences once; 0: up to four times, if few."),
    ] = 0
    validation_share: Annotated[
        float, Meta(ge=0, lt=1, description="Of the groups, to validate with, where no row is marked for it.")
    ] = 0.1
    validate_every: Annotated[int, Meta(ge=0, description="Epochs between two validations; 0: never.")] = 1
    checkpoint_every: Annotated[int, Meta(ge=0, description="Steps between two checkpoints; 0: only when stopped.")] = (
        200
    )
    precision: Annotated[
        Literal["float32", "bfloat16"], Meta(description="bfloat16 is quicker where the processor has it.")
    ] = "float32"
    seed: Annotated[int, Meta(description="The same seed gives the same model.")] = 7
    threads: Annotated[int, Meta(ge=1, description="Processor threads of each process.")] = 2
    workers: Annotated[int, Meta(ge=1, description="Threads that prepare the rows.")] = 1


class LayersRecipe:
    name = "layers"
    kind: Kind = "language"
    parameters = LayersParameters
    presets: Mapping[str, Mapping[str, Any]] = {
        "papers": {"batch": 128, "epochs": 10, "validation_share": 0.2},
        "papers-33": {"batch": 33, "workers": 4},
        "papers-99": {"batch": 99, "workers": 4},
    }

    def run(self, rows: Sequence[TrainingRow], parameters: LayersParameters, out: Path, record: RunRecord) -> Path:
        needs_training()
        with stoppable() as stop:  # from the first moment: reading takes time, too
            return self._run(rows, parameters, out, record, stop)

    def _run(
        self, rows: Sequence[TrainingRow], parameters: LayersParameters, out: Path, record: RunRecord, stop: StopRequest
    ) -> Path:
        import torch

        from finetune.export.language_export import export_language, int8_kept, read_weights
        from finetune.train.language_layers import grow_heads
        from finetune.train.language_trainer import LanguageOptions, encoded_examples, train_language
        from finetune.train.loop import LoopOptions, RunPlace, joined_processes
        from finetune.train.state_cache import StateCache

        start, card = open_start(parameters.model)
        training, validation = language_rows(rows, parameters.validation_share)
        labels = grown(card.heads, training)
        network = read_weights(start / WEIGHTS, dropout=parameters.dropout)
        torch.manual_seed(parameters.seed)
        grow_heads(network, {head: len(names) for head, names in labels.items()})
        kept = replay(card.heads, parameters.replay, parameters.seed)
        taught = examples(training)
        learned = [*taught, *kept]
        loop = LoopOptions(
            epochs=parameters.epochs, batch=parameters.batch, layer_rate=parameters.layer_rate,
            head_rate=parameters.head_rate, seed=parameters.seed, threads=parameters.threads,
            precision=parameters.precision, checkpoint_every=parameters.checkpoint_every,
            validate_every=parameters.validate_every,
        )  # fmt: skip
        options = LanguageOptions(loop)
        often = parameters.repeat or _often(len(taught), len(kept))
        known = [row for row in validation if _known(row, labels)]
        folder = out / MODEL
        with joined_processes() as rank, ThreadPoolExecutor(parameters.workers) as readers:
            if rank == 0:
                record.parameters(msgspec.to_builtins(parameters))
            encoder = repeatable_encoder()
            states = StateCache(encoder, readers=readers)
            deployed = LayeredModel(start, encoder)
            encoded = [
                *_remembering(taught, deployed, encoded_examples(taught, labels, states, smoothing=options.smoothing),
                              labels, replace_labels=False) * often,
                *_remembering(kept, deployed, encoded_examples(kept, labels, states), labels, replace_labels=True),
            ]  # fmt: skip
            checked = encoded_examples(examples(known), labels, states)
            train_language(network, encoded, options, RunPlace(out, record, stop), checked)
            if rank == 0:
                export_language(
                    network, labels, child_card(card, labels, learned_examples(rows)), learned, encoder, folder
                )
                share = int8_kept(
                    LayeredModel(folder, encoder), network, [*examples(known), *learned][:MEASURED], encoder
                )
                record.point(parameters.epochs, KEPT, share)
                small = read_card(folder)
                save_card(msgspec.structs.replace(small, figures=small.figures | {KEPT: round(share, 4)}), folder)
                write_golden(LayeredModel(folder, encoder), folder, own_texts(), seed=parameters.seed)
                record.note(f"{card.name}-{card.version} with {len(taught)} rows and {len(kept)} of our own sentences")
                record.artifact(folder)
        return folder


def _remembering(
    rows: Sequence[LanguageExample], deployed: LayeredModel, encoded: Sequence[EncodedExample],
    labels: Mapping[str, Sequence[str]], *, replace_labels: bool,
) -> list[EncodedExample]:  # fmt: skip
    from finetune.train.language_trainer import remembering

    contexts = [SentenceContext(row.role, row.before) for row in rows]
    answers = [one.sentence for one in deployed.predict([row.text for row in rows], contexts)]
    return remembering(encoded, answers, labels, replace_labels=replace_labels)


def _often(taught: int, kept: int) -> int:
    """So that a few hundred rows are a third of an epoch, too, beside thousands of our own sentences: seen once in an
    epoch, they would hardly be learned."""
    return max(1, min(MOST_OFTEN, round(kept / 2 / max(taught, 1))))


def _known(row: TrainingRow, labels: Mapping[str, Sequence[str]]) -> bool:
    """Whether its labels were among those that could be learned."""
    return all(
        value is None or value in labels[head] for head, value in (("sentiment", row.sentiment), ("intent", row.intent))
    )
