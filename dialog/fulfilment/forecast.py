"""What every weather provider shares: how far a forecast reaches, and its days summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.results import CurrentWeather, Unavailable, WeatherDay, WeatherResult, WeatherSummary

HORIZON_DAYS = 16
"""Today and the fifteen days after it."""
LIKELY = 50


def reach(first: date, last: date, today: date, horizon: int = HORIZON_DAYS) -> tuple[date, date] | Unavailable:
    """The part of the days that a forecast has, or why it has none."""
    if last < today:
        return "past"
    if first >= today + timedelta(horizon):
        return "too_far"
    return max(first, today), min(last, today + timedelta(horizon - 1))


def unavailable(place: PlaceArgument, first: date, last: date, reason: Unavailable) -> WeatherResult:
    return {
        "place": place.name,
        "state": place.state or None,
        "from": first.isoformat(),
        "to": last.isoformat(),
        "available": False,
        "reason": reason,
        "days": [],
        "summary": None,
    }


def forecast(place: PlaceArgument, days: Sequence[WeatherDay], current: CurrentWeather | None) -> WeatherResult:
    result: WeatherResult = {
        "place": place.name,
        "state": place.state or None,
        "from": days[0]["date"],
        "to": days[-1]["date"],
        "available": True,
        "reason": None,
        "days": list(days),
        "summary": summed_up(days),
    }
    if current is not None:
        result["current"] = current
    return result


def summed_up(days: Sequence[WeatherDay]) -> WeatherSummary:
    rain = _likeliest([(day["rain_chance"], day["rain_in"], day["date"]) for day in days])
    snow = _likeliest([(day["snow_chance"], day["snow_in"], day["date"]) for day in days])
    conditions = Counter(day["condition"] for day in days if day["condition"])
    sun = _mean([day["sun_hours"] for day in days])
    return {
        "days": len(days),
        "high_f": max((day["high_f"] for day in days if day["high_f"] is not None), default=None),
        "low_f": min((day["low_f"] for day in days if day["low_f"] is not None), default=None),
        "condition": conditions.most_common(1)[0][0] if conditions else None,
        "rain_in": _sum([day["rain_in"] for day in days]),
        "rain_chance": rain[0],
        "rain_day": rain[1],
        "snow_in": _sum([day["snow_in"] for day in days]),
        "snow_chance": snow[0],
        "snow_day": snow[1],
        "sun_hours": None if sun is None else round(sun, 1),
        "sunny_days": sum(day["condition"] in ("sunny", "mostly sunny") for day in days),
        "cloud": _whole(_mean([day["cloud"] for day in days])),
        "humidity": _whole(_mean([day["humidity"] for day in days])),
        "rainy": rain[2],
        "snowy": snow[2],
    }


def _likeliest(days: Sequence[tuple[int | None, float | None, str]]) -> tuple[int | None, str | None, bool]:
    """Chance and date of the likeliest day, and whether it is likely; a provider that knows amounts only is read
    as sure where there is an amount."""
    known = [(chance, amount or 0.0, day) for chance, amount, day in days if chance is not None]
    if known:
        chance, amount, day = max(known, key=lambda one: (one[0], one[1]))
        return chance, day if chance or amount else None, chance >= LIKELY
    wet = [(amount, day) for _, amount, day in days if amount]
    return None, max(wet)[1] if wet else None, bool(wet)


def _sum(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), 2) if known else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
