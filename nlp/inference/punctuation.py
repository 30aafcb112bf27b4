"""Marks and capitals for words that have none, from the states of the shared encoder.

    words      can you prove that you are self aware
    states     a row for each; of the next word as well, since a mark stands between two
    words'     after the word: nothing, a comma or the end of a sentence; the word: small, Capital or CAPITALS
    sentences' of each that ends: is it a question
    written    Can you prove that you are self aware?

Words that have marks or capitals already keep them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import msgspec
import numpy as np

from nlp.inference.models.onnx_model import Floats
from nlp.inference.models.token_encoder import TokenEncoder, shared_encoder
from tenor.errors import BadInput
from tenor.model_store import CARD, no_model

DEFAULT = Path(__file__).parents[1] / "models" / "tenor-punctuation-1"
HEAD = "head.npz"
NONE, COMMA, END = MARKS = ("", ",", ".")
"""After a word; the end of a sentence becomes a question mark if that is one."""
SMALL, CAPITAL, CAPITALS = CASES = ("small", "capital", "capitals")
WINDOW, AROUND = 48, 12
"""So many words are read together, of which those at an edge, where the text goes on, only to understand the others."""
_ENDS = (".", "?", "!", "\u2026")
_MARKED = re.compile(r"[.,;:?!\u2026]$")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.){2,}$")
"""Its full stop is its own."""
PARTS = ("words", "questions")
_ARRAYS = ("hidden.weight", "hidden.bias", "output.weight", "output.bias")

Layers = tuple[Floats, ...]
"""The weights and biases of two layers."""


class PunctuationCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.json` says."""

    name: str
    version: str
    encoder_sha256: str
    """Of the encoder whose states it reads."""
    sha256: str
    """Of `head.npz`."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""


class Punctuator:
    """Any thread may call it."""

    def __init__(self, folder: Path = DEFAULT, encoder: TokenEncoder | None = None) -> None:
        try:
            self.card = msgspec.json.decode((folder / CARD).read_bytes(), type=PunctuationCard)
            stored = (folder / HEAD).read_bytes()
        except OSError as error:
            raise no_model(folder, error) from None
        except msgspec.MsgspecError as error:
            raise BadInput(f"{folder / CARD}: {error}") from None
        self._encoder = encoder or shared_encoder()
        if self.card.encoder_sha256 != self._encoder.card.sha256:
            raise BadInput(f"{self.card.name} belongs to another encoder than {self._encoder.card.name}")
        if hashlib.sha256(stored).hexdigest() != self.card.sha256:
            raise BadInput(f"{folder / HEAD} is not the file that {self.card.name} was published with")
        self._layers = _read_head(stored, folder / HEAD)

    def text(self, text: str) -> str:
        """The text with marks and capitals; line breaks and runs of spaces become one space."""
        return " ".join(self.words(text.split()))

    def words(self, words: Sequence[str]) -> list[str]:
        """Each word as it is written. The last one ends a sentence."""
        if not any(letter.isalnum() for word in words for letter in word):
            return list(words)
        states = word_states(self._encoder, words)
        found = two_layers(self._layers["words"], states)
        marks, cases = found[:, : len(MARKS)].argmax(axis=1), found[:, len(MARKS) :].argmax(axis=1)
        written: list[str] = []
        first = 0
        for at, word in enumerate(words):
            mark = "" if _MARKED.search(word) else MARKS[marks[at]]
            if at == len(words) - 1 and not word.endswith(_ENDS):
                mark = END
            ends = mark == END or (word.endswith(_ENDS) and not _ABBREVIATION.search(word))
            if mark == END and self._is_question(states[first : at + 1]):
                mark = "?"
            written.append(_with_mark(_cased(word, CASES[cases[at]], at == first), mark))
            first = at + 1 if ends else first
        return written

    def _is_question(self, states: Floats) -> bool:
        statement, question = two_layers(self._layers["questions"], sentence_states(states))
        return bool(question > statement)


def sentence_states(states: Floats) -> Floats:
    """One row for a sentence: its words' states on average, and those of its first and last."""
    own = states[:, : states.shape[1] // 2]
    return np.concatenate([own.mean(axis=0), own[0], own[-1]])


def two_layers(layers: Layers, states: Floats) -> Floats:
    inner_weight, inner_bias, weight, bias = layers
    found: Floats = np.maximum(states @ inner_weight + inner_bias, 0) @ weight + bias
    return found


def word_states(encoder: TokenEncoder, words: Sequence[str]) -> Floats:
    """A row for each word: the state of its first piece, and of the next word's. Long texts are read in parts."""
    parts = []
    step = WINDOW - 2 * AROUND
    for first in range(0, max(1, len(words) - 2 * AROUND), step):
        begin = first
        end = min(len(words), first + WINDOW)
        kept = (0 if first == 0 else AROUND, end - begin if end == len(words) else WINDOW - AROUND)
        parts.append(_window_states(encoder, words[begin:end])[slice(*kept)])
        if end == len(words):
            break
    return np.concatenate(parts)


def _window_states(encoder: TokenEncoder, words: Sequence[str]) -> Floats:
    text = " ".join(words)
    [encoded] = encoder.encode([text])
    firsts: dict[int, int] = {}
    for row, (start, end) in enumerate(encoded.offsets):
        if end > start:
            firsts.setdefault(start, row)
    rows, at, closing = [], 0, len(encoded.states) - 1
    for word in words:
        # A word of which no piece was read, because the text is too long, has the state of the end.
        rows.append(next((firsts[place] for place in range(at, at + len(word)) if place in firsts), closing))
        at += len(word) + 1
    following = [*rows[1:], closing]
    return np.concatenate([encoded.states[rows], encoded.states[following]], axis=1)


def _cased(word: str, case: str, begins: bool) -> str:
    if word != word.lower():
        return word
    if case == CAPITALS and sum(letter.isalpha() for letter in word) > 1:
        return word.upper()
    return _capital(word) if begins or case != SMALL else word


def _capital(word: str) -> str:
    at = next((at for at, letter in enumerate(word) if letter.isalnum()), 0)
    return word[:at] + word[at : at + 1].upper() + word[at + 1 :]


def _with_mark(word: str, mark: str) -> str:
    return word.rstrip(",;:") + mark if mark else word


def _read_head(stored: bytes, path: Path) -> dict[str, Layers]:
    try:
        with np.load(BytesIO(stored), allow_pickle=False) as arrays:
            return {part: tuple(arrays[f"{part}.{name}"].astype(np.float32) for name in _ARRAYS) for part in PARTS}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, BadZipFile) as error:
        raise BadInput(f"{path} holds no head: {error}") from None


def write_head(parts: Mapping[str, Layers], path: Path) -> None:
    arrays = {
        f"{part}.{name}": one.astype(np.float16)
        for part, layers in parts.items()
        for name, one in zip(_ARRAYS, layers, strict=True)
    }
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def shared_punctuator() -> Punctuator:
    """The one that ships, loaded when the first text needs it."""
    return Punctuator()
