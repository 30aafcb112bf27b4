"""The assistant's model, made: trained on the shared encoder's states, exported, calibrated, measured, described.

Needs the extra `finetune`.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from finetune.corpus import assistant_corpus, augmentation, datasets
from finetune.corpus.assistant_corpus import Utterance, by_rule, without
from finetune.evaluate.assistant_scores import measured
from finetune.evaluate.report import Scores
from finetune.export.activation_ranges import Inputs
from finetune.export.onnx_export import quantize
from finetune.train.assistant_layers import AssistantLayers
from finetune.train.assistant_trainer import AssistantOptions, encoded, train_assistant
from finetune.train.encoders import PretrainedEncoder
from nlp.inference.assistant.assistant_model import INTENT, MASK, SLOTS, AssistantCard, AssistantModel
from nlp.inference.models.onnx_model import EMBEDDING
from nlp.inference.models.token_encoder import STATES, TokenEncoder
from tenor.taxonomy.assistant import NO_MATCH, SLOT_LABELS, SPOKEN_INTENTS

RANGES = 300
"""Sentences to know the ranges of activations from."""
USED = ("own", "clinc150", "hwu64", "snips")
THRESHOLDS = np.arange(0.0, 0.61, 0.02)
COST = 0.002
"""Share of right answers that the threshold may cost."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which sentences teach, beside those of the hands."""

    layers: int = 2
    copies: int = 1
    """Changed copies of every sentence of our own."""
    each: int = 5
    """Sentences of every pattern."""
    most: int = 40
    """Public sentences of each intent that corresponds to one of ours,"""
    others: int = 3
    """and of each that does not."""


def training_rows(hands: Sequence[Utterance], data: Path, recipe: Recipe, seed: int) -> list[Utterance]:
    """What a model learns from, given the sentences of the hands."""
    random = Random(seed)
    own = [*map(by_rule, hands), *augmentation.from_patterns(random, each=recipe.each)]
    public = assistant_corpus.public(data, random, most=recipe.most, others=recipe.others)
    return [*augmentation.augmented(own, random, recipe.copies), *public]


def make_assistant(
    data: Path, pretrained: PretrainedEncoder, encoder: TokenEncoder, out: Path, options: AssistantOptions,
    recipe: Recipe, *, name: str, version: str, folds: Sequence[str] = (),
) -> Scores:  # fmt: skip
    """The model that ships, in `out/<name>-<version>`. `folds`: hands that are left out in turn, to measure on them
    and to choose temperature and threshold; the model itself learns from all hands."""
    hands = assistant_corpus.hands()
    apart = assistant_corpus.frozen()
    figures: Scores = {}
    small = out / f"{name}-{version}"
    left_out: list[tuple[Utterance, Logits]] = []
    for hand in folds:
        kept = [one for other, rows in hands.items() if other != hand for one in rows]
        rows = without(training_rows(kept, data, recipe, options.seed), hands[hand])
        network = _trained(rows, pretrained, encoder, options, recipe)
        folder = _folder(network, rows, encoder, out / "folds" / hand, name, version)
        model = AssistantModel(folder, encoder)
        figures |= {f"{hand} left out: {key}": value for key, value in measured(model, hands[hand]).items()}
        left_out += zip(hands[hand], _logits(model, hands[hand]), strict=True)
    rows = without(training_rows([one for rows in hands.values() for one in rows], data, recipe, options.seed), apart)
    network = _trained(rows, pretrained, encoder, options, recipe)
    full = _folder(network, rows, encoder, out / f"{small.name}-full", name, version, precise=True)
    _folder(network, rows, encoder, small, name, version)
    temperature, threshold = calibration(left_out) if left_out else (1.0, 0.0)
    if apart:
        for folder, precision in ((small, "int8"), (full, "fp32")):
            _save(folder, temperature=temperature, threshold=threshold)
            found = measured(AssistantModel(folder, encoder), apart)
            figures |= {f"frozen {key} ({precision})": value for key, value in found.items()}
    _save(small, temperature=temperature, threshold=threshold, figures={k: round(v, 4) for k, v in figures.items()})
    (small / "README.md").write_text(written_card(small, encoder, figures, options, recipe, len(rows)), "utf-8")
    return figures


def _trained(
    rows: Sequence[Utterance], pretrained: PretrainedEncoder, encoder: TokenEncoder, options: AssistantOptions,
    recipe: Recipe,
) -> AssistantLayers:  # fmt: skip
    torch.manual_seed(options.seed)
    network = AssistantLayers.from_encoder(
        pretrained, encoder.card.layers, recipe.layers, len(SPOKEN_INTENTS), len(SLOT_LABELS)
    )
    train_assistant(network, encoded(rows, encoder), options)
    return network


def _folder(
    network: AssistantLayers, rows: Sequence[Utterance], encoder: TokenEncoder, folder: Path, name: str, version: str,
    *, precise: bool = False,
) -> Path:  # fmt: skip
    card = AssistantCard(
        name=name, version=version, intents=SPOKEN_INTENTS, slots=SLOT_LABELS, temperature=1.0, threshold=0.0,
        sha256="", encoder_sha256=encoder.card.sha256,
    )  # fmt: skip
    return write_folder(network, rows, encoder, folder, card, precise=precise)


def write_folder(
    network: AssistantLayers, rows: Sequence[Utterance], encoder: TokenEncoder, folder: Path, card: AssistantCard,
    *, precise: bool = False,
) -> Path:  # fmt: skip
    """The network exported and, unless `precise`, quantised in the ranges that the rows have; with its card."""
    folder.mkdir(parents=True, exist_ok=True)
    full = folder / "model.onnx" if precise else folder / "full.onnx"
    _export(network, encoder.card.width, full)
    if not precise:
        quantize(full, folder / "model.onnx", _inputs(rows, encoder))
        full.unlink()
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    _write(msgspec.structs.replace(card, sha256=digest, encoder_sha256=encoder.card.sha256), folder)
    return folder


def _write(card: AssistantCard, folder: Path) -> None:
    (folder / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")


def _save(folder: Path, **changes: object) -> None:
    card = msgspec.json.decode((folder / "model.json").read_bytes(), type=AssistantCard)
    _write(msgspec.structs.replace(card, **changes), folder)


def _export(network: AssistantLayers, width: int, path: Path) -> None:
    free = {0: "batch", 1: "length"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks about constants that are meant to be constants
        torch.onnx.export(
            network.eval(), (torch.ones(2, 8, width), torch.ones(2, 8, dtype=torch.int64)), str(path),
            input_names=[STATES, MASK], output_names=[INTENT, SLOTS, EMBEDDING],
            dynamic_axes={STATES: free, MASK: free, SLOTS: free, INTENT: {0: "batch"}, EMBEDDING: {0: "batch"}},
            opset_version=17, dynamo=False,
        )  # fmt: skip


def _inputs(rows: Sequence[Utterance], encoder: TokenEncoder) -> list[Inputs]:
    texts = [row.text for row in Random(7).sample(list(rows), min(RANGES, len(rows)))]
    return [{STATES: one.states[None], MASK: np.ones((1, len(one.states)), np.int64)} for one in encoder.encode(texts)]


# -- measuring

Logits = NDArray[np.float64]


def _logits(model: AssistantModel, rows: Sequence[Utterance]) -> list[Logits]:
    """Logarithms of the scores, in the order of the card, as the model gives them at temperature 1."""
    found = []
    for answer in model.read([row.text for row in rows]):
        scores = dict(answer.ranking)
        found.append(np.log(np.maximum([scores[intent] for intent in model.card.intents], 1e-9)))
    return found


def calibration(left_out: Sequence[tuple[Utterance, Logits]]) -> tuple[float, float]:
    """Temperature and threshold, on hands that the model had not learned from: the right intent is as likely as its
    score says; the threshold under which an answer is no match is the highest that costs next to nothing, since the
    hands hold less nonsense than people type."""
    logits = np.stack([one for _, one in left_out])
    right = np.array([SPOKEN_INTENTS.index(row.intent) for row, _ in left_out])
    none = SPOKEN_INTENTS.index(NO_MATCH)

    def scores(divisor: float) -> Logits:
        scaled = logits / divisor
        powers: Logits = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def surprise(divisor: float) -> float:
        return float(-np.log(scores(divisor)[np.arange(len(right)), right] + 1e-12).mean())

    temperature = round(float(min(np.arange(0.5, 3.01, 0.05), key=surprise)), 2)
    likely = scores(temperature)

    def correct(threshold: float) -> float:
        answers = np.where(likely.max(axis=1) < threshold, none, likely.argmax(axis=1))
        return float((answers == right).mean())

    enough = max(map(correct, THRESHOLDS)) - COST
    return temperature, round(float(max(threshold for threshold in THRESHOLDS if correct(threshold) >= enough)), 2)


_CARD = """# {name} {version}

What a shopper says to the assistant: one of {intents} intents and {slots} kinds of slots (BIO, in the order of NeMo's
dictionary), for English, spoken or typed. The names are in `tenor/taxonomy/assistant.py`.

{size:.1f} MB, int8, for onnxruntime on a CPU: {layers} transformer layers and two heads that read the states of
`{encoder}` (see its card), so it works with exactly that encoder. Made by `python -m finetune assistant`:
{rows} sentences, {epochs} passes, seed {seed}; one run.

An intent whose score is under {threshold} is `nomatch.none`; the threshold was chosen on hands that were left out.

## What it learned from

| set | licence |
|---|---|
{sources}

Our own are `finetune/data/assistant`: sentences by several hands and patterns with lists of values, with changed copies
(other values, fillers, misspellings, without punctuation). `frozen.txt` there was not trained on. The hand
that wrote it also wrote `second.txt`, which was, so it flatters; the hands left out say more.
Where a public set has no slots of ours, only the intent was learned.

## What was measured

In percent. "left out" are the hands of the corpus, each measured by a model that had not seen it; "frozen" is the
hand kept apart. Some patterns were written after the mistakes on "brisk" and "rambling" had been read, so these two
are flattered; the others are not. A slot counts when kind, first and last word are right. "Questions" are the
sentences that are neither small talk nor universal words nor no match.

| figure | |
|---|---|
{figures}

## What it cannot do

It reads one sentence and does not know what was asked before: the intent of a bare "boston" or "tomorrow" means
nothing. Products, stores and places are recognised by how they
are used and by lists; an unknown name may be taken for another kind. Two wishes in one sentence get one intent.
It knows English only. Only the first 128 tokens of a text are read.
"""


def written_card(
    folder: Path, encoder: TokenEncoder, figures: Scores, options: AssistantOptions, recipe: Recipe, rows: int
) -> str:
    card = msgspec.json.decode((folder / "model.json").read_bytes(), type=AssistantCard)
    sources = (datasets.SOURCES[name] for name in USED)
    return _CARD.format(
        name=card.name, version=card.version, intents=len(card.intents), slots=len(card.slots) // 2,
        size=(folder / "model.onnx").stat().st_size / 1e6, layers=recipe.layers,
        encoder=f"{encoder.card.name}-{encoder.card.version}", rows=rows, seed=options.seed, epochs=options.epochs,
        threshold=card.threshold, sources="\n".join(f"| {one.title} | {one.licence} |" for one in sources),
        figures="\n".join(f"| {name} | {100 * value:.1f} |" for name, value in figures.items()),
    )  # fmt: skip
