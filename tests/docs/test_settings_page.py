"""docs/settings.md is what the settings say."""

from __future__ import annotations

import json

import pytest

from tenor.layers import FIELDS, load
from tests.docs.settings_page import PAGE, default, page, variable


def test_the_page_is_made_from_the_settings() -> None:
    assert PAGE.read_text("utf-8") == page(), "`make docs` makes docs/settings.md again"


@pytest.mark.parametrize("name", FIELDS)
def test_the_variable_on_the_page_sets_its_setting(name: str) -> None:
    text = default(FIELDS[name])
    value = json.loads(text)
    loaded = load(environment={variable(name): value if isinstance(value, str) else text})
    assert loaded.origins[name] == variable(name)
