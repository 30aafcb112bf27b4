"""Which words a model knows as a whole: those of its tokenizer. The others it must spell out of pieces."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from tenor.model_store.digest import is_file_name
from tenor.model_store.shipped import SHIPPED

FILE = "tokenizer.json"
ENCODERS = "tenor-encoder-*"
"""The folder of the encoder that models share, beside those that ship; a model on it has no tokenizer of its own."""
_MASK = re.compile(r"\[[a-z ]+\]")
"""What redaction put in the place of words."""
_WORD = re.compile(r"[^\W\d_]+")


class Vocabulary:
    """Of the models of one folder. A model that is not there, such as one of a Riva server, has the words of the one
    that ships."""

    def __init__(self, models: Path | None) -> None:
        self._models = models
        self._of_model: dict[str, frozenset[str]] = {}

    def unknown(self, text: str, model: str) -> tuple[int, int]:
        """How many of its words the model does not know, and how many there are; none where no model is known."""
        known = self._of_model.get(model)
        if known is None:
            known = self._of_model[model] = _words(self._file(model.partition("@")[0]))
        words = _WORD.findall(_MASK.sub(" ", text).lower()) if known else ()
        return sum(word not in known for word in words), len(words)

    def _file(self, model: str) -> Path | None:
        shipped = SHIPPED["language"].path
        places = [] if shipped is None else [shipped, *shipped.parent.glob(ENCODERS)]
        if self._models is not None and is_file_name(model):
            places.insert(0, self._models / model)
        return next((place / FILE for place in places if (place / FILE).is_file()), None)


@cache
def _words(file: Path | None) -> frozenset[str]:
    if file is None:
        return frozenset()
    found: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    return frozenset(found["model"]["vocab"])
