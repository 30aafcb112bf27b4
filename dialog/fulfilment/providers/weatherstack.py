"""WeatherStack: the present weather with any plan, days to come with the plans that have forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from dialog.fulfilment import answers, arguments
from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.forecast import forecast, reach, unavailable
from dialog.fulfilment.results import CurrentWeather, WeatherDay
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult

HORIZON_DAYS = 14
TOO_MANY, NO_ANSWER = 429, 615
CM_PER_INCH = 2.54


class WeatherStack:
    source = "weatherstack"

    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._api = ApiClient(self.source)

    async def run(self, call: ActionCall) -> ActionResult:
        place = arguments.place(call.arguments)
        if place is None:
            raise ActionFailed("no place to look at")
        now = arguments.local_time(call.now, place.timezone)
        today = now.date()
        first, last = arguments.days(call.arguments, today)
        span = reach(first, last, today, HORIZON_DAYS)
        if isinstance(span, str):
            return self._result(unavailable(place, first, last, span))
        answer = await self._ask(place, span, today)
        if answer is None:
            return self._result(unavailable(place, first, last, "unknown_place"))
        current = _current(answer)
        days = _days(answer, span, today, current)
        if not days:
            raise ActionFailed("weatherstack: a forecast without days")
        return self._result(forecast(place, days, current if arguments.is_now(call.arguments, today) else None))

    async def close(self) -> None:
        await self._api.close()

    async def _ask(self, place: PlaceArgument, span: tuple[date, date], today: date) -> Mapping[str, Any] | None:
        """Today alone needs no forecast. None when the place is not known there."""
        where = ", ".join(part for part in (place.name, place.state) if part)
        query: dict[str, Any] = {"access_key": self._key, "query": where, "units": "f"}
        path = "current"
        if span[1] > today:
            path = "forecast"
            query |= {"forecast_days": (span[1] - today).days + 1, "hourly": 1}
        answer = answers.mapping(await self._api.get(f"{self._url}/{path}", query), "weatherstack's answer")
        if answer.get("success") is False:  # with status 200
            code = answers.whole(answers.inside(answer, "error.code"))
            if code == NO_ANSWER:
                return None
            raise ActionFailed(f"weatherstack: error {code}", retry=code == TOO_MANY)
        return answer

    def _result(self, result: Any) -> ActionResult:
        return ActionResult(result=dict(result), source=self.source)


def _days(
    answer: Mapping[str, Any], span: tuple[date, date], today: date, current: CurrentWeather | None
) -> list[WeatherDay]:
    by_date = answer.get("forecast")
    days = []
    for number in range((span[1] - span[0]).days + 1):
        day = span[0] + timedelta(number)
        found = by_date.get(day.isoformat()) if isinstance(by_date, Mapping) else None
        if isinstance(found, Mapping):
            days.append(_day(day, found))
        elif day == today and current is not None:
            days.append(_today(day, current))
    return days


def _day(day: date, found: Mapping[str, Any]) -> WeatherDay:
    """Days have no rain, cloud and humidity of their own: they come from the hours."""
    hours = answers.rows(found.get("hourly"), "hourly")
    rain = [amount for hour in hours if (amount := answers.number(hour.get("precip"))) is not None]
    snow = answers.number(found.get("totalsnow"))
    snows = bool(snow)
    chances = _most(hours, "chanceofrain")
    sun = answers.number(found.get("sunhour"))
    noon = hours[len(hours) // 2] if hours else {}
    return {
        "date": day.isoformat(),
        "high_f": answers.whole(found.get("maxtemp")),
        "low_f": answers.whole(found.get("mintemp")),
        "condition": _condition(noon),
        "rain_in": None if not rain else 0.0 if snows else round(sum(rain), 2),
        "rain_chance": chances,
        "snow_in": None if snow is None else round(snow / CM_PER_INCH, 1),
        "snow_chance": _most(hours, "chanceofsnow"),
        "sun_hours": sun,
        "cloud": _mean(hours, "cloudcover"),
        "humidity": _mean(hours, "humidity"),
    }


def _today(day: date, current: CurrentWeather) -> WeatherDay:
    """What /current says of the day: not how warm it will get."""
    return {
        "date": day.isoformat(),
        "high_f": None,
        "low_f": None,
        "condition": current["condition"],
        "rain_in": current["rain_in"],
        "rain_chance": None,
        "snow_in": None,
        "snow_chance": None,
        "sun_hours": None,
        "cloud": current["cloud"],
        "humidity": current["humidity"],
    }


def _current(answer: Mapping[str, Any]) -> CurrentWeather | None:
    current = answer.get("current")
    if not isinstance(current, Mapping):
        return None
    return {
        "temperature_f": answers.whole(current.get("temperature")),
        "condition": _condition(current),
        "rain_in": answers.number(current.get("precip")),
        "snow_in": None,
        "cloud": answers.whole(current.get("cloudcover")),
        "humidity": answers.whole(current.get("humidity")),
    }


def _condition(found: Mapping[str, Any]) -> str | None:
    words = answers.text(answers.inside(found, "weather_descriptions.0"))
    return words.lower() if words else None


def _most(hours: list[Mapping[str, Any]], name: str) -> int | None:
    return max((value for hour in hours if (value := answers.whole(hour.get(name))) is not None), default=None)


def _mean(hours: list[Mapping[str, Any]], name: str) -> int | None:
    known = [value for hour in hours if (value := answers.number(hour.get(name))) is not None]
    return round(sum(known) / len(known)) if known else None
