"""The language model that ships, made: trained on the shared encoder's states, exported, calibrated, described.

Needs the extra `finetune`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import torch

from finetune.corpus import call_sentences, datasets, mixture
from finetune.evaluate.calibration import calibrated
from finetune.evaluate.report import Scores, all_scores, corpus_scores
from finetune.export.encoder_export import full_encoder
from finetune.export.language_export import export_language
from finetune.export.language_folder import save_card, write_golden
from finetune.export.model_card import written_card
from finetune.train.encoders import PretrainedEncoder
from finetune.train.language_layers import LanguageLayers
from finetune.train.language_trainer import LanguageOptions, encoded_examples, train_language
from finetune.train.loop import RunPlace
from finetune.train.state_cache import StateCache
from finetune.train.token_head import fit_tokens
from nlp.inference.models.layered_model import LayeredModel
from nlp.inference.models.onnx_model import fingerprint
from nlp.inference.models.token_encoder import TokenEncoder
from tenor.model_store import ModelCard
from tenor.taxonomy.intents import Taxonomy

HEAD_WEIGHTS = {"public": 0.5}
"""What only keeps wishes apart counts less than what ships."""


def make_language(
    data: Path, corpus: Path, taxonomy: Taxonomy, pretrained: PretrainedEncoder, encoder: TokenEncoder,
    out: Path, options: LanguageOptions, *, layers: int, name: str, version: str, cache: Path | None = None,
    share: float = 1.0,
) -> Scores:  # fmt: skip
    """In `out/<name>-<version>`; in full precision beside it, in `<name>-<version>-full`. `share`: of the sentences,
    for a quick trial."""
    corpora = mixture.corpora(data, taxonomy, options.loop.seed)
    labels = {one.head: tuple(one.labels) for one in corpora}
    sentences = call_sentences.read(corpus, taxonomy)
    rows = [*mixture.allowed(call_sentences.examples(sentences.learned)), *mixture.examples(corpora)]
    rows = rows[:: round(1 / share)]
    small = out / f"{name}-{version}"
    torch.manual_seed(options.loop.seed)
    network = LanguageLayers.from_encoder(
        pretrained, encoder.card.layers, layers,
        {head: len(names) for head, names in labels.items() if "O" not in names},
        {head: len(names) for head, names in labels.items() if "O" in names},
    )  # fmt: skip
    states = StateCache(encoder, cache)
    options = replace(options, head_weights=HEAD_WEIGHTS)
    encoded = encoded_examples(rows, labels, states, smoothing=options.smoothing)
    train_language(network, encoded, options, RunPlace(out / f"{small.name}-run"))
    slots = mixture.examples([mixture.slot_corpus(data, options.loop.seed)])[:: round(1 / share)]
    fit_tokens(network, "slots", encoded_examples(slots, labels, states), options)
    shipped = {head: labels[head] for head in mixture.HEADS}
    seen = frozenset(fingerprint(text) for intent in taxonomy.intents for text in intent.examples)
    card = ModelCard(name=name, version=version, kind="language", examples=seen)
    export_language(network, shipped, card, rows, encoder, small)
    full_states = full_encoder(pretrained, encoder.card, out)
    full = export_language(
        network, shipped, card, rows, full_states, small.with_name(f"{small.name}-full"), precise=True
    )
    return describe(
        LayeredModel(small, encoder), LayeredModel(full, full_states), small, full, data, taxonomy, sentences
    )


def describe(
    model: LayeredModel, precise: LayeredModel, small: Path, full: Path, data: Path, taxonomy: Taxonomy,
    sentences: call_sentences.CallCorpus,
) -> Scores:  # fmt: skip
    """Calibrate an exported model, measure it in both precisions and write its card."""
    card = calibrated(model, data, taxonomy, sentences.calibration)
    precise.card = msgspec.structs.replace(precise.card, temperatures=card.temperatures, thresholds=card.thresholds)
    save_card(precise.card, full)
    model.card = card
    figures, unshortened = (
        all_scores(one, data, taxonomy) | corpus_scores(one, taxonomy, sentences.apart) for one in (model, precise)
    )
    model.card = msgspec.structs.replace(card, figures={key: round(value, 4) for key, value in figures.items()})
    write_golden(model, small, [row["text"] for row in datasets.evaluation("sentiment")])
    used = [datasets.SOURCES[source] for source in mixture.USED]
    text = written_card(model.card, used, figures, unshortened, small, model.encoder.card)
    (small / "README.md").write_text(text, "utf-8")
    return figures
