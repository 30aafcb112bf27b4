"""What is said of a forecast: place and time, the figure, yes or no where that was asked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dialog.replies import status_of

NOW = datetime(2026, 11, 18, 10)
BOSTON = {"name": "Boston", "state": "MA"}
TOMORROW = {"text": "tomorrow", "from": "2026-11-19", "to": "2026-11-19"}


def day(date: str = "2026-11-19", **given: Any) -> dict[str, Any]:
    usual = {"high_f": 59, "low_f": 44, "condition": "cloudy", "rain_in": 0.3, "rain_chance": 80, "snow_in": 0.0,
             "snow_chance": 0, "sun_hours": 2.0, "cloud": 90, "humidity": 71}  # fmt: skip
    return {"date": date, **usual, **given}


def told(measure: str, intent: str, text: str, *days: dict[str, Any], when: Any = TOMORROW, **rest: Any) -> str:
    result = {"place": "Boston", "available": True, "days": list(days or [day()]), **rest}
    slots = {"location": BOSTON, "measure": measure} | ({"when": when} if when else {})
    return status_of("weather", result, slots=slots, intent=intent, text=text, now=NOW)


def test_rain_yes() -> None:
    assert told("rain", "weather.rainfall_yes_no", "will it rain") == (
        "Yes. In Boston, tomorrow: rain is likely, with an 80 percent chance of about 0.3 inches."
    )


def test_rain_no() -> None:
    said = told("rain", "weather.rainfall_yes_no", "will it rain", day(rain_chance=9, rain_in=0.0))
    assert said == "No. In Boston, tomorrow: the chance of rain is only 9 percent."


def test_rain_over_several_days_names_them() -> None:
    week = {"text": "next week", "from": "2026-11-23", "to": "2026-11-24"}
    days = (day("2026-11-23", rain_chance=10), day("2026-11-24", rain_chance=70))
    said = told("rain", "weather.rainfall", "how much rain", *days, when=week)
    assert said.startswith("In Boston, next week: rain is likely on Tuesday")


@pytest.mark.parametrize(
    ("text", "answer"),
    [("will it be hot", "No."), ("will it freeze", "No."), ("do i need a jacket", "Yes."),
     ("will it be above 50", "Yes."), ("is it going to be below 40", "No.")],
)  # fmt: skip
def test_a_question_about_warmth_is_answered_by_its_word(text: str, answer: str) -> None:
    assert told("temperature", "weather.temperature_yes_no", text).startswith(f"{answer} In Boston, tomorrow: ")


def test_now_is_said_as_now() -> None:
    said = told("temperature", "weather.temperature", "how warm is it", when=None, current={"temperature_f": 51})
    assert said == "In Boston, today: it is 51 degrees now, with a high of 59 and a low of 44."


@pytest.mark.parametrize(("reason", "words"), [("past", "from today on"), ("too_far", "16 days")])
def test_no_forecast_invents_no_figure(reason: str, words: str) -> None:
    said = told("weather", "weather.weather", "weather", available=False, reason=reason, days=[])
    assert words in said
    assert "degrees" not in said


@pytest.mark.parametrize("measure", ["rain", "snow", "temperature", "humidity", "sun", "cloud", "weather", "nonsense"])
def test_missing_figures_break_nothing(measure: str) -> None:
    empty = {"date": "2026-11-19", "high_f": None, "low_f": None, "condition": None}
    assert told(measure, "weather.weather", "", empty)
