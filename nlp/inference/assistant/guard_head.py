"""Which guarded topic a text is of: a linear head on the states of the shared encoder, beside which it lies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import numpy as np

from nlp.inference.models import token_encoder
from nlp.inference.models.onnx_model import Floats, softmax
from nlp.inference.models.token_encoder import TokenEncoder
from tenor.errors import BadInput

WEIGHTS, CARD = "guard.npz", "guard.json"
NONE = "none"
FEWEST = 2
"""Words of a text that is read: one alone is an answer, and says too little of a topic."""


class GuardCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `guard.json` says."""

    topics: tuple[str, ...]
    """In the order of the head's outputs; the first is `none`."""
    threshold: float
    """How likely a text must be of one of the topics."""
    sha256: str
    """Of `guard.npz`,"""
    encoder_sha256: str
    """and of the encoder whose states it reads."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""


class GuardHead:
    """Any thread may call it."""

    def __init__(self, encoder: TokenEncoder, folder: Path = token_encoder.DEFAULT) -> None:
        self._encoder = encoder
        try:
            self.card = msgspec.json.decode((folder / CARD).read_bytes(), type=GuardCard)
            written = (folder / WEIGHTS).read_bytes()
        except OSError as error:
            raise BadInput(f"{folder} holds no guard: {error.strerror}") from None
        except msgspec.MsgspecError as error:
            raise BadInput(f"{folder / CARD}: {error}") from None
        if hashlib.sha256(written).hexdigest() != self.card.sha256:
            raise BadInput(f"{folder / WEIGHTS} is not the file that {folder / CARD} was published with")
        if encoder.card.sha256 != self.card.encoder_sha256:
            raise BadInput(f"the guard in {folder} was not made for the encoder {encoder.card.name}")
        with np.load(folder / WEIGHTS) as stored:
            self._weight, self._bias = stored["weight"].astype(np.float32), stored["bias"].astype(np.float32)

    def topic(self, text: str) -> str:
        """The topic, or nothing. A text that was encoded a moment ago is not encoded again."""
        if len(text.split()) < FEWEST:
            return ""
        [encoded] = self._encoder.encode([text])
        scores = softmax(features(encoded.states) @ self._weight.T + self._bias)
        if 1 - scores[0] < self.card.threshold:
            return ""
        return self.card.topics[1 + int(np.argmax(scores[1:]))]


def guard_of(encoder: TokenEncoder, folder: Path = token_encoder.DEFAULT) -> GuardHead | None:
    """The head in the folder; None if there is none, or for another encoder."""
    try:
        card = msgspec.json.decode((folder / CARD).read_bytes(), type=GuardCard)
    except FileNotFoundError:
        return None
    return GuardHead(encoder, folder) if card.encoder_sha256 == encoder.card.sha256 else None


def features(states: Floats) -> Floats:
    """A text as one vector: the mean and the largest of its tokens, without the marks at both ends."""
    tokens = states[1:-1] if len(states) > 2 else states
    return np.concatenate([tokens.mean(axis=0), tokens.max(axis=0)])
