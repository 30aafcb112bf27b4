"""Hesitations, politeness and lead-ins fall off; what was said in between stays."""

from __future__ import annotations

import pytest

from dialog.values.normalise import core


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("uh, in tucson please", "tucson"),
        ("um well i think it's omaha", "omaha"),
        ("how about the blue one then", "blue one"),
        ("no wait, make it friday", "friday"),
        ("boston, if you don't mind", "boston"),
        ("tomorrow would be great, thank you", "tomorrow"),
        ("i live in the bronx", "bronx"),
        ("oat milk", "oat milk"),
        ("uh", ""),
        ("yes please", ""),
        ("", ""),
        ("   ", ""),
    ],
)
def test_only_what_counts_is_left(line: str, words: str) -> None:
    text, start, end = core(line)
    assert text == words
    assert line[start:end] == words


def test_prepositions_stay_when_asked_for() -> None:
    assert core("uh, at the door please", prepositions=False)[0] == "at the door"
