"""The folder of a language model on the shared encoder: its card, and sentences that prove it is the same model.

model.onnx    upper layers and token heads
heads.npz     sentence heads
weights.npz   layers and heads in half precision, to go on training from
model.json    the card, with the digest of each file
golden.jsonl  sentences and the answers that the model must give
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec

from nlp.inference.models.golden import language_answers
from nlp.inference.models.language_model import DEFAULT
from nlp.inference.models.layered_model import HEADS, LayeredModel
from tenor.errors import BadInput
from tenor.model_store import CARD, ModelCard, read_card
from tenor.model_store.golden import FILE as GOLDEN
from tenor.model_store.golden import GoldenAnswer

WEIGHTS = "weights.npz"
GOLDEN_SENTENCES = 10
KEPT = "int8 of full precision"
"""In a card's figures: what share of right answers the int8 graph keeps."""
NEW_NAME, NEW_VERSION = "house", "0"
"""What a model is called until the registry gives it a number."""


def open_start(folder: str) -> tuple[Path, ModelCard]:
    """The model that training begins with; empty: the one that ships."""
    path = Path(folder) if folder else DEFAULT
    card = read_card(path)
    if not card.encoder_sha256:
        raise BadInput(
            f"{card.name}-{card.version} has an encoder of its own and cannot be trained further",
            "choose a model on the shared encoder, with model=FOLDER",
        )
    return path, card


def child_card(card: ModelCard, heads: dict[str, tuple[str, ...]], examples: frozenset[str] = frozenset()) -> ModelCard:
    """Of a model that began as this one, and learned these examples. What int8 costs stays until the graph is made
    anew."""
    return msgspec.structs.replace(
        card,
        name=NEW_NAME,
        version=NEW_VERSION,
        kind="language",
        parent=f"{card.name}-{card.version}",
        heads=heads,
        examples=card.examples | examples,
        figures={name: value for name, value in card.figures.items() if name == KEPT},
    )


def save_card(card: ModelCard, folder: Path) -> ModelCard:
    """With the digests of what lies beside it now."""
    names = [name for name in ("model.onnx", HEADS, WEIGHTS, GOLDEN) if (folder / name).is_file()]
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    card = msgspec.structs.replace(card, files=files, sha256=files["model.onnx"])
    values = msgspec.to_builtins(card)
    values["examples"] = sorted(values["examples"])
    del values["digest"]  # which is worked out from what is written
    (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
    return card


def write_golden(model: LayeredModel, folder: Path, texts: Sequence[str], *, seed: int = 7) -> None:
    """Some sentences of which the model is sure, with its answers; who loads it can tell that it is the same."""
    some = Random(seed).sample(sorted(set(texts)), min(10 * GOLDEN_SENTENCES, len(set(texts))))
    sure = [min(float(likely.max()) for likely in one.sentence.values()) for one in model.predict(some)]
    chosen = [some[at] for at in sorted(range(len(some)), key=lambda at: (-sure[at], at))[:GOLDEN_SENTENCES]]
    answered = zip(chosen, language_answers(model, chosen), strict=True)
    golden = [GoldenAnswer(text=text, answers=answers) for text, answers in answered]
    (folder / GOLDEN).write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in golden))
    save_card(model.card, folder)
