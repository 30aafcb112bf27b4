"""Operations: whether everything runs, how fast, and what went wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import tzinfo
from html import escape
from typing import Any

import streamlit as st

from dashboard import frame, listing, look, navigation, plots, plots_pipeline, tiles
from dashboard.lag import Lag, LagWatch
from storage import operations, people
from storage.database import Database
from storage.operations import Cause, Latency
from storage.periods import Period
from storage.tables import Call, DeadLetter
from storage.viewer import Viewer
from tenor.errors import TenorError

HOUR, DAY = 3600, 86_400
SPANS = {"1 hour": (HOUR, 60), "24 hours": (DAY, 900), "7 days": (7 * DAY, HOUR), "8 weeks": (56 * DAY, DAY)}
"""How far back, and how long a step of the throughput is."""
STAGES = {
    "asr": "Recognition",
    "language": "Language",
    "storage": "Storage",
    "recordings": "Recordings",
    "webhooks": "Webhooks",
}
UNDER_WAY = ("ringing", "live")
SHOWN = 8
"""Rows of a list; all are in the CSV."""
TARGET_MS = 1000
"""A sentence should be there within a second of its last word."""


def show(viewer: Viewer, database: Database) -> None:
    listing.dress()
    look.heading("Operations", "whether everything runs, and how fast")
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
    days = Period.ending(time.time(), back // DAY, look.zone()) if step == DAY else None
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
    listing.sample_mark(made_up)
    _tiles(states, flow, latency, dead, step)
    _stages()
    form = "%H:%M" if back <= DAY else "%-d %b"
    left, right = st.columns(2)
    with left:
        tiles.section("Throughput", f"sentences, each bar {look.duration(step)}")
        if flow:
            plots.show(plots_pipeline.flow(flow, step, form))
        else:
            st.caption("No sentence in this time.")
    with right:
        newest = f", newest {look.count(latency.sentences)} sentences" if latency.sentences else ""
        tiles.section("Latency over time", f"from the last word to the sentence{newest}")
        if latency.over_time:
            plots.show(plots_pipeline.latency_over_time(latency.over_time, TARGET_MS, form))
        else:
            st.caption("No spoken sentence in this time.")
    if latency.stages:
        tiles.section(
            "Where the time goes", "bar: median, mark and number: 95th percentile of each stage, in milliseconds"
        )
        plots.show(plots_pipeline.waits(latency.stages))
    left, right = st.columns(2)
    with left:
        _failed(failed, states.get("failed", 0), viewer, database, since, names)
    with right:
        _dead(dead, causes, viewer, database, since)


def _tiles(states: dict[str, int], flow: list[tuple[float, int]], latency: Latency, dead: int, step: int) -> None:
    calls = sum(states.values())
    live = sum(states.get(state, 0) for state in UNDER_WAY)
    broken = states.get("failed", 0)
    busiest = max((n for _, n in flow), default=0)
    made = [
        tiles.Tile("Calls", look.count(calls), (tiles.Remark(f"{live} now"),)),
        tiles.Tile(
            "Failed",
            look.count(broken),
            (tiles.Remark(f"{look.share(broken / calls)} of all" if calls else "no calls"),),
        ),
        tiles.Tile(
            "Sentences",
            look.count(sum(n for _, n in flow)),
            (tiles.Remark(f"at most {look.count(busiest)} in {look.duration(step)}"),),
        ),
        tiles.Tile("Dead letters", look.count(dead), (tiles.Remark("kept, with their reasons" if dead else "none"),)),
    ]
    if latency.total:
        slow = latency.total.p95 > TARGET_MS
        remark = tiles.Remark("over a second" if slow else "within a second", "down" if slow else "same")
        made.insert(3, tiles.Tile("Latency p95", f"{latency.total.p95:.0f}", (remark,), "ms"))
    tiles.show(made)


@st.fragment(run_every=2)
def _stages() -> None:
    """The one part that moves by itself."""
    tiles.section("Stages", "what each has still to come to, now")
    try:
        lags = _watch().look()
    except (TenorError, OSError, TimeoutError) as error:
        look.trouble("The bus does not answer.", getattr(error, "message", "") or str(error))
        return
    st.html(f'<div class="t-tiles">{"".join(map(_stage, lags))}</div>')
    if missing := " ".join(lag.stage for lag in lags if lag.condition == "not running"):
        st.caption(f"What waits is kept on the bus. `tenor serve {missing}` starts what does not run.")


@st.cache_resource
def _watch() -> LagWatch:
    return LagWatch(frame.current().settings)


def _stage(lag: Lag) -> str:
    tone = {"nothing waiting": "same", "working": "more", "stuck": "down", "not running": "down"}.get(
        lag.condition, "few"
    )
    most = max((count for _, count in lag.past), default=0) or 1
    bars = "".join(f'<i style="height:{max(4, 100 * count / most):.0f}%"></i>' for _, count in lag.past[-40:])
    return (
        f'<div class="t-tile" data-stage="{lag.stage}"><h4>{escape(STAGES.get(lag.stage, lag.stage))}</h4>'
        f'<b>{look.count(lag.waiting)} <small>waiting</small></b><div class="t-spark">{bars}</div>'
        f'<p class="{tone}">{lag.condition}</p></div>'
    )


def _failed(
    calls: list[Call], many: int, viewer: Viewer, database: Database, since: float, names: Mapping[str, str]
) -> None:
    newest = f"the newest {len(calls)} of {look.count(many)}; " if many > len(calls) else ""
    tiles.section("Failed calls", f"{newest}what was heard of them is kept")
    if not calls:
        st.caption("None. Every call was heard to its end.")
        return
    rows = "".join(
        f'<a class="t-row" target="_self" href="{escape(navigation.address("call", call=call.id), quote=True)}">'
        f'<span class="when">{escape(look.moment(call.started_at))}</span>'
        f'<span class="what">{escape(call.reason or "no reason was given")}'
        f"<small>{escape(_about(call, names))}</small></span>"
        f'<span class="felt">{call.sentences} {"sentence" if call.sentences == 1 else "sentences"}</span></a>'
        for call in calls
    )
    st.html(f'<div class="t-rows">{rows}</div>')
    zone = look.zone()

    def all_of_them() -> list[dict[str, Any]]:
        with database.session() as session:
            found = operations.failed(session, viewer, since, operations.MOST)
        return [listing.as_row(call, zone) | {"reason": call.reason} for call in found]

    listing.download("Failed calls", "all", all_of_them)


def _about(call: Call, names: Mapping[str, str]) -> str:
    return " · ".join(filter(None, (names.get(call.agent, call.agent), call.queue, call.medium)))


def _dead(many: int, causes: list[Cause], viewer: Viewer, database: Database, since: float) -> None:
    tiles.section("Dead letters", "what a stage could not read; the rest went on")
    if not many:
        st.caption("None.")
        return
    rows = "".join(
        f'<div class="t-row"><span class="when">{escape(STAGES.get(one.stage, one.stage))}</span>'
        f'<span class="what">{escape(one.reason)}<small>last {escape(look.moment(one.last))}</small></span>'
        f'<span class="felt">{"once" if one.times == 1 else f"{look.count(one.times)} times"}</span></div>'
        for one in causes[:SHOWN]
    )
    st.html(f'<div class="t-rows">{rows}</div>')
    zone = look.zone()

    def all_of_them() -> list[dict[str, Any]]:
        with database.session() as session:
            found = operations.dead_letters(session, viewer, since, operations.MOST)
        return [_letter(letter, zone) for letter in found]

    listing.download("Dead letters", "all", all_of_them)


def _letter(letter: DeadLetter, zone: tzinfo) -> dict[str, Any]:
    kept = ("call", "stage", "reason", "topic", "partition", "offset")
    return {"at": listing.written(letter.at, zone)} | {name: getattr(letter, name) for name in kept}
