"""What a shopper wants and what they name: intent and slots of a sentence, in the labels of the assistant.

The model's folder holds upper layers and heads only; the shared encoder reads the text (`token_encoder.py`).
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import msgspec
import numpy as np

from nlp.inference.assistant.bio import BioDecoder, spans_of
from nlp.inference.assistant.tag_rules import ruled
from nlp.inference.assistant.words import deciding_tokens, word_offsets
from nlp.inference.models.onnx_model import EMBEDDING, Floats, Offsets, batched, open_session, run_session, softmax
from nlp.inference.models.token_encoder import STATES, EncodedText, TokenEncoder, shared_encoder
from tenor.errors import BadInput
from tenor.model_store import CARD, no_model
from tenor.model_store.digest import digest_by_card, sha256_of
from tenor.taxonomy.assistant import NO_MATCH, OUTSIDE
from tenor.taxonomy.assistant import printed_intent as printed_intent

DEFAULT = Path(__file__).parents[2] / "models" / "tenor-assistant-1"
INTENT, SLOTS, MASK = "intent", "slots", "attention_mask"
_PUNCTUATION = "".join(set(string.punctuation) - set("$%#+&@")) + "…“”«»¿¡\u2018\u2019\u2013\u2014"
"""What is taken off the ends of a slot; signs that belong to a value stay."""


class AssistantCard(msgspec.Struct, frozen=True, kw_only=True):
    """What `model.json` says."""

    name: str
    version: str
    intents: tuple[str, ...]
    """In the order of the head's outputs, as flows route them."""
    slots: tuple[str, ...]
    """BIO labels in the order of the head's outputs."""
    temperature: float
    """What intent logits are divided by, so that a score means what it says."""
    threshold: float
    """An intent with a lower score is no match."""
    sha256: str
    """Of `model.onnx`,"""
    encoder_sha256: str
    """and of the encoder whose states it reads."""
    figures: dict[str, float] = {}
    """What was measured when it was made."""
    files: dict[str, str] = {}
    """SHA-256 of every other file, of a model of the registry."""
    digest: str = ""
    """Of the whole folder, worked out when the card is read."""


class Slot(TypedDict):
    slot: str
    text: str
    """Its words, without punctuation at the ends."""
    start: int
    """First word,"""
    end: int
    """and the first word after."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the model says about one text."""

    text: str
    intent: str
    """As flows route it; `printed_intent` gives the name that people see."""
    intent_score: float
    ranking: tuple[tuple[str, float], ...]
    """Every intent with its score, likeliest first, whatever the threshold says."""
    tokens: tuple[str, ...]
    """The text split at blanks; punctuation stays on its word."""
    tags: tuple[str, ...]
    """BIO, one for each token."""
    slots: tuple[Slot, ...]
    embedding: Floats
    """The sentence as a vector of length one, to compare with examples."""


class AssistantModel:
    """Any thread may call it."""

    def __init__(self, folder: Path = DEFAULT, encoder: TokenEncoder | None = None) -> None:
        try:
            written = (folder / CARD).read_bytes()
            card = msgspec.json.decode(written, type=AssistantCard)
            self.card = msgspec.structs.replace(card, digest=digest_by_card(card.files, CARD, written))
            digest = sha256_of(folder / "model.onnx")
        except OSError as error:
            raise no_model(folder, error) from None
        except msgspec.MsgspecError as error:
            raise BadInput(f"{folder / CARD}: {error}") from None
        if digest != self.card.sha256:
            raise BadInput(f"{folder / 'model.onnx'} is not the file that {self.card.name} was published with")
        self.encoder = encoder or shared_encoder()
        if self.encoder.card.sha256 != self.card.encoder_sha256:
            raise BadInput(f"{self.card.name} was not made for the encoder {self.encoder.card.name}")
        self._session = open_session(folder / "model.onnx")
        self._decoder = BioDecoder(self.card.slots)

    @property
    def id(self) -> str:
        return f"{self.card.name}-{self.card.version}" + (f"@{self.card.digest[:8]}" if self.card.digest else "")

    def read(self, texts: Sequence[str]) -> list[Parsed]:
        """Every text in its order. One without words is no match, with score 0."""
        readable = [index for index, text in enumerate(texts) if text.strip()]
        encoded = self.encoder.encode([texts[index] for index in readable])
        found: dict[int, Parsed] = {}
        for batch in batched([len(one.states) for one in encoded]):
            answers = self._answers([encoded[at] for at in batch])
            for row, at in enumerate(batch):
                index = readable[at]
                found[index] = self._parsed(texts[index], encoded[at], *(answer[row] for answer in answers))
        return [found[index] if index in found else self._nothing(text) for index, text in enumerate(texts)]

    def _answers(self, encoded: Sequence[EncodedText]) -> tuple[Floats, Floats, Floats]:
        """Scores of intents, logarithms of the scores of every token's labels, sentence vectors; the last text is
        the longest."""
        length, width = encoded[-1].states.shape
        states = np.zeros((len(encoded), length, width), np.float32)
        mask = np.zeros((len(encoded), length), np.int64)
        for row, one in enumerate(encoded):
            states[row, : len(one.states)] = one.states
            mask[row, : len(one.states)] = 1
        intents, slots, vectors = run_session(self._session, [INTENT, SLOTS, EMBEDDING], {STATES: states, MASK: mask})
        return softmax(intents / self.card.temperature), np.log(np.maximum(softmax(slots), 1e-9)), vectors

    def _parsed(self, text: str, encoded: EncodedText, intents: Floats, labels: Floats, vector: Floats) -> Parsed:
        ranking = [(self.card.intents[at], float(intents[at])) for at in np.argsort(-intents, kind="stable")]
        intent, score = ranking[0]
        if score < self.card.threshold and intent != NO_MATCH:
            intent, score = NO_MATCH, dict(ranking)[NO_MATCH]
        words = word_offsets(text)
        tokens = tuple(text[start:end] for start, end in words)
        tags = ruled(tokens, self._tags(text, words, encoded, labels), intent)
        return Parsed(text, intent, score, tuple(ranking), tokens, tags, slots_of(tokens, tags), vector)

    def _tags(self, text: str, words: Offsets, encoded: EncodedText, labels: Floats) -> tuple[str, ...]:
        """A tag for each word; words that the encoder did not read are in no slot."""
        deciding = deciding_tokens(text, words, encoded.offsets)
        decoded = iter(self._decoder.decode(labels[[token for token in deciding if token is not None]]))
        return tuple(_valid([OUTSIDE if token is None else next(decoded) for token in deciding]))

    def _nothing(self, text: str) -> Parsed:
        ranking = tuple((intent, 0.0) for intent in self.card.intents)
        return Parsed(text, NO_MATCH, 0.0, ranking, (), (), (), np.zeros(self.encoder.card.width, np.float32))


def _valid(tags: Sequence[str]) -> list[str]:
    """A slot that an unread word cuts in two goes on as a slot of its own."""
    made: list[str] = []
    for tag in tags:
        follows = made and made[-1] != OUTSIDE and made[-1][2:] == tag[2:]
        made.append(f"B-{tag[2:]}" if tag.startswith("I-") and not follows else tag)
    return made


def slots_of(tokens: Sequence[str], tags: Sequence[str]) -> tuple[Slot, ...]:
    return tuple(
        Slot(slot=name, text=_bare(" ".join(tokens[start:end])), start=start, end=end)
        for start, end, name in spans_of(tags)
    )


def _bare(text: str) -> str:
    return text.strip(_PUNCTUATION) or text
