"""The page on the language of flows names everything that the language has."""

from __future__ import annotations

import re
from pathlib import Path

from dialog.flow.draft import Draft
from dialog.flow.filters import FILTERS
from dialog.flow.known_names import ACTIONS, SLOT_TYPES, VARIABLES
from dialog.flow.reading.declarations import (
    ACTION_KEYS,
    GUARD_KEYS,
    HANDOVER_KEYS,
    INTENT_KEYS,
    PATTERN_KEYS,
    SLOT_KEYS,
)
from dialog.flow.reading.reader import TOP_KEYS, read_file
from dialog.flow.state_types import STATE_TYPES

PAGE = (Path(__file__).parents[3] / "docs" / "assistant-flows.md").read_text("utf-8")


def test_the_page_names_everything() -> None:
    words = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    keys = (*SLOT_KEYS, *ACTION_KEYS, *GUARD_KEYS, *HANDOVER_KEYS, *INTENT_KEYS, *PATTERN_KEYS, *TOP_KEYS)
    assert not {*keys, *FILTERS, *ACTIONS, *SLOT_TYPES, *VARIABLES} - words


def test_the_table_of_state_types_is_right() -> None:
    rows = {row[0]: row for line in PAGE.splitlines() if len(row := re.split(r" *(?<!\\)\| *", line.strip("| "))) == 4}
    for name, kind in STATE_TYPES.items():
        row = rows[f"`{name}`"]
        assert {*re.findall(r"\*\*`(\w+)`\*\*", row[2])} == {one for one, of in kind.properties.items() if of.required}
        assert set(kind.properties) <= set(re.findall(r"`(\w+)`", row[2]))
        assert set(kind.transitions) <= set(re.findall(r"`(\w+)`", row[3]))


def test_its_examples_are_read_without_a_fault() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5
    for block in blocks:
        text = block if block.split(":")[0] in TOP_KEYS else f"states:\n{block}"
        assert read_file("page", "page.yml", text, Draft()) == []
