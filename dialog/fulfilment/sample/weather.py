"""Made-up weather that is plausible for the place and the season, and the same whenever it is asked for."""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta

from dialog.fulfilment import arguments
from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.forecast import forecast, reach, unavailable
from dialog.fulfilment.results import CurrentWeather, WeatherDay
from dialog.fulfilment.sample.catalogue import table
from dialog.fulfilment.types import ActionCall, ActionResult

MIDDLE = (39.0, -95.0)
"""Where a place lies whose position nobody knows."""
WARMEST_DAY = 200


class SampleWeather:
    source = "sample"

    async def run(self, call: ActionCall) -> ActionResult:
        place = _positioned(arguments.place(call.arguments) or PlaceArgument(""))
        now = arguments.local_time(call.now, place.timezone)
        first, last = arguments.days(call.arguments, now.date())
        span = reach(first, last, now.date())
        if isinstance(span, str):
            return self._answer(dict(unavailable(place, first, last, span)))
        days = [_day(place, span[0] + timedelta(number)) for number in range((span[1] - span[0]).days + 1)]
        current = _current(days[0], now) if arguments.is_now(call.arguments, now.date()) else None
        return self._answer(dict(forecast(place, days, current)))

    def _answer(self, result: dict[str, object]) -> ActionResult:
        return ActionResult(result=result, source=self.source, sample=True)


def _positioned(place: PlaceArgument) -> PlaceArgument:
    if place.latitude is not None and place.longitude is not None:
        return place
    for row in table("cities"):
        if row["city"].lower() == place.name.lower() and place.state.upper() in ("", row["state"]):
            return PlaceArgument(
                row["city"], row["state"], float(row["latitude"]), float(row["longitude"]), row["timezone"]
            )
    return PlaceArgument(place.name, place.state, *MIDDLE, place.timezone)


class _Climate:
    """Means of a place on a day of the year."""

    def __init__(self, latitude: float, longitude: float, day: date) -> None:
        season = math.cos(2 * math.pi * (day.timetuple().tm_yday - WARMEST_DAY) / 365)
        pacific = longitude < -116.5 and latitude > 30
        desert = -116.5 < longitude < -104 and latitude < 38.5
        swing = max(4.0, 4 + 0.95 * (abs(latitude) - 22)) * (0.55 if pacific else 1.0)
        plains = -105 < longitude < -82 and latitude > 40
        mean = 78 - 1.25 * max(1.0, abs(latitude) - 25) + (3 if pacific else 4 if desert else -5 if plains else 0)
        self.high = mean + swing * season + (11 if desert else 9)
        self.spread = 24 if desert else 14 if pacific else 18
        self.rain = _rain_chance(latitude, longitude, season, pacific, desert)
        self.daylight = 12 + season * abs(latitude) * 0.075
        self.humidity = 30 if desert else 72 if latitude < 32 else 64


def _rain_chance(latitude: float, longitude: float, season: float, pacific: bool, desert: bool) -> float:
    if desert:
        return 0.1
    if pacific:
        return max(0.04, (0.38 if latitude > 42 else 0.16) - 0.28 * season)
    if latitude < 33 and longitude > -98:
        return 0.3 + 0.15 * season
    return 0.3 + 0.04 * season


def _day(place: PlaceArgument, day: date) -> WeatherDay:
    assert place.latitude is not None
    assert place.longitude is not None
    draw = random.Random(f"{place.name.lower()}|{place.latitude:.1f}|{day.isoformat()}")
    climate = _Climate(place.latitude, place.longitude, day)
    wet = draw.random() < climate.rain
    cloud = round(draw.uniform(60, 100) if wet else draw.triangular(0, 75, 20))
    high = round(draw.gauss(climate.high, 5.5) - (4 if wet else 0))
    low = round(high - max(6.0, draw.gauss(climate.spread, 3) - cloud * 0.05))
    amount = round(min(2.4, draw.expovariate(3.2) + 0.03), 2) if wet else 0.0
    chance = round(draw.uniform(55, 95) if wet else max(0.0, draw.uniform(-10, 35) * climate.rain * 3))
    snow = wet and high <= 37
    mixed = wet and not snow and low <= 32 and high <= 41
    sun = max(0.0, climate.daylight * (1 - cloud / 100) * (0.6 if wet else 0.95))
    cold = high <= 37
    return {
        "date": day.isoformat(),
        "high_f": high,
        "low_f": low,
        "condition": _condition(cloud, amount, wet, snow, mixed),
        "rain_in": 0.0 if snow else amount,
        "rain_chance": 0 if cold else chance,
        "snow_in": round(amount * 10, 1) if snow else round(amount * 2, 1) if mixed else 0.0,
        "snow_chance": chance if cold else chance // 2 if mixed else 0,
        "sun_hours": round(sun, 1),
        "cloud": cloud,
        "humidity": max(8, min(98, round(draw.gauss(climate.humidity, 7) + (14 if wet else -4)))),
    }


def _condition(cloud: int, amount: float, wet: bool, snow: bool, mixed: bool) -> str:
    if snow:
        return "snowy"
    if mixed:
        return "rainy with some snow"
    if wet:
        return "rainy" if amount >= 0.1 else "showery"
    for most, words in ((15, "sunny"), (40, "mostly sunny"), (65, "partly cloudy")):
        if cloud <= most:
            return words
    return "cloudy"


def _current(day: WeatherDay, now: datetime) -> CurrentWeather:
    """Coldest at five in the morning, warmest at three in the afternoon."""
    high, low = day["high_f"] or 0, day["low_f"] or 0
    warmth = (1 + math.cos(2 * math.pi * (now.hour + now.minute / 60 - 15) / 24)) / 2
    return {
        "temperature_f": round(low + (high - low) * warmth),
        "condition": day["condition"],
        "rain_in": round((day["rain_in"] or 0) / 8, 2),
        "snow_in": round((day["snow_in"] or 0) / 8, 1),
        "cloud": day["cloud"],
        "humidity": day["humidity"],
    }
