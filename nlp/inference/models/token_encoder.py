"""The encoder that several models share: a text in, one vector per token out.

Its folder holds `model.onnx`, `tokenizer.json` and `model.json`. It is never trained and never changes; a model that
reads it names it by the digest of its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

import msgspec
import numpy as np
from tokenizers import Encoding, Tokenizer

from nlp.inference.models.onnx_model import (
    LONGEST,
    MOST_CHARACTERS,
    Floats,
    Offsets,
    batched,
    open_session,
    run_session,
)
from tenor.bounded_dict import BoundedDict
from tenor.errors import BadInput
from tenor.model_store import CARD, no_model
from tenor.model_store.digest import sha256_of

DEFAULT = Path(__file__).parents[2] / "models" / "tenor-encoder-1"
STATES = "states"
KEPT_TEXTS = 256
"""The latest, so that the second model that reads a text finds it encoded; 20 kB each as people speak."""


class EncoderCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.json` says."""

    name: str
    version: str
    encoder: str
    """The pretrained encoder it was cut from,"""
    layers: int
    """how many of its layers, from below,"""
    width: int
    """and how long a token's vector is."""
    sha256: str
    """Of `model.onnx`."""


@dataclass(frozen=True, slots=True)
class EncodedText:
    states: Floats
    """A row for each token."""
    offsets: Offsets
    """Characters that each token covers; the marks at both ends cover none."""
    words: Sequence[int | None] = ()
    """The word each token is a piece of; None for the marks at both ends."""


class TokenEncoder:
    """Any thread may call it. Use `shared_encoder` to have one in a process."""

    def __init__(self, folder: Path = DEFAULT, *, kept: int = KEPT_TEXTS) -> None:
        """`kept`: with 0, what it answers depends on nothing that was asked before, to the last bit."""
        try:
            self.card = msgspec.json.decode((folder / CARD).read_bytes(), type=EncoderCard)
            digest = sha256_of(folder / "model.onnx")
            vocabulary = (folder / "tokenizer.json").read_text("utf-8")
        except OSError as error:
            raise no_model(folder, error) from None
        except msgspec.MsgspecError as error:
            raise BadInput(f"{folder / CARD}: {error}") from None
        if digest != self.card.sha256:
            raise BadInput(f"{folder / 'model.onnx'} is not the file that {self.card.name} was published with")
        self._tokenizer = Tokenizer.from_str(vocabulary)
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        self._session = open_session(folder / "model.onnx")
        self._kept: BoundedDict[str, EncodedText] = BoundedDict(kept)
        self._lock = Lock()

    def encode(self, texts: Sequence[str], readers: Executor | None = None) -> list[EncodedText]:
        """Every text in its order. One that was encoded a moment ago is not encoded again. `readers` encode several
        batches at once."""
        short = [_readable(text[:MOST_CHARACTERS]) for text in texts]
        with self._lock:
            found = {text: self._kept[text] for text in short if text in self._kept}
        new = [text for text in dict.fromkeys(short) if text not in found]
        if new:
            made = self._encoded(new, readers)
            found |= made
            with self._lock:
                for text, encoded in made.items():
                    self._kept[text] = encoded
        return [found[text] for text in short]

    def _encoded(self, texts: Sequence[str], readers: Executor | None) -> dict[str, EncodedText]:
        encodings = self._tokenizer.encode_batch(texts) if len(texts) > 1 else [self._tokenizer.encode(texts[0])]
        batches = list(batched([len(encoding.ids) for encoding in encodings]))
        side_by_side = readers.map if readers and len(batches) > 1 else map
        answers = side_by_side(self._states, ([encodings[index] for index in batch] for batch in batches))
        made = {}
        for batch, states in zip(batches, answers, strict=True):
            for row, index in enumerate(batch):
                one = encodings[index]
                # A copy, or one short text would keep the memory of a whole batch.
                made[texts[index]] = EncodedText(states[row, : len(one.ids)].copy(), one.offsets, one.word_ids)
        return made

    def _states(self, encodings: Sequence[Encoding]) -> Floats:
        """One pass; the last is the longest."""
        ids = np.zeros((len(encodings), len(encodings[-1].ids)), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        [states] = run_session(self._session, [STATES], {"input_ids": ids, "attention_mask": mask})
        return states  # type: ignore[no-any-return]


def _readable(text: str) -> str:
    """Halves of characters, which JSON may hold and no tokenizer reads, as question marks; places stay the same."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=4)
def shared_encoder(folder: Path = DEFAULT) -> TokenEncoder:
    """The one of this process, however many models read it."""
    return TokenEncoder(folder)
