"""The theme: colours of pages, charts and sentiments, light and dark, and the style sheets."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st

SENTIMENT_COLOURS = {"negative": "#D55E00", "neutral": "#8A8F98", "positive": "#0072B2"}
"""Told apart by people with any kind of colour vision."""
SENTIMENT_SHAPES = {"negative": "▼", "neutral": "●", "positive": "▲"}
"""Colour is never the only sign."""
ICON = Path(str(files("dashboard") / "assets" / "icon.svg"))
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
    """Streamlit's own settings for our theme: light and dark, without its toolbar."""
    options: dict[str, Any] = {f"theme.{name}": value for name, value in _SHARED_THEME.items()}
    for section, values in THEMES.items():
        options |= {f"{section}.{name}": value for name, value in values.items()}
    return options | {"client.toolbarMode": "minimal"}


@cache
def asset(name: str) -> str:
    """Text of a file in dashboard/assets."""
    return (files("dashboard") / "assets" / name).read_text("utf-8")


def apply_styles(title: str) -> None:
    """Once a page run: what Streamlit's theme cannot say, and our name over the navigation."""
    name = json.dumps(title).replace("<", "\\3c ")
    st.html(f"<style>{asset('page.css')}\n:root {{ --t-title: {name}; --t-icon: url('{icon()}') }}</style>")


@cache
def icon() -> str:
    """Our sign as an address that needs no request."""
    return f"data:image/svg+xml;base64,{b64encode(ICON.read_bytes()).decode()}"
