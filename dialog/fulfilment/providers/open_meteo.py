"""Open-Meteo: forecasts and the present weather for a position, and a geocoder for places without one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from dialog.fulfilment import answers, arguments
from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.forecast import forecast, reach, unavailable
from dialog.fulfilment.results import CurrentWeather, WeatherDay
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult
from tenor.bounded_dict import BoundedDict

DAILY = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,rain_sum,snowfall_sum,"
    "precipitation_probability_max,sunshine_duration"
)
HOURLY = "relative_humidity_2m,cloud_cover"
"""Days have neither; their means are taken from the hours."""
CURRENT = "temperature_2m,relative_humidity_2m,cloud_cover,rain,snowfall,weather_code"
PLACES_KEPT = 5000

CONDITIONS = {
    0: "sunny", 1: "mostly sunny", 2: "partly cloudy", 3: "cloudy", 45: "foggy", 48: "foggy", 56: "icy", 57: "icy",
    66: "icy", 67: "icy",
}  # fmt: skip
RANGES = ((51, 55, "drizzly"), (61, 65, "rainy"), (71, 77, "snowy"), (80, 82, "showery"), (85, 86, "snowy"),
          (95, 99, "stormy"))  # fmt: skip


class OpenMeteo:
    source = "open-meteo"

    def __init__(self, url: str, geocoder_url: str, key: str = "") -> None:
        self._url = url.rstrip("/")
        self._geocoder_url = geocoder_url.rstrip("/")
        self._key = key
        self._api = ApiClient(self.source)
        self._known: BoundedDict[tuple[str, str], PlaceArgument] = BoundedDict(PLACES_KEPT)

    async def run(self, call: ActionCall) -> ActionResult:
        asked = arguments.place(call.arguments)
        if asked is None:
            raise ActionFailed("no place to look at")
        place = await self._positioned(asked)
        now = arguments.local_time(call.now, (place or asked).timezone)
        first, last = arguments.days(call.arguments, now.date())
        span = reach(first, last, now.date())
        if place is None:
            return self._result(unavailable(asked, first, last, "unknown_place"))
        if isinstance(span, str):
            return self._result(unavailable(place, first, last, span))
        answer = await self._forecast(place, span)
        days = _days(answer)
        if not days:
            raise ActionFailed("open-meteo: a forecast without days")
        current = _current(answer) if arguments.is_now(call.arguments, now.date()) else None
        return self._result(forecast(place, days, current))

    async def close(self) -> None:
        await self._api.close()

    async def _forecast(self, place: PlaceArgument, span: tuple[date, date]) -> Mapping[str, Any]:
        query = {
            "latitude": place.latitude,
            "longitude": place.longitude,
            "daily": DAILY,
            "hourly": HOURLY,
            "current": CURRENT,
            "timezone": "auto",
            "start_date": span[0].isoformat(),
            "end_date": span[1].isoformat(),
            "temperature_unit": "fahrenheit",
            "precipitation_unit": "inch",
            "apikey": self._key or None,
        }
        return answers.mapping(await self._api.get(f"{self._url}/v1/forecast", query), "open-meteo's answer")

    async def _positioned(self, place: PlaceArgument) -> PlaceArgument | None:
        if place.latitude is not None and place.longitude is not None:
            return place
        if known := self._known.get((place.name, place.state)):
            return known
        query = {"name": place.name, "count": 10, "language": "en", "format": "json", "countryCode": "US"}
        answer = answers.mapping(await self._api.get(f"{self._geocoder_url}/v1/search", query), "the geocoder's answer")
        found = answers.rows(answer.get("results"), "results")  # absent when there is no such place
        named = [row for row in found if place.state and answers.text(row.get("admin1")) == place.state]
        for row in named or found:
            latitude, longitude = answers.number(row.get("latitude")), answers.number(row.get("longitude"))
            if latitude is not None and longitude is not None:
                zone = answers.text(row.get("timezone")) or place.timezone
                known = PlaceArgument(place.name, place.state, latitude, longitude, zone)
                self._known[place.name, place.state] = known
                return known
        return None

    def _result(self, result: Any) -> ActionResult:
        return ActionResult(result=dict(result), source=self.source)


def _days(answer: Mapping[str, Any]) -> list[WeatherDay]:
    daily = answers.mapping(answer.get("daily"), "daily")
    units = daily_units if isinstance(daily_units := answer.get("daily_units"), Mapping) else {}
    times = daily.get("time")
    if not isinstance(times, list):
        raise ActionFailed("open-meteo: a forecast without days")
    hours = _means(answer.get("hourly"))
    return [_day(str(day), daily, units, index, hours.get(str(day), {})) for index, day in enumerate(times)]


def _day(
    day: str, daily: Mapping[str, Any], units: Mapping[str, Any], index: int, means: Mapping[str, int]
) -> WeatherDay:
    def at(name: str) -> float | None:
        return _in_our_unit(answers.number(answers.inside(daily, f"{name}.{index}")), units.get(name))

    high, low, sun = at("temperature_2m_max"), at("temperature_2m_min"), at("sunshine_duration")
    rain, snow, chance = at("rain_sum"), at("snowfall_sum"), answers.whole(at("precipitation_probability_max"))
    return {
        "date": day,
        "high_f": answers.whole(high),
        "low_f": answers.whole(low),
        "condition": condition(at("weather_code")),
        "rain_in": None if rain is None else round(rain, 2),
        "rain_chance": 0 if chance is not None and snow and not rain else chance,
        "snow_in": None if snow is None else round(snow, 1),
        "snow_chance": None if chance is None else chance if snow else 0,
        "sun_hours": None if sun is None else round(sun / 3600, 1),
        "cloud": means.get("cloud_cover"),
        "humidity": means.get("relative_humidity_2m"),
    }


def _current(answer: Mapping[str, Any]) -> CurrentWeather | None:
    current = answer.get("current")
    units = current_units if isinstance(current_units := answer.get("current_units"), Mapping) else {}
    if not isinstance(current, Mapping):
        return None

    def at(name: str) -> float | None:
        return _in_our_unit(answers.number(current.get(name)), units.get(name))

    return {
        "temperature_f": answers.whole(at("temperature_2m")),
        "condition": condition(at("weather_code")),
        "rain_in": at("rain"),
        "snow_in": at("snowfall"),
        "cloud": answers.whole(at("cloud_cover")),
        "humidity": answers.whole(at("relative_humidity_2m")),
    }


def _means(hourly: Any) -> dict[str, dict[str, int]]:
    """Of each variable, by day."""
    if not isinstance(hourly, Mapping) or not isinstance(times := hourly.get("time"), list):
        return {}
    by_day: dict[str, dict[str, list[float]]] = {}
    for index, moment in enumerate(times):
        for name in HOURLY.split(","):
            if (value := answers.number(answers.inside(hourly, f"{name}.{index}"))) is not None:
                by_day.setdefault(str(moment)[:10], {}).setdefault(name, []).append(value)
    return {day: {name: round(sum(v) / len(v)) for name, v in values.items()} for day, values in by_day.items()}


def _in_our_unit(value: float | None, unit: Any) -> float | None:
    """We ask for Fahrenheit and inches; the answer says what it is in."""
    if value is None:
        return None
    match unit:
        case "°C":
            return value * 9 / 5 + 32
        case "mm":
            return value / 25.4
        case "cm":
            return value / 2.54
    return value


def condition(code: float | None) -> str | None:
    """The words for a WMO weather code."""
    if code is None:
        return None
    number = int(code)
    return CONDITIONS.get(number) or next((words for low, high, words in RANGES if low <= number <= high), None)
