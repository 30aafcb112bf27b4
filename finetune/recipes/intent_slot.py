"""Intents and slots of the assistant, learned jointly from labelled turns. Needs the extra `finetune`.

It starts from the deployed model: its int8 weights are turned into numbers again, so nothing else need ship. Rows whose
intent or slots the model lacks give its heads new outputs. Sentences of our own are learned again beside the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from finetune.corpus import assistant_corpus
from finetune.corpus.assistant_corpus import Utterance
from finetune.export.language_folder import NEW_NAME, NEW_VERSION
from finetune.recipes.base import MODEL, RunRecord, StopRequest, TrainingRow, needs_training, rows_of, stoppable
from finetune.recipes.language_rows import repeatable_encoder
from nlp.inference.assistant.assistant_model import DEFAULT, AssistantCard, AssistantModel
from tenor.errors import BadInput
from tenor.model_store.card import Kind
from tenor.taxonomy.assistant import NO_MATCH, OUTSIDE, routed_intent

ROWS = "rows"
"""The hand of what people labelled."""


class IntentSlotParameters(msgspec.Struct, frozen=True, kw_only=True):
    model: Annotated[str, Meta(description="Folder of the model to start from; empty: the one that ships.")] = ""
    epochs: Annotated[int, Meta(ge=1, description="How often every row is seen.")] = 6
    batch: Annotated[int, Meta(ge=1, description="Rows of one step, of all processes together.")] = 32
    layer_rate: Annotated[float, Meta(gt=0, description="How far a step of the layers goes at most,")] = 1e-4
    head_rate: Annotated[float, Meta(gt=0, description="and one of the heads.")] = 5e-4
    slot_weight: Annotated[float, Meta(ge=0, description="How much slots count beside the intent.")] = 1.0
    replay: Annotated[int, Meta(ge=0, description="Sentences of our own that are learned again beside the rows.")] = (
        1500
    )
    validation_share: Annotated[
        float, Meta(ge=0, lt=1, description="Of the rows, to validate with, where none is marked for it.")
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


class IntentSlotRecipe:
    name = "intent-slot"
    kind: Kind = "assistant"
    parameters = IntentSlotParameters
    presets: Mapping[str, Mapping[str, Any]] = {
        "papers": {"epochs": 50, "validate_every": 5, "replay": 0},
    }

    def run(self, rows: Sequence[TrainingRow], parameters: IntentSlotParameters, out: Path, record: RunRecord) -> Path:
        needs_training()
        with stoppable() as stop:  # from the first moment: reading takes time, too
            return self._run(rows, parameters, out, record, stop)

    def _run(
        self, rows: Sequence[TrainingRow], parameters: IntentSlotParameters, out: Path, record: RunRecord,
        stop: StopRequest,
    ) -> Path:  # fmt: skip
        from finetune.build_assistant import write_folder
        from finetune.export.dequantize import float_weights
        from finetune.train.assistant_layers import AssistantLayers
        from finetune.train.assistant_trainer import AssistantOptions, encoded, train_assistant
        from finetune.train.loop import RunPlace, joined_processes

        start = Path(parameters.model) if parameters.model else DEFAULT
        model = AssistantModel(start, repeatable_encoder())
        training, validation = _utterances(rows, parameters.validation_share, parameters.seed)
        intents, slots = _grown(model.card, training)
        network = AssistantLayers.from_weights(float_weights(start / "model.onnx"))
        network.grow(len(intents), len(slots))
        kept = _replay(parameters.replay, parameters.seed)
        learned = [*training, *kept]
        checked = [one for one in validation if one.intent in intents and set(one.tags or ()) <= set(slots)]
        options = AssistantOptions(
            epochs=parameters.epochs, batch=parameters.batch, layer_rate=parameters.layer_rate,
            head_rate=parameters.head_rate, slot_weight=parameters.slot_weight, seed=parameters.seed,
            threads=parameters.threads, precision=parameters.precision,
            checkpoint_every=parameters.checkpoint_every, validate_every=parameters.validate_every,
        )  # fmt: skip
        folder = out / MODEL
        with joined_processes() as rank:
            if rank == 0:
                record.parameters(msgspec.to_builtins(parameters))
            examples = encoded(learned, model.encoder, intents, slots)
            held = encoded(checked, model.encoder, intents, slots)
            train_assistant(network, examples, options, RunPlace(out, record, stop), held)
            if rank == 0:
                card = msgspec.structs.replace(
                    model.card, name=NEW_NAME, version=NEW_VERSION, intents=intents, slots=slots, figures={}
                )
                write_folder(network, learned, model.encoder, folder, card)
                record.note(f"{model.id} with {len(training)} rows and {len(kept)} of our own sentences")
                record.artifact(folder)
        return folder


def _utterances(
    rows: Sequence[TrainingRow], share: float, seed: int
) -> tuple[list[Utterance], list[Utterance]]:  # fmt: skip
    """Those to train on and those to validate with; a row without an intent teaches nothing here."""
    training, validation = (
        [_utterance(row) for row in rows_of(rows, split) if row.intent and row.text.strip()]
        for split in ("train", "val")
    )
    if not training:
        raise BadInput("no row to train on has an intent", "label some turns first")
    if not validation and share:
        random = Random(seed)
        random.shuffle(training)
        held = int(share * len(training))
        training, validation = training[held:], training[:held]
    return training, validation


def _utterance(row: TrainingRow) -> Utterance:
    words = tuple(row.text.split())
    if row.tags is not None and len(row.tags) != len(words):
        raise BadInput(f"row {row.id} has {len(row.tags)} tags for {len(words)} words")
    return Utterance(words, row.tags, routed_intent(row.intent or NO_MATCH), ROWS, row.weight)


def _grown(card: AssistantCard, rows: Sequence[Utterance]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Intents and slot labels, those that only the rows have after those that are known."""
    intents = (*card.intents, *sorted({row.intent for row in rows} - set(card.intents)))
    kinds = {tag[2:] for row in rows for tag in row.tags or () if tag != OUTSIDE}
    new = sorted(kinds - {label[2:] for label in card.slots})
    return intents, (*card.slots, *(f"{part}-{kind}" for kind in new for part in "BI"))


def _replay(most: int, seed: int) -> list[Utterance]:
    """Sentences of the assistant's hands, which are in the package."""
    own = [one for hand in assistant_corpus.hands().values() for one in hand] if most else []
    return [assistant_corpus.by_rule(one) for one in Random(seed).sample(own, min(most, len(own)))]
