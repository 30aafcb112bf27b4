"""Temperatures and thresholds of a trained model, chosen on sentences that are neither trained on nor measured with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from finetune.corpus import datasets
from finetune.corpus.call_sentences import CallSentence
from finetune.corpus.examples import LabelledText
from nlp.inference.heads.intents import IntentHead
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.models.onnx_model import Prediction
from nlp.inference.types import SentenceContext
from tenor.model_store import ModelCard
from tenor.taxonomy.intents import UNKNOWN, Taxonomy, WantedIntent

ADDED = ("alarm_set", "weather_query", "play_music", "transport_taxi", "email_sendemail", "cooking_recipe", "qa_stock")
"""Intents of HWU64 that play the ones a user adds: ten examples each, and no training."""
SHOTS = 10
NOTHING = SentenceContext()

Asked = tuple[CallSentence, SentenceContext]


def calibrated(model: LanguageModel, data: Path, taxonomy: Taxonomy, sentences: Sequence[CallSentence]) -> ModelCard:
    """The model's card with temperatures and thresholds filled in. `sentences`: of a hand that it did not learn from,
    each asked with and without what is known of it, for both happen."""
    card = model.card
    known = {*taxonomy.names, UNKNOWN}
    wishes = [row for row in wishes_of(data) if row.label in known]
    asked = [(row, context) for row in sentences for context in (SentenceContext(row.role, row.said_before), NOTHING)]
    temperatures = {
        "sentiment": temperature(model, "sentiment", asked, [row.sentiment for row, _ in asked]),
        "intent": temperature(model, "intent", asked, [row.intent for row, _ in asked]),
    }
    card = msgspec.structs.replace(card, temperatures=temperatures)
    model.card = card
    thresholds = {"intent": _least_likely(model, taxonomy, asked)}
    model.card = card = msgspec.structs.replace(card, thresholds=thresholds)
    thresholds.update(_likeness(model, taxonomy, data, wishes))
    return msgspec.structs.replace(card, thresholds=thresholds)


def wishes_of(data: Path) -> list[LabelledText]:
    """CLINC150's validation sentences in our words; what is none of ours is unknown."""
    folder = data / "nlu" / "clinc150"
    inside = datasets.intents(folder / "val.jsonl.gz")
    ours = datasets.translated(inside, "clinc150")
    named = {row.text for row in ours}
    others = [LabelledText(row.text, UNKNOWN) for row in inside if row.text not in named][::6]
    outside = [LabelledText(row.text, UNKNOWN) for row in datasets.intents(folder / "oos_val.jsonl.gz")]
    return [*ours, *others, *outside]


def added_intents(data: Path, split: str) -> tuple[list[WantedIntent], list[LabelledText]]:
    """Intents that no model of ours was trained on, and sentences of `val` or `test` that mean them. What `train` has
    beside the examples belongs to `val`: a hundred sentences are too few to choose by."""
    rows = datasets.intents(data / "nlu" / "hwu64" / "train.jsonl.gz")
    named = {name: [row for row in rows if row.label == name] for name in ADDED}
    tried = [row for row in datasets.intents(data / "nlu" / "hwu64" / f"{split}.jsonl.gz") if row.label in ADDED]
    if split == "val":
        tried += [row for found in named.values() for row in found[SHOTS:]]
    wanted = [WantedIntent(name, name, tuple(row.text for row in found[:SHOTS])) for name, found in named.items()]
    return wanted, tried


def temperature(model: LanguageModel, head: str, asked: Sequence[Asked], right: Sequence[str]) -> float:
    """What to divide the logits by so that the right label is as likely as the probabilities say."""
    labels = model.card.heads[head]
    now = model.card.temperatures.get(head, 1.0)
    likely = np.stack([prediction.sentence[head] for prediction in _predictions(model, asked)])
    logits: NDArray[np.float64] = np.log(np.maximum(likely, 1e-12)) * now
    wanted = np.array([labels.index(name) for name in right])

    def surprise(divisor: float) -> float:
        scaled = logits / divisor
        scaled -= np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return float(-scaled[np.arange(len(wanted)), wanted].mean())

    return round(float(min(np.arange(0.5, 3.01, 0.05), key=surprise)), 2)


def _least_likely(model: LanguageModel, taxonomy: Taxonomy, asked: Sequence[Asked]) -> float:
    """The probability under which `unknown` is right more often than the likeliest intent."""
    intents = IntentHead(model, taxonomy)
    scores = [intents.scores(prediction) for prediction in _predictions(model, asked)]
    best = [max(one, key=one.__getitem__) for one in scores]
    sure = np.array([one[name] for one, name in zip(scores, best, strict=True)])
    right = np.array([name in (row.intent, *row.also) for (row, _), name in zip(asked, best, strict=True)])
    unknown = np.array([UNKNOWN in (row.intent, *row.also) for row, _ in asked])

    def accepted(least: float) -> float:
        return float(np.where(sure < least, unknown, right).mean())

    return round(float(max(np.arange(0.1, 0.81, 0.05), key=accepted)), 2)


def _predictions(model: LanguageModel, asked: Sequence[Asked]) -> list[Prediction]:
    return model.predict([row.text for row, _ in asked], [context for _, context in asked])


def _likeness(model: LanguageModel, taxonomy: Taxonomy, data: Path, rows: Sequence[LabelledText]) -> dict[str, float]:
    """How near to added examples is near enough: as many added intents found as possible, few others disturbed."""
    added, tried = added_intents(data, "val")
    texts = [*(row.text for row in tried), *(row.text for row in rows)]
    right = [*(row.label for row in tried), *(row.label for row in rows)]
    predictions = model.predict(texts)
    best = {"similarity": 0.5, "similarity_slope": 20.0}
    most = -1.0
    names = {row.name for row in added}
    for floor in (0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
        for slope in (5.0, 7.0, 10.0, 20.0, 40.0):
            model.card = msgspec.structs.replace(
                model.card, thresholds={**model.card.thresholds, "similarity": floor, "similarity_slope": slope}
            )
            intents = IntentHead(model, Taxonomy((*taxonomy.intents, *added)))
            answers = [intents.best(intents.scores(prediction))[0] for prediction in predictions]
            value = _found(right, answers, names)
            if value > most:
                most, best = value, {"similarity": floor, "similarity_slope": slope}
    return best


def _found(right: Sequence[str], answers: Sequence[str], added: set[str]) -> float:
    """Added sentences found, and others answered without an added intent, as shares.

    Sentences that are unknown do not count: some of them mean what was just added.
    """
    new = [r == a for r, a in zip(right, answers, strict=True) if r in added]
    old = [a not in added for r, a in zip(right, answers, strict=True) if r not in added and r != UNKNOWN]
    return sum(new) / len(new) + sum(old) / len(old)


def likely(predictions: Sequence[Prediction], head: str, labels: Sequence[str]) -> list[str]:
    """The likeliest label of each prediction."""
    return [labels[int(prediction.sentence[head].argmax())] for prediction in predictions]
