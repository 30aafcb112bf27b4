"""What pages that look back are narrowed by. All of it is in the address, so that a link shows what its sender saw."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date, timedelta
from typing import NoReturn, get_args

import streamlit as st

from dashboard.ui import formatting
from storage.queries.periods import Period, Step

SPANS = {"7 days": 7, "4 weeks": 28, "8 weeks": 56, "6 months": 182, "1 year": 364}
STEPS: tuple[Step, ...] = get_args(Step)
CUSTOM = "Own dates"
TIMES = {"Any time": 0, "7 days": 7, "4 weeks": 28, "8 weeks": 56}
EVERYTHING = "All"


def period(default: str = "4 weeks") -> Period:
    span = st.segmented_control(
        "Period", [*SPANS, CUSTOM], default=default, required=True, key="period", bind="query-params", wrap=True
    )
    return custom_dates() if span == CUSTOM else Period.ending(time.time(), SPANS[span or default], formatting.zone())


def custom_dates() -> Period:
    """From one day to another, both included. Until the second is chosen, the first alone."""
    today = formatting.local(time.time()).date()
    chosen: tuple[date, ...] = st.date_input(
        "From and to", (today - timedelta(days=27), today), max_value=today, key="dates", bind="query-params",
        format="YYYY-MM-DD", required=True, width=240,
    )  # fmt: skip
    return Period(chosen[0], chosen[-1], formatting.zone())


def when() -> dict[str, float]:
    """Since which moment, and until which, of pages that need no period; nothing for any time."""
    span = st.selectbox("When", [*TIMES, CUSTOM], key="when", bind="query-params", width=140) or "Any time"
    if span == CUSTOM:
        own = custom_dates()
        return {"since": own.since, "until": own.until}
    days = TIMES[span]
    return {"since": Period.ending(time.time(), days, formatting.zone()).since} if days else {}


def step(span: Period) -> Step:
    """Days for weeks, weeks for months, unless the reader wants otherwise."""
    default: Step = "day" if span.days <= 60 else "week"
    chosen = st.segmented_control(
        "By",
        STEPS,
        default=default,
        required=True,
        key=f"by_{default}",
        bind="query-params",
        format_func=formatting.words,
    )
    return chosen or default


def choice(label: str, options: list[str], key: str) -> str:
    """One of the options, or empty for all."""
    chosen = st.selectbox(label, [EVERYTHING, *options], key=key, bind="query-params")
    return "" if chosen in (None, EVERYTHING) else str(chosen)


def person(label: str, names: Mapping[str, str], key: str, everyone: str) -> str:
    """Somebody by id, or empty for everyone. The address holds the id, not the name."""
    state = st.session_state
    wanted = state.pop(f"chosen_{key}", None)
    if wanted is None:
        wanted = state[key] if key in state else st.query_params.get(key, "")
    state[key] = wanted if wanted in names else ""
    chosen: str = st.selectbox(
        label, ["", *names], key=key, format_func=lambda one: names.get(one, everyone), width=280
    )
    if chosen:
        st.query_params[key] = chosen
    elif key in st.query_params:
        del st.query_params[key]
    return chosen


def several(label: str, names: Mapping[str, str], key: str, *, default: str, most: int) -> list[str]:
    """Some of them by id, up to `most`. The address holds the ids; without any, `default` is chosen."""
    state = st.session_state
    if key not in state:
        wanted = [one for one in st.query_params.get_all(key) if one in names]
        state[key] = wanted[:most] or [default]
    state[key] = [one for one in state[key] if one in names]
    chosen: list[str] = st.multiselect(label, list(names), key=key, max_selections=most, format_func=names.__getitem__)
    st.query_params[key] = chosen
    return chosen


def one_of(label: str, names: Mapping[str, str], key: str) -> str:
    """One of them by id, which the address holds; the first, where nobody has chosen."""
    state = st.session_state
    wanted = state.get(key) or st.query_params.get(key, "")
    state[key] = wanted if wanted in names else next(iter(names))
    chosen: str = st.selectbox(label, list(names), key=key, format_func=names.__getitem__, width=360)
    st.query_params[key] = chosen
    return chosen


def select(key: str, one: str) -> NoReturn:
    """As if chosen in the filter: what a click on a mark does."""
    st.session_state[f"chosen_{key}"] = one
    st.rerun()
