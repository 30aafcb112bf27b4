"""Names and places in a text, found by what they mean, for taking them out.

The head reads the lower layers of the shared encoder: `redaction.onnx` lies beside it and has no weights of the encoder
itself, it says where in `model.onnx` they are. So a worker that only redacts loads less than half of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
from tokenizers import Tokenizer

from nlp.inference.models import token_encoder
from nlp.inference.models.onnx_model import LONGEST, MOST_CHARACTERS, open_session, softmax
from tenor.errors import BadInput
from tenor.model_store.digest import sha256_of
from tenor.redaction import Span

DEFAULT = token_encoder.DEFAULT
"""The head that ships lies beside the shared encoder."""
GRAPH, CARD = "redaction.onnx", "redaction.json"
OUTSIDE = "O"
WINDOW = 60
"""Words that are read together; what is longer is read in parts."""
_WORD = re.compile(r"\S+")


class NameFinderCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `redaction.json` says."""

    labels: tuple[str, ...]
    """In the order of the head's outputs: `O`, then `I-` and a kind."""
    certain: float
    """How likely a word must be part of a name to be taken out,"""
    doubtful: float
    """and in an interim, of which less is known."""
    sha256: str
    """Of `redaction.onnx`,"""
    encoder_sha256: str
    """and of the `model.onnx` it refers to."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""


class NameFinder:
    """A `tenor.redaction.Finder`. Any thread may call it."""

    def __init__(self, folder: Path = DEFAULT) -> None:
        try:
            self.card = msgspec.json.decode((folder / CARD).read_bytes(), type=NameFinderCard)
            for file, digest in ((GRAPH, self.card.sha256), ("model.onnx", self.card.encoder_sha256)):
                if sha256_of(folder / file) != digest:
                    raise BadInput(f"{folder / file} is not the file that {folder / CARD} was published with")
            vocabulary = (folder / "tokenizer.json").read_text("utf-8")
        except OSError as error:
            raise BadInput(f"{folder} cannot find names: {error.strerror}", "see docs/privacy.md") from None
        except msgspec.MsgspecError as error:
            raise BadInput(f"{folder / CARD}: {error}") from None
        self._tokenizer = Tokenizer.from_str(vocabulary)
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        self._session = open_session(folder / GRAPH)

    def find(self, text: str, *, final: bool, threshold: float = 0.0) -> Iterator[Span]:
        """`threshold`: in place of those of the card; 0 means these."""
        threshold = threshold or self.card.certain
        if not final:
            threshold = min(threshold, self.card.doubtful)
        for start, part in _windows(text):
            yield from (Span(start + first, start + end, kind) for first, end, kind in self._read(part, threshold))

    def _read(self, text: str, threshold: float) -> Iterator[Span]:
        """Words that are likely enough part of a name; a word's first piece decides."""
        encoding = self._tokenizer.encode(text[:MOST_CHARACTERS])
        ids = np.array([encoding.ids], np.int64)
        [logits] = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        last = None
        for row, (start, end), word in zip(softmax(logits[0]), encoding.offsets, encoding.word_ids, strict=True):
            if word is None or word == last:
                continue
            last = word
            likely = dict(zip(self.card.labels, map(float, row), strict=True))
            kind = max((label for label in likely if label != OUTSIDE), key=likely.__getitem__)
            if 1 - likely[OUTSIDE] >= threshold:
                yield Span(start, end, kind[2:])


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in parts that the model can read, each with where it begins."""
    words = list(_WORD.finditer(text))
    for first in range(0, len(words), WINDOW):
        start, end = words[first].start(), words[min(first + WINDOW, len(words)) - 1].end()
        yield start, text[start:end]
