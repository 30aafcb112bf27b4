"""What the recogniser expects in calls that the assistant answers."""

from __future__ import annotations

from asr.riva.client import ExpectedPhrases, recognition_config
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


def test_whole_questions_are_told_to_the_recogniser_and_never_written_over_what_was_said() -> None:
    settings = Settings()
    config = recognition_config(settings.speech, 8000, "en-US", [ExpectedPhrases(expected_phrases(settings), 5.0)])
    told = config.custom_configuration["context"].splitlines()
    assert "How much is a loaf of bread?" in told
    assert not set(told) & {phrase for context in config.speech_contexts for phrase in context.phrases}
