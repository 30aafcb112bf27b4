"""Sample weather: plausible, the same whenever it is asked for, and honest about what it cannot know."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from dialog.fulfilment.results import WeatherResult
from dialog.fulfilment.sample.weather import SampleWeather
from tests.dialog.fulfilment.calls import BOSTON, NOW, call_of, days, result_of

ANCHORAGE = {"name": "Anchorage", "state": "AK", "latitude": 61.2, "longitude": -149.9, "timezone": "America/Anchorage"}
MIAMI = {"name": "Miami", "state": "FL", "latitude": 25.8, "longitude": -80.2, "timezone": "America/New_York"}


async def weather(**arguments: Any) -> Any:
    return await result_of(SampleWeather(), "weather", **arguments)


async def test_without_a_day_it_is_today_and_now() -> None:
    result = await weather(location=BOSTON)
    assert (result["place"], result["from"], result["to"]) == ("Boston", "2026-11-18", "2026-11-18")
    assert result["days"][0]["low_f"] <= result["current"]["temperature_f"] <= result["days"][0]["high_f"]


async def test_a_week_has_seven_days_and_their_summary() -> None:
    result = await weather(location=BOSTON, when=days("2026-11-23", "2026-11-29"))
    assert [day["date"] for day in result["days"]] == [f"2026-11-{day}" for day in range(23, 30)]
    assert result["summary"]["high_f"] == max(day["high_f"] for day in result["days"])
    assert result["summary"]["rain_in"] == pytest.approx(sum(day["rain_in"] for day in result["days"]))
    assert "current" not in result


async def test_the_same_question_has_the_same_answer() -> None:
    assert await weather(location=BOSTON, when=days("2026-11-20")) == await weather(
        location=BOSTON, when=days("2026-11-20")
    )


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [("2026-11-17", "2026-11-17", "past"), ("2026-12-04", "2026-12-04", "too_far"), ("2027-07-04", "", "too_far")],
)
async def test_yesterday_and_far_ahead_have_no_forecast(first: str, last: str, reason: str) -> None:
    result = await weather(location=BOSTON, when=days(first, last))
    assert (result["available"], result["reason"], result["days"]) == (False, reason, [])


async def test_what_reaches_over_the_end_is_cut_there() -> None:
    result = await weather(location=BOSTON, when=days("2026-11-30", "2026-12-31"))
    assert (result["from"], result["to"], len(result["days"])) == ("2026-11-30", "2026-12-03", 4)


async def test_january_is_cold_in_anchorage_and_mild_in_miami() -> None:
    now = datetime(2027, 1, 10, 12, 0)
    when = days("2027-01-10", "2027-01-20")
    north = await weather(location=ANCHORAGE, when=when, now=now)
    south = await weather(location=MIAMI, when=when, now=now)
    assert north["summary"]["high_f"] < 50 < 60 < south["summary"]["high_f"] < 100
    assert south["summary"]["snow_in"] == 0


async def test_figures_agree_with_each_other_all_year_round() -> None:
    for place in (BOSTON, ANCHORAGE, MIAMI):
        for number in range(0, 365, 14):
            day = date(2027, 1, 1) + timedelta(number)
            now = datetime(day.year, day.month, day.day, 9)
            result = await weather(
                location=place, when=days(day.isoformat(), (day + timedelta(13)).isoformat()), now=now
            )
            msgspec.convert(result, WeatherResult)
            for one in result["days"]:
                assert one["low_f"] < one["high_f"]
                assert 0 <= one["rain_chance"] <= 100 >= one["humidity"] > 0
                assert 0 <= one["sun_hours"] < 20
                assert (one["snow_in"] > 0) <= (one["snow_chance"] > 0)
                assert one["condition"]


async def test_the_day_is_that_of_the_place() -> None:
    late = NOW.replace(hour=2)  # in Boston; in Honolulu it is still yesterday
    place = {"name": "Honolulu", "state": "HI", "latitude": 21.3, "longitude": -157.9, "timezone": "Pacific/Honolulu"}
    assert (await weather(location=place, now=late))["from"] == "2026-11-17"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"location": None},
        {"location": 7, "when": "soon"},
        {"location": {"name": ["x"], "latitude": "north"}, "when": {"from": 3, "to": {}}},
        {"location": {"name": "Boston", "latitude": 4000, "longitude": float("nan"), "timezone": "Mars/Phobos"}},
        {"location": "Boston", "when": {"from": "2026-99-99", "to": "x" * 100_000}},
        {"location": BOSTON, "when": days("2026-11-20", "0001-01-01")},
    ],
)
async def test_arguments_of_wrong_types_are_as_if_nobody_had_said_them(arguments: dict[str, Any]) -> None:
    result = (await SampleWeather().run(call_of("weather", **arguments))).result
    msgspec.convert(result, WeatherResult)
