"""A language model of any make: texts in, what its heads say out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from nlp.inference.models.onnx_model import OnnxModel, Prediction
from nlp.inference.types import SentenceContext
from tenor.model_store import ModelCard, read_card

DEFAULT = Path(__file__).parents[2] / "models" / "tenor-language-5"
"""What ships."""


class LanguageModel(Protocol):
    """Shared by every stage of a process; any thread may call it."""

    card: ModelCard
    threads: int

    @property
    def id(self) -> str: ...

    def model_of(self, head: str) -> str:
        """The model that a head belongs to."""
        ...

    def predict(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[Prediction]:
        """A prediction of every text, in their order. `contexts`: one for each, or none at all."""
        ...


def open_model(folder: Path = DEFAULT, *, threads: int = 1) -> LanguageModel:
    """On the shared encoder, or with an encoder of its own, as its card says."""
    if not read_card(folder).encoder_sha256:
        return OnnxModel(folder, threads=threads)
    from nlp.inference.models.layered_model import LayeredModel

    return LayeredModel(folder, threads=threads)
