"""What a model's folder says of itself in `model.json`, read without loading the model."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tenor.errors import BadInput

CARD = "model.json"


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.json` says."""

    name: str
    version: str
    heads: dict[str, tuple[str, ...]]
    """Labels in the order of each head's outputs."""
    temperatures: dict[str, float] = {}
    """What a head's logits are divided by, so that its probabilities mean what they say."""
    thresholds: dict[str, float] = {}
    """Chosen on sentences that were neither trained on nor are measured with."""
    examples: frozenset[str] = frozenset()
    """Fingerprints of the taxonomy's examples that it was trained with."""
    sha256: str = ""
    """Of `model.onnx`."""
    kind: str = "language"
    encoder_sha256: str = ""
    """Of the shared encoder whose states it reads; empty: it has an encoder of its own."""
    files: dict[str, str] = {}
    """SHA-256 by file."""
    parent: str = ""
    """The model that its training began with,"""
    run: str = ""
    """in which run,"""
    dataset: str = ""
    """on which version of which dataset."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""


def read_card(folder: Path) -> ModelCard:
    try:
        return msgspec.json.decode((folder / CARD).read_bytes(), type=ModelCard)
    except OSError as error:
        raise no_model(folder, error) from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{folder / CARD}: {error}") from None


def no_model(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"{folder} holds no language model: {error.strerror}", "see docs/language.md")
