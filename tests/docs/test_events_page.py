"""docs/events.md is what the events say; tests/tenor/test_events.py looks for every event and field on it."""

from __future__ import annotations

from tests.docs.events_page import PAGE, page


def test_the_page_is_made_from_the_events() -> None:
    assert PAGE.read_text("utf-8") == page(), "`make docs` makes docs/events.md again"
