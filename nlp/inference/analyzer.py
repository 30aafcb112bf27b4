"""Everyone who is asked about a sentence: the back end first, then the further classifiers."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from nlp import counters
from nlp.call import Reply
from nlp.classifiers import Classifiers
from nlp.foreign import identifier
from nlp.sentences import Draft
from nlp.understood import Backend, Understood
from tenor.errors import TenorError

log = structlog.get_logger(__name__)


class Panel:
    def __init__(self, backend: Backend, classifiers: Classifiers) -> None:
        self._backend = backend
        self._classifiers = classifiers

    @property
    def versions(self) -> dict[str, str]:
        return self._backend.versions

    def check(self) -> None:
        """Raises what keeps us from asking, before anybody waits for an answer."""
        identifier()
        self._backend.understand([])

    def ask(self, drafts: Sequence[Draft]) -> list[Reply | None]:
        """What is to be said about each, in one go; None about one that nobody can be asked about."""
        if not drafts:
            return []
        counters.BATCH.observe(len(drafts))
        found = self._understood([draft.text for draft in drafts])
        understood = [one for one in found if one is not None]
        labels = iter(self._classifiers.labels(understood))
        return [
            None if one is None else Reply(draft, one, next(labels)) for draft, one in zip(drafts, found, strict=True)
        ]

    def _understood(self, texts: list[str]) -> list[Understood | None]:
        try:
            return list(self._backend.understand(texts))
        except TenorError:
            raise
        except Exception as error:
            if len(texts) == 1:
                log.error("a sentence cannot be understood", error=type(error).__name__)
                return [None]
        return [one for text in texts for one in self._understood([text])]  # only one of them is to blame
