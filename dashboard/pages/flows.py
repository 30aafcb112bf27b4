"""Flows: conversations with the assistant looked into turn by turn, and what became of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import elements, filters, formatting, navigation, stat_cards, tables, theme, turn_view
from dashboard.ui.stat_cards import Remark, StatCard
from storage.db.engine import Database
from storage.queries import assistant, calls
from storage.queries.assistant import AssistantFigures, Conversation, Outcome
from storage.queries.periods import Period
from storage.tables import Turn
from storage.viewer import Viewer

RECENT = 100
"""Conversations to choose from; others are found by their address."""
LIST_PX = 420
LONGEST_LINE = 60
SHOWN = 10
"""States of the list; all are in the CSV."""
VERSION = re.compile(r"[0-9a-f]{4,64}")
REASONS = {
    "asked": "The shopper asked",
    "failures": "Questions were not answered",
    "key 0": "The key 0",
    "uncertain": "Nobody could say whether an action was done",
    "mood": "The shopper was unhappy",
    "": "No reason was given",
}


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    st.html(f"<style>{theme.asset('flows.css')}</style>")
    elements.heading("Assistant", "what the assistant did, and why")
    with database.session() as session:
        found = assistant.latest(session, viewer, RECENT)
    if not found:
        elements.empty_state(
            "No conversation with the assistant yet", "Write to it at /assistant, or in a terminal:", "tenor serve"
        )
        return
    _inspect(viewer, database, found)
    _figures(viewer, database)


@st.fragment
def _inspect(viewer: Viewer, database: Database, found: Sequence[Conversation]) -> None:
    """Only this part runs again when one goes to another turn."""
    call = _chosen_call(viewer, database, found)
    with database.session() as session:
        turns = assistant.turns_of(session, viewer, call)
    if not turns:
        st.caption("Nothing is kept of this conversation any more.")
        return
    left, right = st.columns([1, 2], gap="medium")
    with left:
        at = _chosen_turn(call, turns)
        link = escape(navigation.address("call", call=call), quote=True)
        st.html(f'<a class="t-keys" href="{link}" target="_self">The whole conversation</a>')
    turn, before = turns[at], turns[at - 1].state if at else ""
    with right:
        st.html(turn_view.spoken(turn))
    stat_cards.section("Path", "states that were passed in this turn; blue: where the conversation stands")
    st.html(turn_view.path(turn))
    _picture(viewer, turn, before)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stat_cards.section("Slots", "after this turn")
        st.html(turn_view.slots(turn))
        stat_cards.section("Actions", "open one to see all of its result")
        st.html(turn_view.actions(turn))
    with right:
        stat_cards.section("Open", "the question and the tasks that wait, after this turn")
        st.html(turn_view.waiting(turn))
        stat_cards.section("Why", "the rules in the order in which they were applied")
        st.html(turn_view.reasons(turn))


def _chosen_call(viewer: Viewer, database: Database, found: Sequence[Conversation]) -> str:
    names = {one.call.id: _title(one) for one in found}
    wanted = st.query_params.get("call", "")
    if wanted and wanted not in names:  # an older one, from a link
        with database.session() as session:
            call = calls.find(session, viewer, wanted)
        if call is not None:
            names[call.id] = formatting.moment(call.started_at)
    if "conversation" not in st.session_state:
        st.session_state["conversation"] = wanted if wanted in names else next(iter(names))
    elif st.session_state["conversation"] not in names:
        st.session_state["conversation"] = next(iter(names))
    chosen: str = st.selectbox("Conversation", list(names), key="conversation", format_func=lambda one: names[one])
    if st.query_params.get("call") != chosen:
        st.query_params["call"] = chosen
        st.query_params.pop("turn", None)
    return chosen


def _title(one: Conversation) -> str:
    parts = (
        formatting.moment(one.call.started_at),
        formatting.intent(one.call.task),
        f"{one.turns} {'turn' if one.turns == 1 else 'turns'}",
        one.call.medium,
        "handed over" if one.handed_over else "",
        "now" if one.call.state in ("ringing", "live") else "",
    )
    return " · ".join(filter(None, parts))


def _chosen_turn(call: str, turns: Sequence[Turn]) -> int:
    """Position of the turn: from the list, by the buttons, or from the address."""
    key, last = f"turn {call}", len(turns) - 1
    if key not in st.session_state:
        wanted = st.query_params.get("turn", "")
        numbers = [str(turn.turn) for turn in turns]
        st.session_state[key] = numbers.index(wanted) if wanted in numbers else min(1, last)
    at = st.session_state[key] = min(st.session_state[key], last)
    with st.container(horizontal=True):
        st.button("Previous", key="previous", disabled=at == 0, on_click=_step, args=(key, at - 1))
        st.button("Next", key="next", disabled=at == last, on_click=_step, args=(key, at + 1))
    with st.container(height=min(LIST_PX, 44 + 24 * len(turns))):
        chosen: int = st.radio(
            "Turn", range(len(turns)), key=key, format_func=lambda one: _line(turns[one]), label_visibility="collapsed"
        )
    st.query_params["turn"] = str(turns[chosen].turn)
    return chosen


def _step(key: str, to: int) -> None:
    st.session_state[key] = to


def _line(turn: Turn) -> str:
    text = turn.input or turn_view.EVENTS.get(turn.event, turn.event)
    short = text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
    return f"{turn.turn}\\. {formatting.plain(short)}"


def _picture(viewer: Viewer, turn: Turn, before: str) -> None:
    context = current_context()
    picture = _kept_picture(context.settings.flow_versions, turn.flow)
    if not picture:
        st.caption("There is no picture of these flows on this machine: the assistant runs, or ran, elsewhere.")
        return
    data = context.page(viewer, picture=picture, path=turn.states, before=before, state=turn.state)
    elements.component("flow_picture")(key="picture", data=data)


def _kept_picture(folder: Path, version: str) -> str:
    if not VERSION.fullmatch(version):  # it becomes a path
        return ""
    try:
        return (folder / f"{version}.svg").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _figures(viewer: Viewer, database: Database) -> None:
    stat_cards.section("All conversations", "by what became of them")
    period = filters.period()
    with database.session() as session:
        found = assistant.figures(session, viewer, period)
    tables.sample_notice(found.sample)
    if not found.conversations:
        st.caption("No conversation in this time.")
        return
    _cards(found)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        stat_cards.section("Why a person was called")
        _reasons(found)
    with right:
        stat_cards.section("Where shoppers give up", "by the state in which the conversation stood")
        _states(found, period)


def _cards(found: AssistantFigures) -> None:
    def card(title: str, count: int, about: str) -> StatCard:
        share = formatting.share(count / found.over if found.over else None)
        return StatCard(
            title, share, (Remark(f"{formatting.count(count)} of {formatting.count(found.over)}, {about}"),)
        )

    rest: tuple[tuple[Outcome, str], ...] = (("going_on", "still going on"), ("silent", "in which nothing was said"))
    more = [f"{formatting.count(found[outcome])} {about}" for outcome, about in rest if found[outcome]]
    stat_cards.show(
        [
            StatCard("Conversations", formatting.count(found.conversations), tuple(map(Remark, more))),
            card("Contained", found["contained"], "without a person"),
            card("Handed over", found["handed_over"], "a person was called"),
            card("Given up", found["gave_up"], "left with a question open or not understood"),
        ]
    )


def _reasons(found: AssistantFigures) -> None:
    if not found.reasons:
        st.caption("No person was called.")
        return
    most = found.reasons[0][1]
    rows = "".join(
        f'<div class="t-row"><span class="what">{escape(reason_words(reason))}'
        f'<i class="t-bar person" style="width:{count / most:.0%}"></i></span>'
        f'<span class="felt">{formatting.count(count)}</span></div>'
        for reason, count in found.reasons[:SHOWN]
    )
    st.html(f'<div class="t-rows t-two">{rows}</div>')


def reason_words(reason: str) -> str:
    if reason.startswith("rule "):
        return f"Rule: {reason.removeprefix('rule ')}"
    return REASONS.get(reason, reason)


def _states(found: AssistantFigures, period: Period) -> None:
    most = max(one.gave_up for one in found.states) or 1
    rows = "".join(
        f'<div class="t-row" data-state="{escape(one.state, quote=True)}"><span class="what">{escape(one.state)}'
        + (f'<i class="t-bar" style="width:{one.gave_up / most:.0%}"></i>' if one.gave_up else "")
        + f"<small>{formatting.count(one.reached)} came here, {formatting.count(one.handed_over)} handed over</small>"
        f'</span><span class="felt">{formatting.count(one.gave_up)} gave up '
        f"({formatting.share(one.gave_up / one.reached)})</span></div>"
        for one in found.states[:SHOWN]
    )
    st.html(f'<div class="t-rows t-two">{rows}</div>')
    table = [
        {"state": one.state, "reached": one.reached, "gave_up": one.gave_up, "handed_over": one.handed_over}
        for one in found.states
    ]
    tables.download("States", f"assistant {period.first} to {period.last}", table)
