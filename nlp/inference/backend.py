"""The back end that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nlp.inference.types import Backend
from tenor.model_store.pool import ModelPool
from tenor.model_store.store import ModelStore, store_of
from tenor.settings import LanguageSettings, Settings
from tenor.taxonomy import sentiments
from tenor.taxonomy.in_force import intents_in_force

if TYPE_CHECKING:
    from nlp.inference.local import LocalBackend

T = TypeVar("T")


def open_backend(settings: Settings) -> Backend:
    """Our model that is in force now, or a Riva server's. BadInput says what is wrong with the files that the settings
    name."""
    if settings.language.backend == "riva":
        from nlp.inference.riva import RivaBackend

        return RivaBackend(settings.language_server, intents_in_force(settings.language))
    return local_models(settings.language, lambda backend: backend, store_of(settings, "language")).current()


def local_models(language: LanguageSettings, make: Callable[[LocalBackend], T], store: ModelStore) -> ModelPool[T]:
    """Our models by version, each made into what the caller needs; loaded when they are wanted."""

    @cache
    def voters() -> list[LocalBackend]:
        return [open_local(language.model_copy(update={"model": one})) for one in language.voters]

    def load(folder: Path | None) -> T:
        return make(open_local(language, folder, voters()))

    return ModelPool("language", store, load)


def open_local(
    language: LanguageSettings, folder: Path | None = None, voters: Sequence[LocalBackend] = ()
) -> LocalBackend:
    """Our models, also where a pipeline would ask a server: `tenor riva` is one. A promoted model's `folder` takes the
    place of the settings' one; it must give its golden answers. `voters` vote with it, whichever version it is."""
    from nlp.inference.local import LocalBackend
    from nlp.inference.models.combined_model import with_all_heads
    from nlp.inference.models.golden import language_answers
    from nlp.inference.models.language_model import DEFAULT, open_model
    from tenor.model_store.golden import check_golden

    given = folder or (Path(language.model) if language.model else None)
    model = open_model(given or DEFAULT, threads=language.threads)
    if folder is not None:
        check_golden(folder, model.id, lambda golden: language_answers(model, [one.text for one in golden]))
    feelings = sentiments.read(Path(language.sentiments)) if language.sentiments else ()
    intents = intents_in_force(language.model_copy(update={"backend": "local", "model": str(given or "")}))
    if voters:
        from nlp.inference.voting import VotingBackend

        return VotingBackend(with_all_heads(model), intents, feelings, voters)
    return LocalBackend(with_all_heads(model), intents, feelings)
