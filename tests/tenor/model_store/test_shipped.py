"""What ships is listed as what is loaded where nothing was promoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.inference.assistant import assistant_model
from nlp.inference.models import language_model
from tenor.model_store.card import read_card
from tenor.model_store.shipped import SHIPPED


@pytest.mark.parametrize(
    ("kind", "folder"), [("language", language_model.DEFAULT), ("assistant", assistant_model.DEFAULT)]
)
def test_the_list_names_the_models_that_are_loaded(kind: str, folder: Path) -> None:
    listed = next(one for one in SHIPPED.values() if one.kind == kind)
    assert listed.path == folder
    card = read_card(folder)
    assert (card.name, card.version) == (listed.name, listed.version)


def test_the_recogniser_is_installed() -> None:
    path = SHIPPED["speech"].path
    assert path is not None
    assert (path / "model.bin").is_file()
