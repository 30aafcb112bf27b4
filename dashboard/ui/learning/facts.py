"""Names with what is known of each, and links to other pages, as these pages write them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from dashboard.ui import navigation


def facts(values: Mapping[str, str]) -> str:
    """Names, and what is known as HTML; what is not known is left out."""
    lines = "".join(f"<i>{escape(name)}</i><span>{text}</span>" for name, text in values.items() if text)
    return f'<div class="t-facts">{lines}</div>'


def link(page: str, text: str, **params: str) -> str:
    """To a page, with the parameters that are not empty."""
    there = navigation.address(page, **{name: value for name, value in params.items() if value})
    return f'<a href="{escape(there, quote=True)}" target="_self">{escape(text)}</a>'
