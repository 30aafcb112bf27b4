"""What pages that look back are narrowed by. All of it is in the address, so that a link shows what its sender saw."""

from __future__ import annotations

import time
from datetime import tzinfo
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from dateutil.tz import tzlocal

from dashboard import look
from storage.periods import Period, Step

SPANS = {"7 days": 7, "4 weeks": 28, "8 weeks": 56, "6 months": 182, "1 year": 364}
STEPS: tuple[Step, ...] = get_args(Step)
EVERYTHING = "All"


def zone() -> tzinfo:
    """Where the reader's clock is; the machine's own zone when the browser does not tell."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (ZoneInfoNotFoundError, ValueError):
        return tzlocal()


def period(default: str = "8 weeks") -> Period:
    span = st.segmented_control(
        "Period", list(SPANS), default=default, required=True, key="period", bind="query-params", wrap=True
    )
    return Period.ending(time.time(), SPANS[span or default], zone())


def step(span: Period) -> Step:
    """Days for weeks, weeks for months, unless the reader wants otherwise."""
    default: Step = "day" if span.days <= 60 else "week"
    chosen = st.segmented_control(
        "By", STEPS, default=default, required=True, key=f"by_{default}", bind="query-params", format_func=look.words
    )
    return chosen or default


def choice(label: str, options: list[str], key: str) -> str:
    """One of the options, or empty for all."""
    chosen = st.selectbox(label, [EVERYTHING, *options], key=key, bind="query-params")
    return "" if chosen in (None, EVERYTHING) else str(chosen)
