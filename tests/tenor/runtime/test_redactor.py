"""The redactor that the settings ask for, and no more of it than they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tenor.errors import BadInput
from tenor.runtime.redactor import FinderWhenNeeded, make_redactor
from tenor.settings import Settings, SpeechSettings


def settings(folder: Path, **speech: Any) -> Settings:
    return Settings.model_validate({"home": folder, "speech": speech, "language": {"model": str(folder)}})


def test_an_unknown_kind_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'persons'") as error:
        make_redactor(settings(tmp_path, redact_kinds=["card", "persons"]))
    assert "person, number" in error.value.hint


@pytest.mark.parametrize(
    ("speech", "loaded"),
    [
        ({}, False),
        ({"redact": "audio"}, False),
        ({"redact_kinds": ["person"]}, False),
        ({"redact_kinds": ["person"], "redact": "text"}, True),
        ({"redact_kinds": ["address"], "redact_queues": {"payments": "audio"}}, True),
        ({"redact_kinds": ["address"], "redact_queues": {"payments": "off"}}, False),
    ],
)
def test_the_model_is_loaded_when_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speech: dict[str, Any], loaded: bool
) -> None:
    loads: list[bool] = []
    monkeypatch.setattr(FinderWhenNeeded, "load", lambda _: loads.append(True))
    make_redactor(settings(tmp_path, **speech))
    assert bool(loads) == loaded


def test_a_call_may_want_it_when_the_settings_do_not(tmp_path: Path) -> None:
    wanted = make_redactor(settings(tmp_path, redact_kinds=["person"]))
    assert wanted.redact("thanks Beatrix", ()).text == "thanks [person]"  # the head that ships: this folder has none


def test_a_model_with_a_head_of_its_own_uses_that(tmp_path: Path) -> None:
    (tmp_path / "redaction.json").write_text("{}")
    with pytest.raises(BadInput, match=r"redaction\.json"):
        make_redactor(settings(tmp_path, redact_kinds=["person"], redact="text"))


@pytest.mark.slow
def test_a_mode_may_have_a_threshold_of_its_own(tmp_path: Path) -> None:
    """One model for both; what it doubts goes where the mode is stricter."""
    text = "yes it is for harper i think"
    redactor = make_redactor(
        Settings.model_validate(
            {"home": tmp_path, "speech": {"redact_kinds": ["person"], "redact_threshold": 0.999,
                                          "redact_thresholds": {"audio": 0.001}}}
        )
    )  # fmt: skip
    assert redactor.at("text").redact(text, ()).text == text
    assert redactor.at("audio").redact(text, ()).text != text
    assert redactor.at("anything else").redact(text, ()).text != text, "a word that is no mode counts as audio"


@pytest.mark.parametrize("thresholds", [{"video": 0.5}, {"text": 1.0}, {"audio": 0}])
def test_a_threshold_that_is_none_is_refused(thresholds: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="redact_thresholds"):
        SpeechSettings(redact_thresholds=thresholds)
