"""Riva's language service is answered by the model in force."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nlp.inference.backend import local_models
from nlp.inference.current_models import CurrentModels
from tenor.errors import BadInput
from tenor.model_store.store import ModelStore
from tenor.runtime.riva import local_riva
from tenor.settings import LanguageSettings, RivaSettings
from tests.model_folders import promoted, promotion, registered

ANGRY = "This is terrible and I am really angry."


async def test_a_model_is_loaded_when_somebody_asks(tmp_path: Path) -> None:
    pool = local_models(LanguageSettings(), lambda backend: backend, ModelStore(tmp_path))
    service = CurrentModels(pool)
    assert service.models
    assert pool.loaded == []
    assert [label.name for label in await service.classify(service.models[0].name, [ANGRY])] == ["negative"]
    assert pool.loaded == [""]


def test_what_is_wrong_with_a_model_of_ones_own_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=str(tmp_path)):
        local_riva(RivaSettings(), LanguageSettings(model=str(tmp_path)))


async def test_a_promoted_model_answers_without_a_restart(tmp_path: Path) -> None:
    service = CurrentModels(local_models(LanguageSettings(), lambda backend: backend, ModelStore(tmp_path)))
    sentiment = service.models[0].name
    assert [label.name for label in await service.classify(sentiment, [ANGRY])] == ["negative"]
    promoted(tmp_path, promotion("house-1", registered(tmp_path, "house-1"), time.time() - 1))
    assert [label.name for label in await service.classify(sentiment, [ANGRY])] == ["positive"]
    assert (await service.intent("", ANGRY)).intent.name.endswith(".complaint")
