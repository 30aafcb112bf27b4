"""Calls and sentences as lists one can go on from: to the call, and in it to the sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from html import escape
from typing import Any

import streamlit as st

from dashboard.ui import formatting, navigation, theme
from storage.labels.effective import CorrectedSentence
from storage.summaries import in_a_line
from storage.tables import Call
from storage.transfer.exporter import harmless
from tenor.taxonomy.polarity import feeling


def apply_styles() -> None:
    st.html(f"<style>{theme.asset('history.css')}</style>")


def sample_notice(some: bool) -> None:
    """Made-up calls are said to be."""
    if some:
        st.html('<span class="t-sample">includes sample data · <code>tenor sample remove</code> takes it away</span>')


def call_list(found: Sequence[Call], said: Mapping[str, Sequence[CorrectedSentence]], names: Mapping[str, str]) -> None:
    """Each opens to what was said, and leads to its page."""
    st.html("".join(_call(call, said.get(call.id, ()), names) for call in found))


def call_row(call: Call, zone: tzinfo) -> dict[str, Any]:
    """For a spreadsheet."""
    kept = ("id", "medium", "agent", "customer", "queue", "site", "task", "state", "mood_caller", "mood_agent",
            "talk_share_agent", "silence_share", "alerts", "escalations")  # fmt: skip
    return {"started_at": csv_time(call.started_at, zone), "seconds": call.duration_ms / 1000} | {
        name: getattr(call, name) for name in kept
    }


def csv_time(at: float, zone: tzinfo) -> str:
    """A moment for a spreadsheet."""
    return datetime.fromtimestamp(at, zone).isoformat(sep=" ", timespec="seconds")


def mood_html(mood: float | None) -> str:
    """A mood as a shape, a colour and a number."""
    if mood is None:
        return formatting.mood(None)
    label = feeling(mood)
    return f'<span class="t-{label}">{theme.SENTIMENT_SHAPES[label]}</span> {formatting.mood(mood)}'


Row = Mapping[str, Any]


def download(what: str, whose: str, rows: Sequence[Row] | Callable[[], Sequence[Row]]) -> None:
    """What is shown, for a spreadsheet; many rows are read when they are asked for, away from the page."""
    content = (lambda: to_csv(rows())) if callable(rows) else to_csv(rows)
    name = f"{whose} {what}".lower().replace(" ", "-")
    st.download_button(
        f"{what} as CSV", content, f"{name}.csv", "text/csv", icon=":material/download:", type="tertiary",
        disabled=not rows, key=f"csv_{what}", on_click="ignore",
    )  # fmt: skip


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """As CSV; a caller's words never become a formula of the reader's spreadsheet."""
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return made.getvalue()


def _call(call: Call, said: Sequence[CorrectedSentence], names: Mapping[str, str]) -> str:
    who = " · ".join(escape(names.get(one, one)) for one in (call.agent, call.customer) if names.get(one, one))
    about = formatting.intent(call.task) or ("Failed" if call.state == "failed" else "Call")
    spoken = call.medium == "voice"
    length = formatting.clock(call.duration_ms) if spoken else f"{call.medium}, {call.sentences} sentences"
    chips = '<span class="t-chip critical">escalated</span>' if call.escalations else ""
    if others := call.alerts - call.escalations:
        chips += f'<span class="t-chip alert">{others} {"alert" if others == 1 else "alerts"}</span>'
    lines = (
        "".join(_said(one, formatting.clock(one.start_ms) if spoken else _sent(one, call)) for one in said)
        or "<p>Nothing was said.</p>"
    )
    why = f"<p>{escape(call.reason)}</p>" if call.state == "failed" else ""
    if told := in_a_line(call):
        why += f'<p class="sum">{escape(told)}</p>'
    return (
        f'<details class="t-call"><summary><span class="when">{escape(formatting.moment(call.started_at))}</span>'
        f'<span class="what">{escape(about)} {chips}<small>{who} · {length}</small></span>'
        f'<span class="felt">{mood_html(call.mood_caller)}</span></summary>'
        f'<div class="{"spoken" if spoken else "written"}">{why}{lines}'
        f'<a class="open" href="{_href("call", call=call.id)}" target="_self">Open this call</a></div></details>'
    )


def _sent(sentence: CorrectedSentence, call: Call) -> str:
    """When it was written, with the day when that is another than the conversation's first."""
    then, began = formatting.local(sentence.spoken_at), formatting.local(call.started_at)
    return f"{then:%H:%M}" if then.date() == began.date() else f"{then.day} {then:%b %H:%M}"


def _said(sentence: CorrectedSentence, at: str) -> str:
    label = sentence.sentiment if sentence.sentiment in theme.SENTIMENT_SHAPES else "neutral"
    return (
        f'<a class="t-said {label}" target="_self" href="{_href("call", call=sentence.call, sentence=sentence.id)}" '
        f'title="{escape(formatting.sentiment(sentence.sentiment))} · {escape(formatting.words(sentence.intent))}">'
        f'<span class="at">{at}</span><span class="who">{escape(sentence.role)}</span>'
        f"<span>{escape(sentence.text)}</span></a>"
    )


def _href(page: str, **params: str) -> str:
    return escape(navigation.address(page, **params), quote=True)
