"""Calls and sentences as lists one can go on from: to the call, and in it to the sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import streamlit as st

from dashboard import look, navigation
from storage.tables import Call, Sentence

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula at the start of a cell."""


def dress() -> None:
    st.html(f"<style>{look.asset('history.css')}</style>")


def sample_mark(some: bool) -> None:
    """Made-up calls are said to be."""
    if some:
        st.html('<span class="t-sample">includes sample data · <code>tenor sample remove</code> takes it away</span>')


def calls(found: Sequence[Call], said: Mapping[str, Sequence[Sentence]], names: Mapping[str, str]) -> None:
    """Each opens to what was said, and leads to its page."""
    st.html("".join(_call(call, said.get(call.id, ()), names) for call in found))


def as_row(call: Call) -> dict[str, Any]:
    """For a spreadsheet."""
    kept = ("id", "medium", "agent", "customer", "queue", "site", "task", "state", "mood_caller", "mood_agent",
            "talk_share_agent", "silence_share", "alerts", "escalations")  # fmt: skip
    return {"started_at": written(call.started_at), "seconds": call.duration_ms / 1000} | {
        name: getattr(call, name) for name in kept
    }


def written(at: float) -> str:
    """A moment for a spreadsheet."""
    return datetime.fromtimestamp(at).astimezone().isoformat(sep=" ", timespec="seconds")


def felt(mood: float | None) -> str:
    """A mood as a shape, a colour and a number."""
    if mood is None:
        return look.mood(None)
    label = "negative" if mood < -0.1 else "positive" if mood > 0.1 else "neutral"
    return f'<span class="t-{label}">{look.SENTIMENT_SHAPES[label]}</span> {look.mood(mood)}'


def download(what: str, whose: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """What is shown, for a spreadsheet."""
    name = f"{whose} {what}".lower().replace(" ", "-")
    st.download_button(
        f"{what} as CSV", table(rows), f"{name}.csv", "text/csv", icon=":material/download:", type="tertiary",
        disabled=not rows, key=f"csv_{what}", on_click="ignore",
    )  # fmt: skip


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """As CSV; a caller's words never become a formula of the reader's spreadsheet."""
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return made.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _call(call: Call, said: Sequence[Sentence], names: Mapping[str, str]) -> str:
    who = " · ".join(escape(names.get(one, one)) for one in (call.agent, call.customer) if names.get(one, one))
    about = look.words(call.task) if call.task else "Failed" if call.state == "failed" else "Call"
    length = look.clock(call.duration_ms) if call.medium == "voice" else f"{call.medium}, {call.sentences} sentences"
    chips = '<span class="t-chip critical">escalated</span>' if call.escalations else ""
    if others := call.alerts - call.escalations:
        chips += f'<span class="t-chip alert">{others} {"alert" if others == 1 else "alerts"}</span>'
    lines = "".join(map(_said, said)) or "<p>Nothing was said.</p>"
    why = f"<p>{escape(call.reason)}</p>" if call.state == "failed" else ""
    return (
        f'<details class="t-call"><summary><span class="when">{escape(look.moment(call.started_at))}</span>'
        f'<span class="what">{escape(about)} {chips}<small>{who} · {length}</small></span>'
        f'<span class="felt">{felt(call.mood_caller)}</span></summary>'
        f'<div>{why}{lines}<a class="open" href="{_href("call", call=call.id)}" target="_self">Open this call</a>'
        "</div></details>"
    )


def _said(sentence: Sentence) -> str:
    label = sentence.sentiment if sentence.sentiment in look.SENTIMENT_SHAPES else "neutral"
    return (
        f'<a class="t-said {label}" target="_self" href="{_href("call", call=sentence.call, sentence=sentence.id)}" '
        f'title="{escape(look.sentiment(sentence.sentiment))} · {escape(look.words(sentence.intent))}">'
        f'<span class="at">{look.clock(sentence.start_ms)}</span><span class="who">{escape(sentence.role)}</span>'
        f"<span>{escape(sentence.text)}</span></a>"
    )


def _href(page: str, **params: str) -> str:
    return escape(navigation.address(page, **params), quote=True)
