"""What pages are built of: headings, what stands where there is nothing to show, and the live components."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from dashboard.ui.theme import SENTIMENT_COLOURS, SENTIMENT_SHAPES, asset
from tenor.taxonomy.polarity import feeling


def component(name: str, *styles: str) -> ComponentRenderer:
    """A live component of a page: `dashboard/assets/NAME.js` with NAME.css, and `styles` before it."""
    loader = asset("loader.js").replace("COMPONENT", name)
    css = "\n".join(asset(f"{style}.css") for style in ("component", *styles, name))
    return st.components.v2.component(f"tenor.{name}", css=css, js=loader)


def heading(title: str, about: str = "") -> None:
    st.html(f'<div class="t-heading"><h1>{escape(title)}</h1><p>{escape(about)}</p></div>')


def empty_state(title: str, text: str, *commands: str) -> None:
    """Nothing here yet: says why, and what to do."""
    lines = "".join(f"<code>{escape(command)}</code>" for command in commands)
    st.html(f'<div class="t-empty"><h3>{escape(title)}</h3><p>{escape(text)}</p>{lines}</div>')


def notice(title: str, text: str, *, link: tuple[str, str] | None = None) -> None:
    """Alone on a page: something the reader must know before anything else."""
    way = f'<a href="{escape(link[1], quote=True)}" target="_self">{escape(link[0])}</a>' if link else ""
    st.html(f'<div class="t-empty t-notice"><h3>{escape(title)}</h3><p>{escape(text)}</p>{way}</div>')


def error(title: str, text: str) -> None:
    """Something failed; the rest of the page still stands."""
    lines = escape(text).replace("\n", "<br>")
    st.html(f'<div class="t-trouble" role="alert"><b>{escape(title)}</b> {lines}</div>')


def link_row(title: str, about: str, link: str, *, mood: float | None = None) -> None:
    """One thing of a list that opens its own page."""
    felt = feeling(mood)
    shape = f'<i style="color:{SENTIMENT_COLOURS[felt]}">{SENTIMENT_SHAPES[felt]}</i>'
    texts = f"<b>{escape(title)}</b><span>{escape(about)}</span>"
    st.html(f'<a class="t-line" href="{escape(link, quote=True)}" target="_self">{shape}{texts}</a>')


def sign_out_button(assets: str) -> None:
    with st.sidebar:
        component("sign_out")(data={"assets": assets})
