"""What the recogniser expects in calls that the assistant answers."""

from __future__ import annotations

from tenor.runtime.assistant.expected_phrases import expected_phrases
from tenor.settings import Settings


def test_the_shop_s_names_are_expected_beside_the_settings_phrases() -> None:
    settings = Settings()
    found = expected_phrases(settings)
    assert found[: len(settings.assistant.boosted)] == settings.assistant.boosted
    assert {"orange juice", "pharmacy", "Tucson"} <= set(found)
    assert len({phrase.lower() for phrase in found}) == len(found), "none comes twice"
    assert "apple" not in found, "apples are there"


def test_without_phrases_in_the_settings_nothing_is_expected() -> None:
    assert expected_phrases(Settings.model_validate({"assistant": {"boosted": []}})) == []
