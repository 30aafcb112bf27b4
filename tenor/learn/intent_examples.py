"""Sentences of the file of intents (`language.intents`) that a model has not learned, as rows to train with.

Without training they are compared with every sentence. In training they are rows like others. Where it changes the
vectors by which sentences are compared (`layers`), the model's card names them, and they are not compared any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from finetune.export.language_folder import open_start
from finetune.recipes.base import EXAMPLE, TrainingRow
from nlp.inference.models.onnx_model import fingerprint
from storage.datasets.splits import plain_words
from tenor.learn.steps import hash_of
from tenor.settings import Settings
from tenor.taxonomy.in_force import intents_in_force

MEASURED = ("val", "test", "holdout")


def intent_examples(settings: Settings, model: str, rows: Sequence[TrainingRow]) -> list[TrainingRow]:
    """Of the model in this folder (empty: what ships). One that is measured with is named, and not learned from."""
    if not settings.language.intents:
        return []
    _, card = open_start(model)
    measured = {plain_words(row.text) for row in rows if row.split in MEASURED}
    return [
        TrainingRow(
            id=f"{EXAMPLE}/{intent.name}/{number}",
            text=text,
            intent=intent.name,
            split="test" if plain_words(text) in measured else "train",
            origin={EXAMPLE: intent.name},
        )
        for intent in intents_in_force(settings.language).intents
        for number, text in enumerate(intent.examples)
        if fingerprint(text) not in card.examples
    ]


def examples_hash(settings: Settings) -> dict[str, str]:
    """What runs differ by, beside their dataset: nothing where Tenor's own intents are in force."""
    if not settings.language.intents:
        return {}
    found = intents_in_force(settings.language).intents
    return {"intents": hash_of({intent.name: [*intent.examples] for intent in found})}
