"""What a search found: sentences, and calls with their sentences, with the words marked and linked to their place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from html import escape
from typing import Any

from dashboard.ui import formatting, navigation, tables, theme
from storage.search import CallHit, Hit, Snippet

OF_HIT = ("call", "sentence", "role", "sentiment", "mood", "intent", "task", "medium", "agent", "customer", "queue",
          "site")  # fmt: skip
OF_CALL = ("call", "task", "medium", "agent", "customer", "queue", "site")


def sentence_list(hits: list[Hit], names: Mapping[str, str]) -> str:
    return f'<div class="t-rows">{"".join(_sentence(hit, names) for hit in hits)}</div>'


def call_list(calls: list[CallHit], names: Mapping[str, str]) -> str:
    return "".join(_call(call, names) for call in calls)


def _call(call: CallHit, names: Mapping[str, str]) -> str:
    """The call, and below it what was asked for, in the order of the search."""
    link = escape(navigation.address("call", call=call.call), quote=True)
    about = " · ".join(escape(one) for one in _about(call, names))
    head = (
        f'<a class="t-row t-found" href="{link}" target="_self">'
        f'<span class="when">{escape(formatting.moment(call.started_at))}</span>'
        f'<span class="what"><b>{about or escape(call.call)}</b></span><span class="felt"></span></a>'
    )
    said = "".join(_sentence(hit, names, of_call=True) for hit in call.sentences)
    return f'<div class="t-rows t-found-call">{head}{said}</div>'


def _about(of: Hit | CallHit, names: Mapping[str, str]) -> list[str]:
    medium = of.medium if of.medium != "voice" else ""
    who = (names.get(of.agent, of.agent), names.get(of.customer, of.customer))
    return [one for one in (*who, formatting.intent(of.task), medium) if one]


def _sentence(hit: Hit, names: Mapping[str, str], *, of_call: bool = False) -> str:
    label = hit.sentiment if hit.sentiment in theme.SENTIMENT_SHAPES else "neutral"
    where = [] if of_call else _about(hit, names)
    about = " · ".join(escape(one) for one in (hit.role, formatting.intent(hit.intent), *where) if one)
    rules = "".join(f'<span class="t-chip alert">{escape(formatting.words(rule))}</span>' for rule in hit.rules)
    was = f"<s>{_marked(hit.original)}</s>" if hit.original else ""
    link = escape(navigation.address("call", call=hit.call, sentence=hit.sentence), quote=True)
    when = formatting.clock(hit.start_ms) if of_call else formatting.moment(hit.spoken_at)
    return (
        f'<a class="t-row" href="{link}" target="_self">'
        f'<span class="when">{escape(when)}</span>'
        f'<span class="what">{_marked(hit.snippet)}{was} {rules}<small>{about}</small></span>'
        f'<span class="felt"><span class="t-{label}">{theme.SENTIMENT_SHAPES[label]}</span> {escape(hit.sentiment)}'
        "</span></a>"
    )


def _marked(snippet: Snippet) -> str:
    """With what was found marked; a caller's words stay words."""
    made, at = ["…" if snippet.cut_before else ""], 0
    for mark in snippet.marks:
        made += [escape(snippet.text[at : mark.start]), f"<mark>{escape(snippet.text[mark.start : mark.end])}</mark>"]
        at = mark.end
    return "".join([*made, escape(snippet.text[at:]), "…" if snippet.cut_after else ""])


def sentence_row(hit: Hit, zone: tzinfo) -> dict[str, Any]:
    """For a spreadsheet."""
    row = {"spoken_at": tables.csv_time(hit.spoken_at, zone), "text": hit.snippet.text}
    return row | {name: getattr(hit, name) for name in OF_HIT}


def call_row(call: CallHit, zone: tzinfo) -> dict[str, Any]:
    said = " / ".join(f"{hit.role}: {hit.snippet.text}" for hit in call.sentences)
    row = {"started_at": tables.csv_time(call.started_at, zone)}
    return row | {name: getattr(call, name) for name in OF_CALL} | {"said": said}
