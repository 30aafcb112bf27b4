"""The weather as one says it: the place and the time first, then the figure; yes or no where that was the question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from dialog.replies.phrases import listed, number, on_day, place_name, when_phrase

LIKELY: Final = 50
"""Percent from which rain or snow is likely."""
_DEGREES: Final = re.compile(
    r"\b(above|over|more than|hotter than|warmer than|below|under|less than|colder than|cooler than)\s+"
    r"(-?\d+|zero|freezing)",
    re.I,
)
_ASKS: Final = re.compile(
    r"^\W*(?:(?:and|so|but|um|uh|hi|hey|hello|ok|okay|well|please|also|then|do you know if|tell me if|"
    r"can you tell me if|i wonder if|just)\W+)*(?:will|won't|is|isn't|are|does|do|should|would|could|can|any|am|"
    r"gonna|has|have|might|whether|if|need)\b",
    re.I,
)  # fmt: skip

Day = Mapping[str, Any]


def told(result: Mapping[str, Any], slots: Mapping[str, Any], intent: str, text: str, now: datetime) -> str:
    place = place_name(slots.get("location")) or str(result.get("place") or "")
    if not result.get("available", True) or not result.get("days"):
        return _unavailable(result, place, when_phrase(slots.get("when"), now))
    return _Teller(result, slots, intent, text, now, place).sentence()


def _unavailable(result: Mapping[str, Any], place: str, when: str) -> str:
    if result.get("reason") == "past":
        return f"I only know the weather from today on, so I can't say what it was like in {place} {when}.".replace(
            "  ", " "
        )
    if result.get("reason") == "too_far":
        return f"My forecast reaches 16 days ahead, so I can't say yet what it will be like in {place} {when}.".replace(
            "  ", " "
        )
    return f"I have no forecast for {place}."


class _Teller:
    def __init__(
        self, result: Mapping[str, Any], slots: Mapping[str, Any], intent: str, text: str, now: datetime, place: str
    ) -> None:
        self.days: Sequence[Day] = result["days"]
        self.current: Day = result.get("current") or {}
        self.measure = str(slots.get("measure") or "weather")
        self.intent, self.text, self.now = intent, text, now
        when = slots.get("when")
        self.at_present = not isinstance(when, Mapping) or bool(when.get("now"))
        self.night = isinstance(when, Mapping) and when.get("part") in ("night", "evening")
        self.lead = f"In {place}, {when_phrase(when, now) or 'today'}"
        self.yes_no = intent.endswith("_yes_no") or bool(_ASKS.match(text))
        self.one = self.days[0]
        self.several = len(self.days) > 1
        self.metric = slots.get("units") == "metric"
        self.unit = "degrees Celsius" if self.metric else "degrees Fahrenheit"

    def sentence(self) -> str:
        match self.measure:
            case "rain":
                return self._falling("rain", "rain_chance", "rain_in")
            case "snow":
                return self._falling("snow", "snow_chance", "snow_in")
            case "temperature":
                return self._temperature()
            case "humidity":
                return self._humidity()
            case "sun":
                return self._sun()
            case "cloud":
                return self._cloud()
        return self._weather()

    def _falling(self, what: str, chance_of: str, amount: str) -> str:
        likely = [day for day in self.days if _value(day, chance_of) >= LIKELY]
        best = max(self.days, key=lambda day: _value(day, chance_of))
        percent = round(_value(best, chance_of))
        total = sum(_value(day, amount) for day in (likely or [best]))
        inches = f", with about {self._depth(total, what)}" if total >= 0.05 else ""
        if self.yes_no:
            said = "Yes" if likely else "Probably not" if percent >= 30 else "No"
            lead = f"{said}. {self.lead}"
        else:
            lead = self.lead
        if not self.several:
            if likely:
                chance = f"{_article(percent)} {percent} percent chance{inches.replace(', with', ' of')}"
                return f"{lead}: {what} is likely, with {chance}."
            if not percent:
                return f"{lead}: no {what} is expected, the chance is 0 percent."
            return (
                f"{lead}: the chance of {what} is only {percent} percent."
                if percent < 30
                else (f"{lead}: the chance of {what} is {percent} percent.")
            )
        if likely:
            names = listed([on_day(day["date"], self.now) for day in likely[:4]])
            amount = inches.replace(", with", " and")
            return f"{lead}: {what} is likely {names}, with a chance of up to {percent} percent{amount}."
        return (
            f"{lead}: no {what} is likely. The highest chance is {percent} percent, {on_day(best['date'], self.now)}."
        )

    def _temperature(self) -> str:
        high = max(_value(day, "high_f") for day in self.days)
        low = min(_value(day, "low_f") for day in self.days)
        present = _value(self.current, "temperature_f") if self.current.get("temperature_f") is not None else None
        answer = self._warm_enough(high, low, present) if self.yes_no else ""
        if self.at_present and present is not None and not self.several:
            now = f"it is {self._degrees(present)} {self.unit if self.metric else 'degrees'} now"
            return (
                f"{answer}{self.lead}: {now}, with a high of {self._degrees(high)} and a low of {self._degrees(low)}."
            )
        if self.several:
            return f"{answer}{self.lead}: between {self._degrees(low)} and {self._degrees(high)} {self.unit}."
        return f"{answer}{self.lead}: {self._high_low(high, low)} {self.unit}."

    def _degrees(self, fahrenheit: float) -> str:
        return f"{round((fahrenheit - 32) / 1.8 if self.metric else fahrenheit)}"

    def _depth(self, inches: float, what: str) -> str:
        """Rain is told in millimeters, snow in centimeters."""
        if not self.metric:
            return _inches(inches)
        return f"{number(inches * 2.54)} centimeters" if what == "snow" else f"{inches * 25.4:.0f} millimeters"

    def _warm_enough(self, high: float, low: float, present: float | None) -> str:
        """Yes or no, by the word of the question."""
        text = self.text.lower()
        if limit := _DEGREES.search(text):
            figure = (
                {"zero": 0.0, "freezing": 32.0}.get(limit.group(2).lower())
                if not limit.group(2).lstrip("-").isdigit()
                else float(limit.group(2))
            )
            if self.metric and figure is not None and limit.group(2).lower() != "freezing":
                figure = figure * 1.8 + 32
            above = limit.group(1).split()[0] in ("above", "over", "more", "hotter", "warmer")
            return "Yes. " if (high > (figure or 0) if above else low < (figure or 0)) else "No. "
        for words, yes in (
            (r"freez\w*|frost|ice|icy", low <= 32),
            (r"hot|heat|shorts|swim\w*", high >= 80),
            (r"warm\w*|mild|t-shirt", high >= 65),
            (r"cold|jacket|coat|sweater|gloves|layers|bundle", low <= 48),
            (r"cool\w*|chilly|nippy", low <= 58),
        ):
            if re.search(rf"\b(?:{words})\b", text):
                return "Yes. " if yes else "No. "
        return ""

    def _humidity(self) -> str:
        values = [_value(day, "humidity") for day in self.days]
        mean = sum(values) / len(values)
        if self.at_present and not self.several and self.current.get("humidity") is not None:
            mean = _value(self.current, "humidity")
        dry = bool(re.search(r"\bdry\b", self.text, re.I))
        answer = ""
        if self.yes_no:
            answer = "Yes. " if (mean < 40 if dry else mean >= 60) else "No. "
        return f"{answer}{self.lead}: the humidity is {'about ' if self.several else ''}{mean:.0f} percent."

    def _sun(self) -> str:
        hours = sum(_value(day, "sun_hours") for day in self.days) / len(self.days)
        answer = ""
        if self.yes_no:
            answer = "Yes. " if hours >= 6 else "Partly. " if hours >= 3.5 else "No. "
        per_day = " a day" if self.several else ""
        return f"{answer}{self.lead}: about {number(round(hours))} hours of sun{per_day}{self._condition()}."

    def _cloud(self) -> str:
        cover = sum(_value(day, "cloud") for day in self.days) / len(self.days)
        if self.at_present and not self.several and self.current.get("cloud") is not None:
            cover = _value(self.current, "cloud")
        answer = ""
        if self.yes_no:
            answer = "Yes. " if cover >= 60 else "Partly. " if cover >= 35 else "No. "
        return f"{answer}{self.lead}: clouds cover about {cover:.0f} percent of the sky."

    def _weather(self) -> str:
        high = max(_value(day, "high_f") for day in self.days)
        low = min(_value(day, "low_f") for day in self.days)
        wet = [day for day in self.days if max(_value(day, "rain_chance"), _value(day, "snow_chance")) >= LIKELY]
        if self.several:
            what = "snow" if wet and _value(wet[0], "snow_chance") > _value(wet[0], "rain_chance") else "rain"
            days = (
                f", with {what} likely {listed([on_day(day['date'], self.now) for day in wet[:3]])}"
                if wet
                else ", and mostly dry"
            )
            return f"{self.lead}: between {self._degrees(low)} and {self._degrees(high)} {self.unit}{days}."
        condition = str(
            (self.current if self.at_present and self.current else self.one).get("condition")
            or self.one.get("condition")
            or "mixed"
        )
        if self.at_present and self.current.get("temperature_f") is not None:
            present = self._degrees(_value(self.current, "temperature_f"))
            unit = self.unit if self.metric else "degrees"
            return f"{self.lead}: {condition} and {present} {unit} now, with {self._high_low(high, low)}."
        return f"{self.lead}: {condition}, with {self._high_low(high, low)} {self.unit}."

    def _high_low(self, high: float, low: float) -> str:
        return f"a high of {self._degrees(high)} and a low of {self._degrees(low)}"

    def _condition(self) -> str:
        condition = self.one.get("condition")
        return f", {condition}" if condition and not self.several else ""


def _value(day: Day, name: str) -> float:
    value = day.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _article(percent: int) -> str:
    return "an" if percent in (8, 11, 18) or 80 <= percent < 90 else "a"


def _inches(value: float) -> str:
    amount = number(value)
    return f"{amount} inch" if amount == "1" else f"{amount} inches"
