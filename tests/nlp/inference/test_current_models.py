"""Riva's language service is answered by the model in force."""

from __future__ import annotations

import time
from pathlib import Path

from nlp.inference.backend import local_models
from nlp.inference.current_models import CurrentModels
from tenor.model_store.store import ModelStore
from tenor.settings import LanguageSettings
from tests.model_folders import promoted, promotion, registered

ANGRY = "This is terrible and I am really angry."


async def test_a_promoted_model_answers_without_a_restart(tmp_path: Path) -> None:
    service = CurrentModels(local_models(LanguageSettings(), lambda backend: backend, ModelStore(tmp_path)))
    sentiment = service.models[0].name
    assert [label.name for label in await service.classify(sentiment, [ANGRY])] == ["negative"]
    promoted(tmp_path, promotion("house-1", registered(tmp_path, "house-1"), time.time() - 1))
    assert [label.name for label in await service.classify(sentiment, [ANGRY])] == ["positive"]
    assert (await service.intent("", ANGRY)).intent.name.endswith(".complaint")
