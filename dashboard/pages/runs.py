"""Runs: what was trained and how it went, live; up to ten beside each other; and what waits for the machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

import streamlit as st
from sqlalchemy import select
from sqlmodel import col

from dashboard.context import current_context
from dashboard.ui import charts, elements, filters, formatting, stat_cards, tables, theme
from dashboard.ui.learning import run_table
from dashboard.ui.learning.facts import facts, link
from dashboard.ui.learning.run_table import figure
from dashboard.ui.stat_cards import Remark, StatCard
from storage.db.engine import Database
from storage.jobs import queue, teams
from storage.jobs.process import last_lines
from storage.jobs.teams import TeamView
from storage.runs import answers, folders, runs
from storage.runs.runs import Curve, RunView
from storage.tables import Job
from storage.viewer import TRAINS, Viewer
from tenor.errors import BadInput, TenorError

LISTED = 50
MOST = 10
"""Runs beside each other."""
EVERY_S = 2.0
"""How often a run that goes on is looked at."""
LINES = 40
"""Of a log."""
DAY_S = 86_400


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    st.html(f"<style>{theme.asset('learning.css')}</style>")
    elements.heading("Training runs", "what was trained, and how it went")
    with database.session() as session:
        found = runs.listing(session, LISTED)
    if not found:
        elements.empty_state(
            "No run yet",
            "A run trains a recipe on a version of a dataset. Train one, or watch the whole loop:",
            "tenor finetune house --recipe head",
            "tenor learn --sample",
        )
        _queue(database)
        return
    chosen = _chosen(database, found)
    if chosen:
        live = any(one.state == "running" for one in chosen)
        panel = st.fragment(_panel, run_every=EVERY_S if live else None)
        panel(viewer, database, [one.id for one in chosen], live)
    stat_cards.section("All runs", f"the newest {LISTED}" if len(found) == LISTED else "")
    st.html(f'<div class="t-rows">{"".join(map(run_table.row, found))}</div>')
    _queue(database)


def _chosen(database: Database, found: Sequence[RunView]) -> list[RunView]:
    """From the address or the box; the newest, where nobody has chosen."""
    known = {str(one.id): one for one in found}
    for number in st.query_params.get_all("runs"):
        if number not in known and number.isdigit():
            try:
                with database.session() as session:
                    known[number] = runs.find(session, int(number))
            except BadInput as error:
                elements.error("There is no such run.", error.message)
    names = {number: f"run {number} · {one.run.recipe}" for number, one in known.items()}
    picked = filters.several(
        f"Runs, up to {MOST} beside each other", names, "runs", default=str(found[0].id), most=MOST
    )
    return [known[one] for one in picked]


def _panel(viewer: Viewer, database: Database, numbers: Sequence[int], live: bool) -> None:
    """The part that moves by itself while a run goes on."""
    with database.session() as session:
        found = [runs.find(session, number) for number in numbers]
        lines = {number: runs.curves(session, number) for number in numbers}
    if live and not any(one.state == "running" for one in found):
        st.rerun()  # it is over: the list knows it, too, and nothing is looked at any more
    if len(found) == 1:
        _cards(found[0])
    else:
        st.html(run_table.beside(found, charts.run_colours(numbers)))
        _significance(numbers)
    _curves(lines)
    if len(found) == 1:
        _details(viewer, database, found[0])


def _cards(one: RunView) -> None:
    run, used = one.run, one.run.resources
    state = Remark(f"on {run.host}", run_table.STATES.get(one.state, ""))
    made = [
        StatCard(f"Run {one.id}", formatting.words(one.state), (state,)),
        StatCard("Took", formatting.duration(one.seconds), (Remark(f"since {formatting.moment(run.started_at)}"),)),
        StatCard(
            "Processor",
            formatting.duration(used.get("cpu_seconds", 0.0)),
            (Remark(f"{used.get('cores', 0.0):.1f} cores busy"),),
        ),
        StatCard("Memory", formatting.size(1e6 * used.get("memory_mb", 0.0)), (Remark("at most"),)),
    ]
    if used.get("gpu_memory_mb"):
        made.append(StatCard("GPU memory", formatting.size(1e6 * used["gpu_memory_mb"]), (Remark("at most"),)))
    stat_cards.show(made)
    if run.error:
        elements.error("It ended with an error.", run.error)


def _curves(lines: dict[int, list[Curve]]) -> None:
    """One chart for each name, with all runs that have it."""
    names = list(dict.fromkeys(curve.name for own in lines.values() for curve in own))
    if not names:
        st.caption("No point of a curve yet.")
        return
    columns = st.columns(2)
    for number, name in enumerate(names):
        there = {run: curve for run, own in lines.items() for curve in own if curve.name == name}
        last = ", ".join(f"run {run}: {figure(curve.values[-1])}" for run, curve in there.items())
        with columns[number % 2]:
            stat_cards.section(name[:1].upper() + name[1:], last)
            if max(len(curve.steps) for curve in there.values()) > 1:
                charts.show(charts.run_curve(there), key=f"curve_{name}")


def _significance(numbers: Sequence[int]) -> None:
    settings = current_context().settings
    stat_cards.section(
        "Certainly different?",
        f"answers on validation, row by row, against run {numbers[0]}; calls are what is counted",
    )
    kept = {number: answers.read(folders.run_folder(settings, number)) for number in numbers}
    missing = [number for number, own in kept.items() if not own]
    there = {number: own for number, own in kept.items() if own}
    if numbers[0] in there and len(there) > 1:
        lines = "".join(
            f'<div class="t-finding" data-run="{one.run}">{escape(one.text)}</div>' for one in answers.compare(there)
        )
        st.html(lines or "<p>They answered no row in common: their datasets are others.</p>")
    if missing:
        names = ", ".join(f"run {number}" for number in missing)
        st.caption(f"{names}: no answers on this machine. Runs keep them for language models, where they ran.")


# -- one run


def _details(viewer: Viewer, database: Database, one: RunView) -> None:
    run = one.run
    with database.session() as session:
        job = session.scalars(select(Job).where(col(Job.run) == one.id).order_by(col(Job.id).desc())).first()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stat_cards.section("How it was made")
        name, _, version = run.dataset.partition("@")
        ended = formatting.moment(run.ended_at) if run.ended_at else ""
        st.html(
            facts(
                {
                    "Dataset": link("datasets", run.dataset, dataset=name, version=version)
                    + (f" <code>{escape(run.dataset_sha256[:12])}</code>" if run.dataset_sha256 else ""),
                    "Starts from": link("models", run.parent, model=run.parent) if run.parent else "",
                    "Model": link("models", run.model, model=run.model) if run.model else "",
                    "Recipe": escape(f"{run.recipe}, preset {run.preset}" if run.preset else run.recipe),
                    "Tried with": escape(run.sweep),
                    "Began, ended": escape(f"{formatting.moment(run.started_at)}, {ended or 'not yet'}"),
                    "By": escape(run.by),
                    "Command": f"<code>{escape(run.command)}</code>" if run.command else "",
                    "Code": escape(_code(run.code)),
                    "Environment": escape(figure(run.environment)),
                    "Artifacts": escape(figure(run.artifacts)) if run.artifacts else "",
                    "Job": f"{job.id}, of team {escape(job.team)}" if job is not None else "",
                }
            )
        )
    with right:
        stat_cards.section("Parameters")
        st.html(facts({name: escape(figure(value)) for name, value in run.parameters.items()}) or "<p>None.</p>")
    _log(one, job)
    if one.state in (*runs.STOPPABLE, "died") and viewer.role in TRAINS:
        _stop(viewer, database, one)


def _code(code: dict[str, object]) -> str:
    changed = " and changes" if code.get("changed") else ""
    commit = f", commit {str(code['commit'])[:10]}{changed}" if code.get("commit") else ""
    return f"Tenor {code.get('version', '')}{commit}"


def _log(one: RunView, job: Job | None) -> None:
    settings = current_context().settings
    stat_cards.section("Log", f"the last {LINES} lines")
    notes = folders.notes(folders.run_folder(settings, one.id), LINES)
    lines = [f"{formatting.local(note.at):%H:%M:%S}  {note.text}" for note in notes]
    if job is not None:
        lines += last_lines(queue.log_file(settings, job.id or 0), LINES)
    if lines:
        st.html(f'<pre class="t-log" tabindex="0">{escape(chr(10).join(lines[-LINES:]))}</pre>')
    else:
        st.caption(f"Nothing was noted on this machine; it ran on {one.run.host}.")


def _stop(viewer: Viewer, database: Database, one: RunView) -> None:
    with st.popover("Stop this run", icon=":material/stop_circle:"):
        st.caption(f"It saves a checkpoint first; `tenor finetune --resume {one.id}` goes on from there.")
        if st.button("Stop it", key="stop", type="primary"):
            try:
                st.toast(f"Run {one.id}: {runs.stop(database, viewer, one.id)}")
            except TenorError as error:
                elements.error("It goes on.", f"{error.message}. {error.hint}")


# -- the queue


def _queue(database: Database) -> None:
    with database.session() as session:
        found = teams.overview(session, time.time() - DAY_S)
        waiting = queue.listing(session)
    stat_cards.section("Queue", "teams with their share of the machines, and jobs that are not over")
    if not found:
        st.caption("No team has jobs. `tenor finetune NAME --on queue` submits one; `tenor teams add` gives quotas.")
        return
    st.html(f'<div class="t-tiles">{"".join(map(_team, found))}</div>')
    if not waiting:
        st.caption("Nothing waits, and nothing runs.")
        return
    st.html(f'<div class="t-rows">{"".join(map(_job, waiting))}</div>')
    if any(job.state == "pending" for job in waiting):
        st.caption("`tenor jobs run` starts what waits, on the machine where it is typed.")


def _team(team: TeamView) -> str:
    over = team.allocated > team.quota
    share = min(1.0, team.allocated / team.quota) if team.quota else 0.0
    remark = "over its quota while others are idle" if over else f"{team.running} running, {team.waiting} waiting"
    return (
        f'<div class="t-tile" data-team="{escape(team.name, quote=True)}"><h4>{escape(team.name)}</h4>'
        f"<b>{teams.shown(team.allocated)} <small>of {teams.shown(team.quota)} shares</small></b>"
        f'<i class="t-bar person" style="width:{share:.0%}"></i><p>{remark}</p>'
        f"<p>{formatting.duration(team.used_s)} of a share in 24 h</p></div>"
    )


def _job(job: Job) -> str:
    kind = "interactive" if job.interactive else f"priority {queue.PRIORITY_NAMES.get(job.priority, job.priority)}"
    about = f"{job.team} · {teams.shown(job.share)} share · {kind} · by {job.by}, {formatting.ago(job.submitted_at)}"
    return (
        f'<div class="t-row" data-job="{job.id}"><span class="when">job {job.id}</span>'
        f'<span class="what"><code>{escape(" ".join(map(str, job.words)))}</code><small>{escape(about)}</small></span>'
        f'<span class="felt">{job.state}</span></div>'
    )
