"""Open-Meteo and WeatherStack, spoken by a server on loopback."""

from __future__ import annotations

from typing import Any

import pytest

from dialog.fulfilment.providers.open_meteo import OpenMeteo, condition
from dialog.fulfilment.providers.weatherstack import WeatherStack
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionFailed
from tests.dialog.fulfilment.calls import BOSTON, call_of, days
from tests.dialog.fulfilment.conftest import ApiServer, Asked, Reply


def open_meteo(server: ApiServer) -> ActionRunner:
    return ActionRunner({"weather": OpenMeteo(server.url, server.url)}, timeout_s=10, retries=0)


def weatherstack(server: ApiServer) -> ActionRunner:
    return ActionRunner({"weather": WeatherStack(server.url, "a-key")}, timeout_s=10, retries=0)


def forecast(asked: Asked) -> Reply:
    """Two days as Open-Meteo tells them."""
    return Reply(
        {
            "latitude": 42.36,
            "longitude": -71.06,
            "utc_offset_seconds": -18000,
            "timezone": "America/New_York",
            "daily_units": {
                "time": "iso8601",
                "weather_code": "wmo code",
                "temperature_2m_max": "°F",
                "temperature_2m_min": "°F",
                "precipitation_sum": "inch",
                "rain_sum": "inch",
                "snowfall_sum": "inch",
                "precipitation_probability_max": "%",
                "sunshine_duration": "s",
            },
            "daily": {
                "time": ["2026-11-18", "2026-11-19"],
                "weather_code": [61, 73],
                "temperature_2m_max": [50.4, 31.2],
                "temperature_2m_min": [41.0, 20.1],
                "precipitation_sum": [0.31, 0.2],
                "rain_sum": [0.31, 0.0],
                "snowfall_sum": [0.0, 2.04],
                "precipitation_probability_max": [80, 65],
                "sunshine_duration": [3600.0, None],
            },
            "hourly": {
                "time": ["2026-11-18T00:00", "2026-11-18T12:00", "2026-11-19T00:00"],
                "relative_humidity_2m": [60, 80, 50],
                "cloud_cover": [100, 90, 20],
            },
            "current_units": {"temperature_2m": "°F"},
            "current": {
                "time": "2026-11-18T10:00",
                "temperature_2m": 44.6,
                "relative_humidity_2m": 71,
                "cloud_cover": 95,
                "rain": 0.02,
                "snowfall": 0.0,
                "weather_code": 61,
            },
        }
    )


async def test_open_meteo_tells_the_days_in_our_units(server: ApiServer) -> None:
    server.replies["/v1/forecast"] = forecast
    call = call_of("weather", location=BOSTON, when=days("2026-11-18", "2026-11-19"))
    result = (await open_meteo(server).run(call)).result
    today, tomorrow = result["days"]
    assert (today["high_f"], today["low_f"], today["condition"]) == (50, 41, "rainy")
    assert (today["rain_in"], today["rain_chance"], today["sun_hours"], today["humidity"]) == (0.31, 80, 1.0, 70)
    assert (tomorrow["snow_in"], tomorrow["snow_chance"], tomorrow["rain_chance"]) == (2.0, 65, 0)
    assert (tomorrow["sun_hours"], tomorrow["cloud"]) == (None, 20)
    assert result["current"]["temperature_f"] == 45
    query = server.asked[0].query
    assert (query["start_date"], query["end_date"], query["timezone"]) == ("2026-11-18", "2026-11-19", "auto")
    assert (query["temperature_unit"], query["precipitation_unit"]) == ("fahrenheit", "inch")
    assert "apikey" not in query


async def test_open_meteo_in_other_units_is_converted(server: ApiServer) -> None:
    answer = forecast(Asked("GET", "", {}, {}, b"")).body
    answer["daily_units"] |= {"temperature_2m_max": "°C", "snowfall_sum": "cm", "rain_sum": "mm"}
    server.replies["/v1/forecast"] = Reply(answer)
    result = (await open_meteo(server).run(call_of("weather", location=BOSTON))).result
    assert result["days"][0]["high_f"] == 123
    assert result["days"][1]["snow_in"] == 0.8


async def test_a_place_without_a_position_is_looked_up_once(server: ApiServer) -> None:
    server.replies["/v1/forecast"] = forecast
    found = [
        {
            "name": "Portland",
            "latitude": 45.5,
            "longitude": -122.7,
            "admin1": "Oregon",
            "timezone": "America/Los_Angeles",
        },
        {"name": "Portland", "latitude": 43.7, "longitude": -70.3, "admin1": "Maine", "timezone": "America/New_York"},
    ]
    server.replies["/v1/search"] = Reply({"results": found})
    runner = open_meteo(server)
    for when in ("2026-11-18", "2026-11-19"):
        await runner.run(call_of("weather", location={"name": "Portland", "state": "Maine"}, when=days(when)))
    assert [asked.path for asked in server.asked] == ["/v1/search", "/v1/forecast", "/v1/forecast"]
    assert server.asked[0].query["countryCode"] == "US"
    assert server.asked[1].query["latitude"] == "43.7"


async def test_a_place_that_the_geocoder_does_not_know_is_told(server: ApiServer) -> None:
    server.replies["/v1/search"] = Reply({"generationtime_ms": 0.4})  # no key `results`
    result = (await open_meteo(server).run(call_of("weather", location={"name": "Qwertyville"}))).result
    assert (result["available"], result["reason"]) == (False, "unknown_place")


@pytest.mark.parametrize(("first", "reason"), [("2026-11-01", "past"), ("2027-03-01", "too_far")])
async def test_days_that_no_forecast_has_are_not_asked_for(server: ApiServer, first: str, reason: str) -> None:
    call = call_of("weather", location=BOSTON, when=days(first))
    for runner in (open_meteo(server), weatherstack(server)):
        assert (await runner.run(call)).result["reason"] == reason
    assert server.asked == []


def current(**more: Any) -> dict[str, Any]:
    return {
        "request": {"type": "City", "query": "Boston, MA", "language": "en", "unit": "f"},
        "location": {"name": "Boston", "region": "Massachusetts", "timezone_id": "America/New_York"},
        "current": {
            "temperature": 45,
            "weather_descriptions": ["Light Rain"],
            "precip": 0.1,
            "humidity": 87,
            "cloudcover": 100,
            "feelslike": 41,
            "uv_index": 1,
        },
        **more,
    }


async def test_weatherstack_tells_today_without_a_forecast(server: ApiServer) -> None:
    server.replies["/current"] = Reply(current())
    result = (await weatherstack(server).run(call_of("weather", location=BOSTON))).result
    assert result["current"]["temperature_f"] == 45
    assert (result["days"][0]["condition"], result["days"][0]["humidity"]) == ("light rain", 87)
    assert result["days"][0]["high_f"] is None, "nobody said how warm it will get, so no figure is invented"
    assert server.asked[0].query == {"access_key": "a-key", "query": "Boston, MA", "units": "f"}


async def test_weatherstack_sums_the_hours_of_a_day(server: ApiServer) -> None:
    hours = [
        {"time": "0", "precip": 0.1, "humidity": 80, "cloudcover": 50, "chanceofrain": 20, "chanceofsnow": 0,
         "weather_descriptions": ["Cloudy"]},
        {"time": "1200", "precip": 0.2, "humidity": 90, "cloudcover": 100, "chanceofrain": 70, "chanceofsnow": 0,
         "weather_descriptions": ["Rain"]},
    ]  # fmt: skip
    day = {"date": "2026-11-19", "mintemp": 40, "maxtemp": 52, "avgtemp": 46, "totalsnow": 0, "sunhour": 3.2}
    server.replies["/forecast"] = Reply(current(forecast={"2026-11-19": {**day, "hourly": hours}}))
    result = (await weatherstack(server).run(call_of("weather", location=BOSTON, when=days("2026-11-19")))).result
    assert result["days"] == [
        {
            "date": "2026-11-19", "high_f": 52, "low_f": 40, "condition": "rain", "rain_in": 0.3, "rain_chance": 70,
            "snow_in": 0.0, "snow_chance": 0, "sun_hours": 3.2, "cloud": 75, "humidity": 85,
        }
    ]  # fmt: skip
    assert (server.asked[0].query["forecast_days"], server.asked[0].query["hourly"]) == ("2", "1")


@pytest.mark.parametrize(("code", "retry"), [(101, False), (429, True), (603, False)])
async def test_errors_that_weatherstack_tells_with_status_200(server: ApiServer, code: int, retry: bool) -> None:
    error = {"success": False, "error": {"code": code, "type": "some_error", "info": "your key a-key"}}
    server.replies["/current"] = Reply(error)
    with pytest.raises(ActionFailed) as caught:
        await weatherstack(server).run(call_of("weather", location=BOSTON))
    assert caught.value.retry is retry
    assert "a-key" not in str(caught.value)


async def test_whatever_a_weather_api_does_wrong_is_a_failure(server: ApiServer, misbehaving: Reply) -> None:
    for path in ("/v1/forecast", "/current", "/forecast"):
        server.replies[path] = misbehaving
    for runner in (open_meteo(server), weatherstack(server)):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("weather", location=BOSTON))


async def test_a_slow_api_ends_at_the_timeout(server: ApiServer) -> None:
    server.replies["/v1/forecast"] = Reply({}, after_s=2.0)
    with pytest.raises(ActionFailed, match="in time"):
        await open_meteo(server).run(call_of("weather", location=BOSTON), timeout_s=0.1)


async def test_an_api_that_recovers_is_asked_again(server: ApiServer) -> None:
    good = forecast(Asked("GET", "", {}, {}, b""))
    server.replies["/v1/forecast"] = [Reply({}, 503), Reply({}, 500), good]
    assert (await open_meteo(server).run(call_of("weather", location=BOSTON), retries=2)).result["available"]


def test_every_code_of_the_table_has_words() -> None:
    codes = [
        0,
        1,
        2,
        3,
        45,
        48,
        *range(51, 58, 2),
        56,
        *range(61, 68, 2),
        66,
        71,
        73,
        75,
        77,
        80,
        81,
        82,
        85,
        86,
        95,
        96,
        99,
    ]
    assert all(condition(code) for code in codes)
    assert condition(None) is None
    assert condition(1234) is None
