"""What a model's folder says of itself in `model.json`, read without loading the model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from tenor.errors import BadInput
from tenor.model_store.digest import digest_by_card

CARD = "model.json"
Kind = Literal["language", "speech", "assistant"]
KINDS: tuple[Kind, ...] = ("language", "speech", "assistant")


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.json` says."""

    name: str
    version: str
    heads: dict[str, tuple[str, ...]] = {}
    """Labels in the order of each head's outputs; a recogniser has none."""
    temperatures: dict[str, float] = {}
    """What a head's logits are divided by, so that its probabilities mean what they say."""
    thresholds: dict[str, float] = {}
    """Chosen on sentences that were neither trained on nor are measured with."""
    examples: frozenset[str] = frozenset()
    """Fingerprints of the taxonomy's examples that it was trained with."""
    sha256: str = ""
    """Of `model.onnx`."""
    kind: str = ""
    """`language`, `speech` or `assistant`; the registry writes it, as it does the rest."""
    encoder_sha256: str = ""
    """Of the shared encoder whose states it reads; empty: it has an encoder of its own."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""
    files: dict[str, str] = {}
    """SHA-256 of every other file of the folder."""
    parent: str = ""
    """The model that training began with,"""
    run: str = ""
    """the run that made it,"""
    dataset: str = ""
    """what it learned from, as NAME@N,"""
    snapshot: str = ""
    """and the snapshot that this was taken from."""
    digest: str = ""
    """Of the whole folder; only of one that the registry wrote. Worked out when the card is read, never written."""

    @property
    def id(self) -> str:
        """As sentences carry it: `house-7@1f0c8a42`; without a digest for a model that is not of the registry."""
        return f"{self.name}-{self.version}" + (f"@{self.digest[:8]}" if self.digest else "")


def read_card(folder: Path) -> ModelCard:
    try:
        written = (folder / CARD).read_bytes()
        card = msgspec.json.decode(written, type=ModelCard)
    except OSError as error:
        raise no_model(folder, error) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{folder / CARD}: {error}") from None
    return msgspec.structs.replace(card, digest=digest_by_card(card.files, CARD, written))


def no_model(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"{folder} holds no language model: {error.strerror}", "see docs/language.md")
