"""The names that `tenor serve` takes, and what they stand for."""

from __future__ import annotations

from importlib import import_module

import pytest

from tenor.errors import BadInput
from tenor.runtime.stages import STAGES, check


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_is_there_under_its_name(name: str) -> None:
    module, _, class_name = STAGES[name].partition(":")
    assert getattr(import_module(module), class_name).name == name


def test_any_other_name_is_told() -> None:
    with pytest.raises(BadInput, match="no stage 'speech'") as told:
        check(["asr", "speech"])
    assert ", ".join(STAGES) in told.value.hint
