"""Words that come with a label and without a call, as sentences: redacted and understood like any other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from nlp.inference.backend import open_backend
from nlp.inference.types import Backend
from tenor.events import Sentence
from tenor.redaction import Redactor
from tenor.runtime.redactor import make_redactor
from tenor.settings import Settings


class LabelTextReader:
    """The models are loaded with the first words that need them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _backend(self) -> Backend:
        return open_backend(self._settings)

    @cached_property
    def _redactor(self) -> Redactor | None:
        return make_redactor(self._settings) if self._settings.speech.redact != "off" else None

    def redacted(self, text: str) -> str:
        return self._redactor.redact(text, ()).text if self._redactor else text

    def read(self, texts: Sequence[str]) -> list[Sentence]:
        """A sentence of each; whoever keeps it says of which call it is."""
        plain = [self.redacted(text) for text in texts]

        return [
            Sentence(
                call="",
                channel=0,
                role="caller",
                sentence="",
                revision=0,
                start_ms=0,
                end_ms=0,
                text=text,
                sentiment=one.sentiment,
                sentiment_scores={label: round(score, 4) for label, score in one.sentiment_scores.items()},
                mood=one.mood,
                intent=one.intent,
                intent_score=round(one.intent_score, 4),
                slots=one.slots,
                language=one.language,
                models=dict(one.models),
                novelty=None if one.novelty is None else round(one.novelty, 2),
            )
            for text, one in zip(plain, self._backend.analyze(plain), strict=True)
        ]
