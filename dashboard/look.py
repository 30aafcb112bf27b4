"""One look: theme, colours, how numbers and times are written, and what is shown when there is nothing to show."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from dashboard.feeling import feeling

SENTIMENT_COLOURS = {"negative": "#D55E00", "neutral": "#8A8F98", "positive": "#0072B2"}
"""Told apart by people with any kind of colour vision."""
SENTIMENT_SHAPES = {"negative": "▼", "neutral": "●", "positive": "▲"}
"""Colour is never the only sign."""
NOTHING, MINUS = "\u2013", "\u2212"
ICON = Path(__file__).parent / "assets" / "icon.svg"
SERIES = ["#0072B2", "#B87800", "#009E73", "#B5629A", "#2E8FCB", "#D55E00", "#8A8F98"]
"""For lines and bars that are not sentiment: after Okabe and Ito, each at least 3:1 on white and on our dark."""

_SHARED_THEME = {
    "font": "sans-serif",
    "baseRadius": "8px",
    "buttonRadius": "8px",
    "baseFontSize": 15,
    "headingFontWeights": [650, 600, 600, 600, 600, 600],
    "headingFontSizes": ["1.6rem", "1.25rem", "1.1rem", "1rem", "0.95rem", "0.9rem"],
    "showWidgetBorder": True,
    "showSidebarBorder": True,
    "chartCategoricalColors": SERIES,
}
THEMES: Mapping[str, Mapping[str, Any]] = {
    "theme.light": {
        "primaryColor": "#2F5FDE",
        "backgroundColor": "#FFFFFF",
        "secondaryBackgroundColor": "#F5F6F8",
        "textColor": "#1B1F27",
        "borderColor": "#E3E6EB",
        "linkColor": "#2F5FDE",
    },
    "theme.light.sidebar": {"backgroundColor": "#F7F8FA", "secondaryBackgroundColor": "#ECEEF2"},
    "theme.dark": {
        "primaryColor": "#4C78F0",
        "backgroundColor": "#0F1217",
        "secondaryBackgroundColor": "#191E26",
        "textColor": "#E8EAEE",
        "borderColor": "#2A303A",
        "linkColor": "#8FAEFF",
    },
    "theme.dark.sidebar": {"backgroundColor": "#12161C", "secondaryBackgroundColor": "#1D232C"},
}


def streamlit_options() -> dict[str, Any]:
    """Streamlit's own settings for our look: light and dark, without its toolbar."""
    options: dict[str, Any] = {f"theme.{name}": value for name, value in _SHARED_THEME.items()}
    for section, values in THEMES.items():
        options |= {f"{section}.{name}": value for name, value in values.items()}
    return options | {"client.toolbarMode": "minimal"}


@cache
def asset(name: str) -> str:
    """Text of a file in dashboard/assets."""
    return (files("dashboard") / "assets" / name).read_text("utf-8")


def dress(title: str) -> None:
    """Once a page run: what Streamlit's theme cannot say, and our name over the navigation."""
    name = json.dumps(title).replace("<", "\\3c ")
    st.html(f"<style>{asset('page.css')}\n:root {{ --t-title: {name}; --t-icon: url('{icon()}') }}</style>")


@cache
def icon() -> str:
    """Our sign as an address that needs no request."""
    return f"data:image/svg+xml;base64,{b64encode(ICON.read_bytes()).decode()}"


def part(name: str, *styles: str) -> ComponentRenderer:
    """A live part of a page: `dashboard/assets/NAME.js` with NAME.css, and other style sheets before it if named."""
    loader = asset("loader.js").replace("PART", name)
    css = "\n".join(asset(f"{style}.css") for style in ("part", *styles, name))
    return st.components.v2.component(f"tenor.{name}", css=css, js=loader)


def heading(title: str, about: str = "") -> None:
    st.html(f'<div class="t-heading"><h1>{escape(title)}</h1><p>{escape(about)}</p></div>')


def empty(title: str, text: str, *commands: str) -> None:
    """Nothing here yet: says why, and what to do."""
    lines = "".join(f"<code>{escape(command)}</code>" for command in commands)
    st.html(f'<div class="t-empty"><h3>{escape(title)}</h3><p>{escape(text)}</p>{lines}</div>')


def notice(title: str, text: str, *, link: tuple[str, str] | None = None) -> None:
    """Alone on a page: something the reader must know before anything else."""
    way = f'<a href="{escape(link[1], quote=True)}" target="_self">{escape(link[0])}</a>' if link else ""
    st.html(f'<div class="t-empty t-notice"><h3>{escape(title)}</h3><p>{escape(text)}</p>{way}</div>')


def trouble(title: str, text: str) -> None:
    """Something failed; the rest of the page still stands."""
    st.html(f'<div class="t-trouble" role="alert"><b>{escape(title)}</b> {escape(text)}</div>')


def line(title: str, about: str, link: str, *, mood: float | None = None) -> None:
    """One thing of a list that opens its own page."""
    felt = feeling(mood)
    shape = f'<i style="color:{SENTIMENT_COLOURS[felt]}">{SENTIMENT_SHAPES[felt]}</i>'
    texts = f"<b>{escape(title)}</b><span>{escape(about)}</span>"
    st.html(f'<a class="t-line" href="{escape(link, quote=True)}" target="_self">{shape}{texts}</a>')


def sign_out(assets: str) -> None:
    with st.sidebar:
        part("sign_out")(data={"assets": assets})


def sentiment(label: str) -> str:
    """As a person reads it: shape and word."""
    return f"{SENTIMENT_SHAPES.get(label, '◆')} {label}"


def words(name: str) -> str:
    """A label or rule for people: `order_status` -> `Order status`."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


def wanted(label: str | None) -> str:
    """What a sentence or a call was about; nothing where the model says that it does not know."""
    return words(label) if label and label != "unknown" else ""


def mood(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.2f}".replace("-", MINUS)


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0%}"


def count(value: int | float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f")


def clock(ms: float) -> str:
    """Position in a call: 4:07, or 1:04:07."""
    seconds = max(0, int(ms // 1000))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def duration(seconds: float) -> str:
    """For people: 45 s, 7 min, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def zone() -> tzinfo:
    """Where the reader's clock is; the machine's own zone when the browser does not tell."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.now().astimezone().tzinfo or UTC


def local(at: float) -> datetime:
    """By the reader's clock."""
    return datetime.fromtimestamp(at, zone())


def moment(at: float) -> str:
    """A time of day, with the day when it is not today's."""
    then = local(at)
    today = datetime.now(then.tzinfo).date()
    if then.date() == today:
        return f"today {then:%H:%M}"
    return f"{then.day} {then:%b %H:%M}" if then.year == today.year else f"{then.day} {then:%b %Y %H:%M}"
