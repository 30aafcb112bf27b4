"""Operations: whether everything runs, how fast, and what went wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import tzinfo
from html import escape
from typing import Any

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import charts, elements, formatting, navigation, stat_cards, tables
from dashboard.ui.lag_monitor import Lag, LagMonitor
from dashboard.ui.model_monitor import ModelInForce, ModelMonitor
from storage.db.engine import Database
from storage.queries import operations, people
from storage.queries.operations import FailureCause, Latency
from storage.queries.periods import Period
from storage.tables import Call, DeadLetter
from storage.viewer import Viewer
from tenor.errors import TenorError

HOUR, DAY = 3600, 86_400
SPANS = {"1 hour": (HOUR, 60), "24 hours": (DAY, 900), "7 days": (7 * DAY, HOUR), "8 weeks": (56 * DAY, DAY)}
"""How far back, and how long a step of the throughput is."""
STAGES = {
    "asr": "Recognition",
    "language": "Language",
    "assistant": "Assistant",
    "storage": "Storage",
    "recordings": "Recordings",
    "webhooks": "Webhooks",
    "summaries": "Written summaries",
}
KINDS = {"language": "Language", "speech": "Speech", "assistant": "Assistant"}
UNDER_WAY = ("ringing", "live")
SHOWN = 8
"""Rows of a list; all are in the CSV."""
TARGET_MS = 1000
"""A sentence should be there within a second of its last word."""


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    elements.heading("Operations", "whether everything runs, and how fast")
    span = st.segmented_control(
        "Period",
        list(SPANS),
        default="24 hours",
        required=True,
        key="span",
        bind="query-params",
        label_visibility="collapsed",
    )
    back, step = SPANS[span or "24 hours"]
    days = Period.ending(time.time(), back // DAY, formatting.zone()) if step == DAY else None
    since = days.since if days else time.time() - back
    with database.session() as session:
        states = operations.states(session, viewer, since)
        flow = operations.throughput(session, viewer, since, step, days)
        latency = operations.latency(session, viewer, since)
        failed = operations.failed(session, viewer, since, SHOWN)
        dead = operations.dead(session, viewer, since)
        causes = operations.causes(session, viewer, since)
        made_up = operations.made_up(session, viewer, since)
        names = people.agent_names(session, viewer)
    tables.sample_notice(made_up)
    _cards(states, flow, latency, dead, step)
    _stages()
    form = "%H:%M" if back <= DAY else "%-d %b"
    left, right = st.columns(2)
    with left:
        stat_cards.section("Throughput", f"sentences, each bar {formatting.duration(step)}")
        if flow:
            charts.show(charts.throughput(flow, step, form))
        else:
            st.caption("No sentence in this time.")
    with right:
        newest = f", newest {formatting.count(latency.sentences)} sentences" if latency.sentences else ""
        stat_cards.section("Latency over time", f"from the last word to the sentence{newest}")
        if latency.over_time:
            charts.show(charts.latency_over_time(latency.over_time, TARGET_MS, form))
        else:
            st.caption("No spoken sentence in this time.")
    if latency.stages:
        stat_cards.section(
            "Where the time goes", "bar: median, mark and number: 95th percentile of each stage, in milliseconds"
        )
        charts.show(charts.stage_latencies(latency.stages))
    left, right = st.columns(2)
    with left:
        _failed(failed, states.get("failed", 0), viewer, database, since, names)
    with right:
        _dead(dead, causes, viewer, database, since)


def _cards(states: dict[str, int], flow: list[tuple[float, int]], latency: Latency, dead: int, step: int) -> None:
    calls = sum(states.values())
    live = sum(states.get(state, 0) for state in UNDER_WAY)
    broken = states.get("failed", 0)
    busiest = max((n for _, n in flow), default=0)
    made = [
        stat_cards.StatCard("Calls", formatting.count(calls), (stat_cards.Remark(f"{live} now"),)),
        stat_cards.StatCard(
            "Failed",
            formatting.count(broken),
            (stat_cards.Remark(f"{formatting.share(broken / calls)} of all" if calls else "no calls"),),
        ),
        stat_cards.StatCard(
            "Sentences",
            formatting.count(sum(n for _, n in flow)),
            (stat_cards.Remark(f"at most {formatting.count(busiest)} in {formatting.duration(step)}"),),
        ),
        stat_cards.StatCard(
            "Dead letters", formatting.count(dead), (stat_cards.Remark("kept, with their reasons" if dead else "none"),)
        ),
    ]
    if latency.total:
        slow = latency.total.p95 > TARGET_MS
        remark = stat_cards.Remark("over a second" if slow else "within a second", "down" if slow else "same")
        made.insert(3, stat_cards.StatCard("Latency p95", f"{latency.total.p95:.0f}", (remark,), "ms"))
    stat_cards.show(made)


@st.fragment(run_every=2)
def _stages() -> None:
    """The one part that moves by itself."""
    stat_cards.section("Stages", "what each has still to come to, now")
    try:
        lags = _monitor().measure()
    except (TenorError, OSError, TimeoutError) as error:
        elements.error("The bus does not answer.", getattr(error, "message", "") or str(error))
        return
    st.html(f'<div class="t-tiles">{"".join(map(_stage, lags))}</div>')
    if missing := " ".join(lag.stage for lag in lags if lag.condition == "not running"):
        st.caption(f"What waits is kept on the bus. `tenor serve {missing}` starts what does not run.")
    _models(_monitor().models)


def _models(monitor: ModelMonitor) -> None:
    """Only where something was ever promoted: else there is nothing to tell."""
    in_force = monitor.in_force()
    if not in_force:
        return
    stat_cards.section("Models", "in force for calls that begin now")
    failures = monitor.failures()
    rows = [
        f'<div class="t-row"><span class="when">{escape(KINDS[one.kind])}</span>'
        f'<span class="what">{escape(one.model)}<small>{escape(_since(one))}</small></span></div>'
        for one in in_force
    ]
    rows += [
        f'<div class="t-row" data-model="{escape(one.model, quote=True)}">'
        f'<span class="when">{escape(KINDS.get(one.kind, one.kind))}</span>'
        f'<span class="what"><b class="down">{escape(one.model)} cannot be loaded</b>: {escape(one.reason)}'
        f"<small>{escape(STAGES.get(one.stage, one.stage))}, {escape(one.process)}, "
        f"{escape(formatting.moment(one.at))}; the model before it stays in place</small></span></div>"
        for one in failures[:SHOWN]
    ]
    st.html(f'<div class="t-rows">{"".join(rows)}</div>')


def _since(one: ModelInForce) -> str:
    return "ships with Tenor" if one.since is None else f"since {formatting.moment(one.since)}, promoted by {one.by}"


@st.cache_resource
def _monitor() -> LagMonitor:
    return LagMonitor(current_context().settings)


def _stage(lag: Lag) -> str:
    tone = {"nothing waiting": "same", "working": "more", "stuck": "down", "not running": "down"}.get(
        lag.condition, "few"
    )
    most = max((count for _, count in lag.past), default=0) or 1
    bars = "".join(f'<i style="height:{max(4, 100 * count / most):.0f}%"></i>' for _, count in lag.past[-40:])
    return (
        f'<div class="t-tile" data-stage="{lag.stage}"><h4>{escape(STAGES.get(lag.stage, lag.stage))}</h4>'
        f'<b>{formatting.count(lag.waiting)} <small>waiting</small></b><div class="t-spark">{bars}</div>'
        f'<p class="{tone}">{lag.condition}</p></div>'
    )


def _failed(
    calls: list[Call], many: int, viewer: Viewer, database: Database, since: float, names: Mapping[str, str]
) -> None:
    newest = f"the newest {len(calls)} of {formatting.count(many)}; " if many > len(calls) else ""
    stat_cards.section("Failed calls", f"{newest}what was heard of them is kept")
    if not calls:
        st.caption("None. Every call was heard to its end.")
        return
    rows = "".join(
        f'<a class="t-row" target="_self" href="{escape(navigation.address("call", call=call.id), quote=True)}">'
        f'<span class="when">{escape(formatting.moment(call.started_at))}</span>'
        f'<span class="what">{escape(call.reason or "no reason was given")}'
        f"<small>{escape(_about(call, names))}</small></span>"
        f'<span class="felt">{call.sentences} {"sentence" if call.sentences == 1 else "sentences"}</span></a>'
        for call in calls
    )
    st.html(f'<div class="t-rows">{rows}</div>')
    zone = formatting.zone()

    def all_of_them() -> list[dict[str, Any]]:
        with database.session() as session:
            found = operations.failed(session, viewer, since, operations.MOST)
        return [tables.call_row(call, zone) | {"reason": call.reason} for call in found]

    tables.download("Failed calls", "all", all_of_them)


def _about(call: Call, names: Mapping[str, str]) -> str:
    return " · ".join(filter(None, (names.get(call.agent, call.agent), call.queue, call.medium)))


def _dead(many: int, causes: list[FailureCause], viewer: Viewer, database: Database, since: float) -> None:
    stat_cards.section("Dead letters", "what a stage could not read; the rest went on")
    if not many:
        st.caption("None.")
        return
    rows = "".join(
        f'<div class="t-row"><span class="when">{escape(STAGES.get(one.stage, one.stage))}</span>'
        f'<span class="what">{escape(one.reason)}<small>last {escape(formatting.moment(one.last))}</small></span>'
        f'<span class="felt">{"once" if one.times == 1 else f"{formatting.count(one.times)} times"}</span></div>'
        for one in causes[:SHOWN]
    )
    st.html(f'<div class="t-rows">{rows}</div>')
    zone = formatting.zone()

    def all_of_them() -> list[dict[str, Any]]:
        with database.session() as session:
            found = operations.dead_letters(session, viewer, since, operations.MOST)
        return [_letter(letter, zone) for letter in found]

    tables.download("Dead letters", "all", all_of_them)


def _letter(letter: DeadLetter, zone: tzinfo) -> dict[str, Any]:
    kept = ("call", "stage", "reason", "topic", "partition", "offset")
    return {"at": tables.csv_time(letter.at, zone)} | {name: getattr(letter, name) for name in kept}
