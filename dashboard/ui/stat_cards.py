"""Stat cards: figures in a row, each with what it is compared with, in words that say no more than the numbers do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape

import streamlit as st

from dashboard.ui import formatting
from storage.queries.statistics import FEWEST, MeasureSummary, Trend, difference


@dataclass(frozen=True, slots=True)
class Remark:
    text: str
    tone: str = ""
    """`up`, `down`, `more`, `less`, `same` or `few`; only a mood that goes up or down has a colour."""


@dataclass(frozen=True, slots=True)
class StatCard:
    title: str
    value: str
    remarks: tuple[Remark, ...] = ()
    unit: str = ""


def show(cards: Iterable[StatCard]) -> None:
    st.html(f'<div class="t-tiles">{"".join(map(html, cards))}</div>')


def section(title: str, about: str = "") -> None:
    st.html(f'<div class="t-section">{escape(title)}<small>{escape(about)}</small></div>')


def comparison(
    own: MeasureSummary, other: MeasureSummary, whom: str, written: Callable[[float | None], str], *, mood: bool
) -> Remark:
    """Against the team, or the period before: a difference is told only when it is clear of chance."""
    if other.n == 0:
        return Remark(f"{whom}: no calls", "few")
    if min(own.n, other.n) < FEWEST:
        fewer = min(own.n, other.n)
        return Remark(f"{_calls(fewer)}: too few to compare with {whom}", "few")
    apart = difference(own, other)
    if apart is None or not apart.interval.clear:
        return Remark(f"about as {whom} ({written(other.mean)})", "same")
    up = apart.value > 0
    tone = ("up" if up else "down") if mood else ("more" if up else "less")
    return Remark(f"{'above' if up else 'below'} {whom} ({written(other.mean)})", tone)


def trend_text(found: Trend | None, calls: int) -> str:
    """A trend in words."""
    if found is None:
        return f"{_calls(calls)}: too few for a trend"
    low, high = formatting.mood(found.interval.low), formatting.mood(found.interval.high)
    if not found.interval.clear:
        return f"no clear trend (between {low} and {high} a week)"
    return f"{'rising' if found.a_week > 0 else 'falling'} by {abs(found.a_week):.2f} a week ({low} to {high})"


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"


def html(card: StatCard) -> str:
    remarks = "".join(f'<p class="{remark.tone}">{escape(remark.text)}</p>' for remark in card.remarks)
    unit = f" <small>{escape(card.unit)}</small>" if card.unit else ""
    return f'<div class="t-tile"><h4>{escape(card.title)}</h4><b>{escape(card.value)}{unit}</b>{remarks}</div>'
