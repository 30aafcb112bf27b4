"""Models: which version is in force, where it comes from and what the gate said of it; promoting and rolling back."""

from __future__ import annotations

from html import escape

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import elements, filters, formatting, navigation, stat_cards, tables, theme
from dashboard.ui.learning import gate_report, lineage_graph
from dashboard.ui.stat_cards import Remark, StatCard
from storage.datasets.manifest import DatasetVersion, find
from storage.db.engine import Database
from storage.place import Place
from storage.registry.lineage import origin_of
from storage.registry.promotion_writer import lineage_of
from storage.registry.registry import PROMOTES, ModelVersion, Registry
from storage.tables import Shadow
from storage.viewer import Viewer
from tenor.errors import TenorError
from tenor.model_store.promotion_log import EFFECTIVE_S, Promotion

KINDS = {"language": "Language", "speech": "Speech", "assistant": "Assistant"}
ORDER = ("champion", "candidate", "previous", "rejected")
"""What one looks for first."""
CHANGES = 8
"""Changed answers of a shadow run that are listed."""
DONE = "promoted"


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    st.html(f"<style>{theme.asset('learning.css')}</style>")
    elements.heading("Models", "which one is in force, where it comes from, and who decided")
    settings = current_context().settings
    try:
        registry = Registry(database, settings.models_folder)
        found = registry.versions()
    except TenorError as error:
        elements.error("The registry cannot be read.", f"{error.message}. {error.hint}")
        return
    if told := st.session_state.pop(DONE, ""):
        st.success(told)
    known = {one.id: one for one in sorted(found, key=_place)}
    titles = {one.id: f"{one.id} · {KINDS[one.kind]} · {one.state}" for one in known.values()}
    version = known[filters.one_of("Model", titles, "model")]
    if all(one.ships for one in found):
        st.caption(
            "These ship with Tenor; nothing was learned here yet. `tenor learn` makes a candidate of your labels, "
            "`tenor models import FOLDER --name NAME` registers one, and `tenor learn --sample` shows the whole loop."
        )
    origin = origin_of(registry, version, formatting.midnight())
    _cards(version, origin.told_today, origin.told_week)
    _decide(viewer, registry, version)
    stat_cards.section("Lineage", "from the labels to what it says; every part leads to its own page")
    st.html(lineage_graph.drawn(lineage_graph.nodes(origin, _dataset(origin.dataset))))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        stat_cards.section("Gate", "is it certainly better than the one in force, by people's labels?")
        if version.gate is not None:
            st.html(gate_report.report(version.gate))
        elif version.ships:
            st.caption("What ships is what others are judged against.")
        else:
            st.caption(f"Not asked yet. `tenor models gate {version.id}` asks both models about the hold-out.")
        if origin.shadows:
            _shadow(origin.shadows[-1])
    with right:
        stat_cards.section("Promotions", f"of {KINDS[version.kind].lower()} models, the newest first")
        _promotions(registry.log().of(version.kind))
    stat_cards.section("All versions")
    st.html(f'<div class="t-rows">{"".join(map(_row, known.values()))}</div>')


def _place(one: ModelVersion) -> tuple[int, bool, float]:
    return (ORDER.index(one.state), one.ships, -(one.at or 0.0))


def _dataset(reference: str) -> DatasetVersion | None:
    try:
        return find(Place(current_context().settings.learn_url), reference) if reference else None
    except TenorError:
        return None


def _cards(version: ModelVersion, today: int, week: int) -> None:
    since = f"since {formatting.moment(version.promoted_at)}" if version.promoted_at else ""
    state = Remark(since or ("ships with Tenor" if version.ships else "never in force"))
    gate = version.gate
    judged = "Not asked" if gate is None else "Passed" if gate.passed else "Not passed"
    made = [
        StatCard(version.id, formatting.words(version.state), (state,)),
        StatCard("Kind", KINDS[version.kind], (Remark(f"hash {version.sha256[:8]}" if version.sha256 else ""),)),
        StatCard("Gate", judged, (Remark(f"against {gate.against}" if gate is not None and gate.against else ""),)),
    ]
    if version.kind == "language":
        told = Remark(f"{formatting.count(week)} in 7 days")
        made.append(StatCard("Sentences today", formatting.count(today), (told,)))
    stat_cards.show(made)


def _row(one: ModelVersion) -> str:
    link = escape(navigation.address("models", model=one.id), quote=True)
    gate = one.gate
    judged = "" if gate is None else " · passed the gate" if gate.passed else " · did not pass the gate"
    told = f"{KINDS[one.kind]}{judged} · {one.why}" if one.why else f"{KINDS[one.kind]}{judged}"
    when = formatting.moment(one.at) if one.at else "ships with Tenor"
    return (
        f'<a class="t-row" data-model="{escape(one.id, quote=True)}" target="_self" href="{link}">'
        f'<span class="when">{escape(when)}</span>'
        f'<span class="what">{escape(one.id)}<small>{escape(told)}</small></span>'
        f'<span class="felt">{one.state}</span></a>'
    )


def _promotions(log: list[Promotion]) -> None:
    if not log:
        st.caption("Nothing was ever promoted: what ships is in force.")
        return
    rows = "".join(
        f'<a class="t-row" target="_self" href="{escape(navigation.address("models", model=one.model), quote=True)}">'
        f'<span class="when">{escape(formatting.moment(one.at))}</span>'
        f'<span class="what">{escape(one.model)} <small>{escape(one.why or "no reason was given")}</small>'
        f"<small>by {escape(one.by)}, in place of {escape(one.previous)}</small></span></a>"
        for one in reversed(log)
    )
    st.html(f'<div class="t-rows" id="promotions">{rows}</div>')


def _shadow(shadow: Shadow) -> None:
    share = formatting.share(shadow.changed / shadow.sentences if shadow.sentences else None)
    stat_cards.section(
        "Shadow",
        f"it would change {share} of {formatting.count(shadow.sentences)} sentences that {shadow.against} answered",
    )
    changes = [
        (count, f"{formatting.words(head)}: {change}")
        for head, own in shadow.counts.items()
        for change, count in own.items()
    ]
    rows = "".join(
        f'<div class="t-row"><span class="what">{escape(change)}</span>'
        f'<span class="felt">{formatting.count(count)}</span></div>'
        for count, change in sorted(changes, reverse=True)[:CHANGES]
    )
    st.html(f'<div class="t-rows t-two">{rows}</div>')


# -- deciding


def _decide(viewer: Viewer, registry: Registry, version: ModelVersion) -> None:
    if viewer.role not in PROMOTES:
        st.caption("Analysts and administrators promote models and roll them back.")
        return
    champion = registry.champion(version.kind)
    line = lineage_of(registry.log(), version.kind)
    if version.id != champion.id:
        if st.button(f"Promote {version.id}", icon=":material/upgrade:", key="promote"):
            _promote(viewer, registry, version, champion)
    elif len(line) > 1 and st.button(f"Roll back to {line[-2]}", icon=":material/undo:", key="rollback"):
        _roll_back(viewer, registry, version, line[-2])


@st.dialog("Put a model in force")
def _promote(viewer: Viewer, registry: Registry, version: ModelVersion, champion: ModelVersion) -> None:
    """`champion`: the one that the person saw; if another was promoted meanwhile, nothing happens."""
    st.markdown(f"**{version.id}** replaces **{champion.id}** for calls that begin {EFFECTIVE_S:g} seconds from now.")
    passed = version.ships or (version.state != "rejected" and version.gate is not None and version.gate.passed)
    if not passed:
        st.warning(version.gate.verdict if version.gate is not None else "The gate was not asked yet.")
    with st.form("promotion", border=False):
        why = st.text_area("Why", placeholder="for the log and the audit trail", max_chars=500)
        force = False if passed else st.checkbox("Promote it although the gate was not passed")
        sure = st.form_submit_button(f"Promote {version.id}", type="primary")
    if not sure:
        return
    if not why.strip():
        elements.error("A reason is missing.", "Say why: it is kept with the promotion.")
        return
    tools = current_context().tools

    def loads(one: ModelVersion) -> None:
        if not one.ships:
            tools.check(one.kind, registry.path(one))

    try:
        with st.spinner("Loading it once, to see that it answers"):
            made = registry.promote(viewer, version.id, why, force=force, replaces=champion.id, check=loads)
    except TenorError as error:
        elements.error("It was not promoted.", f"{error.message}. {error.hint}")
        return
    _tell(made)


@st.dialog("Roll back")
def _roll_back(viewer: Viewer, registry: Registry, version: ModelVersion, before: str) -> None:
    st.markdown(f"**{before}** replaces **{version.id}** for calls that begin {EFFECTIVE_S:g} seconds from now.")
    st.caption("What was said of calls stays as it is, and names the model that said it.")
    with st.form("rollback_form", border=False):
        why = st.text_area("Why", placeholder="for the log and the audit trail", max_chars=500)
        sure = st.form_submit_button(f"Roll back to {before}", type="primary")
    if not sure:
        return
    if not why.strip():
        elements.error("A reason is missing.", "Say why: it is kept with the promotion.")
        return
    try:
        made = registry.rollback(viewer, version.kind, why, replaces=version.id)
    except TenorError as error:
        elements.error("It was not rolled back.", f"{error.message}. {error.hint}")
        return
    _tell(made)


def _tell(made: Promotion) -> None:
    """The workers, and on the next look the person."""
    tools = current_context().tools
    tools.wake(made)
    told = f"{made.model} replaces {made.previous} in {EFFECTIVE_S:g} seconds, for calls that begin then."
    if setting := tools.pinned_by(made.kind):
        told += f" Where {setting} is set, as here, that model is used and not this one."
    st.session_state[DONE] = told
    st.rerun()
