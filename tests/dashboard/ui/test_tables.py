"""What is taken along as CSV."""

from __future__ import annotations

import csv

import pytest

from dashboard.ui import stat_cards, tables, theme
from storage.queries.statistics import MeasureSummary


@pytest.mark.parametrize("words", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", " =1"])
def test_a_callers_words_are_no_formula(words: str) -> None:
    (row,) = csv.DictReader(tables.to_csv([{"text": words, "mood": -0.5}]).splitlines())
    assert row == {"text": "'" + words, "mood": "-0.5"}


def test_words_come_back_as_they_were() -> None:
    said = 'he said "no", then\nhung up; ciao, 再见'
    made = tables.to_csv([{"text": said}])
    assert list(csv.DictReader(made.splitlines(keepends=True))) == [{"text": said}]
    assert tables.to_csv([]).strip() == ""


@pytest.mark.parametrize("mode", ["theme.light", "theme.dark"])
def test_marks_stand_out_from_the_page(mode: str) -> None:
    page = _light(theme.THEMES[mode]["backgroundColor"])
    for colour in (*theme.SERIES, *theme.SENTIMENT_COLOURS.values()):
        low, high = sorted((page, _light(colour)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour


def _light(colour: str) -> float:
    """Relative luminance, as WCAG counts it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def of(values: list[float]) -> MeasureSummary:
    return MeasureSummary(len(values), sum(values), sum(value * value for value in values))


def test_comparisons_say_no_more_than_the_numbers_do() -> None:
    few, low, high = of([0.5] * 6), of([0.0, 0.1] * 20), of([0.8, 0.9] * 20)

    def said(one: MeasureSummary, other: MeasureSummary) -> tuple[str, str]:
        remark = stat_cards.comparison(one, other, "the team", lambda value: f"{value:.2f}", mood=True)
        return remark.text, remark.tone

    assert said(few, high) == ("6 calls: too few to compare with the team", "few")
    assert said(of([1.0]), high) == ("1 call: too few to compare with the team", "few")
    assert said(low, high) == ("below the team (0.85)", "down")
    assert said(high, low) == ("above the team (0.05)", "up")
    assert said(low, low) == ("about as the team (0.05)", "same")
    assert said(low, MeasureSummary()) == ("the team: no calls", "few")
