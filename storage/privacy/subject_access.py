"""What is kept of a person, for that person: everything that an erasure would delete, as files that one can read.

    index.html          who, each call with what was said in it, its summary and its recording, for a browser
    everything.json     every row, by table, for programs
    recordings/         as they are kept
    archive.json        what the archive, its snapshots and datasets hold of the calls; archive/ has their audio
    bus.json            what the bus still holds of them, without raw audio

`kept.py` has the list of places, which is the one that `erasure.py` goes by.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import select
from sqlmodel import Session, SQLModel

from storage.db.engine import Database
from storage.privacy import kept
from storage.privacy.erasure import calls_of
from storage.queries import calls as calls_query
from storage.queries.calls import WholeCall
from storage.recorder.store import RecordingStore
from storage.summaries import in_a_line, left, told
from storage.tables import Audit, Customer
from storage.transfer.exporter import Sink, file_name
from storage.transfer.vcon import iso
from storage.viewer import HOUSE
from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.settings import Settings


class AccessReport(msgspec.Struct, kw_only=True):
    """How much was found, by where it is kept."""

    customer: str
    calls: int = 0
    rows: dict[str, int] = {}
    """By table."""
    recordings: int = 0
    archive: dict[str, int] = {}
    """Rows by kind."""
    sounds: int = 0
    """Channels of audio in the archive."""
    bus: dict[str, int] = {}
    """Records by topic."""


async def give(database: Database, settings: Settings, bus: Bus, customer: str, sink: Sink, *, by: str) -> AccessReport:
    """Write everything that is kept of a customer; `sink` takes names of files and their content."""
    report = AccessReport(customer=customer)
    with database.session() as session:
        calls = calls_of(session, customer)
        if not calls and session.get(Customer, customer) is None:
            raise BadInput(f"nothing is kept of a customer {customer!r}")
        report.calls = len(calls)
        rows = _rows(session, calls, customer)
        whole = [found for call in calls if (found := calls_query.whole(session, HOUSE, call)) is not None]
        files = _recordings(settings, whole)
        report.rows = {table: len(found) for table, found in rows.items()}
        sink("index.html", _page(customer, whole, rows, files).encode("utf-8", "replace"))
    sink("everything.json", _json(rows))
    store = RecordingStore(settings)
    for names in files.values():
        for name in names:
            with store.open(name) as file:
                sink(f"recordings/{name}", file.read())
            report.recordings += 1
    archived = kept.archived(settings, calls)
    report.archive = {kind: found.num_rows for kind, found in archived.items()}
    if archived:
        sink("archive.json", _json({kind: found.to_pylist() for kind, found in archived.items()}))
    if "audio" in archived:
        for name, content in kept.sounds(settings, archived["audio"]):
            sink(f"archive/{_safe(name)}", content)
            report.sounds += 1
    waiting = await kept.on_the_bus(bus, calls)
    report.bus = {topic: len(events) for topic, events in waiting.items()}
    if waiting:
        sink("bus.json", _json(waiting))
    with database.begin() as session:
        session.add(Audit(at=time.time(), who=by, action="customer.exported", subject=customer))
    return report


def _rows(session: Session, calls: Sequence[str], customer: str) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for name, clause in kept.about(session, calls, customer).items():
        table = SQLModel.metadata.tables[name]
        found[name] = [dict(row) for row in session.execute(select(table).where(clause)).mappings()]
    return found


def _recordings(settings: Settings, whole: Iterable[WholeCall]) -> dict[str, list[str]]:
    """Of each call the files that are there: the one that its row names, and those an erasure looks for besides."""
    store = RecordingStore(settings)
    names = {one.call.id: kept.recording_files([one.call.id], [one.call.recording]) for one in whole}
    return {call: [name for name in found if _is_there(store, name)] for call, found in names.items()}


def _is_there(store: RecordingStore, name: str) -> bool:
    try:
        return store.size(name) >= 0
    except FileNotFoundError:
        return False


def _page(
    customer: str, whole: Sequence[WholeCall], rows: Mapping[str, list[dict[str, Any]]], files: Mapping[str, list[str]]
) -> str:
    who = next((row["display_name"] for row in rows["customers"] if row["display_name"]), "")
    kinds = "".join(f"<tr><td>{_text(name)}</td><td>{len(found)}</td></tr>" for name, found in rows.items() if found)
    body = "".join(_call(one, files[one.call.id]) for one in sorted(whole, key=lambda one: one.call.started_at))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(who or customer)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{_text(who or customer)}</h1>"
        f"<p>Everything that is kept of the customer {_text(customer)}, {len(whole)} "
        f"{'call' if len(whole) == 1 else 'calls'}. Programs read <a href='everything.json'>everything.json</a>.</p>"
        f"<table><tr><th>kept in</th><th>rows</th></tr>{kinds}</table>{body}</body></html>"
    )


def _call(one: WholeCall, files: Sequence[str]) -> str:
    call = one.call
    about = (iso(call.started_at), call.medium, call.queue, call.site, call.agent, in_a_line(call), call.wrap_up)
    points = "".join(f"<li>{_text(told(point))}</li>" for point in left(call)["points"])
    sounds = "".join(f'<audio controls preload="none" src="recordings/{_text(name)}"></audio>' for name in files)
    said = "".join(
        f"<tr><td>{row.start_ms / 1000:.0f} s</td><td>{_text(now['role'])}</td><td>{_text(now['text'])}</td>"
        f"<td>{_text(now['sentiment'])}, {_text(now['intent'])}</td></tr>"
        for row in one.sentences
        for now in [one.said(row)]
    )
    notes = [f"Note by {note.author}: {note.text}" for note in one.notes]
    notes += [f"Alert: {alert.text}" for alert in one.alerts]
    notes += [f"Label by {label.author}: {label.kind} {label.value}" for label in one.all_labels]
    notes += [f"Scorecard by {score.author}: {score.asks or score.point}: {score.value}" for score in one.scores]
    more = "".join(f"<li>{_text(note)}</li>" for note in notes)
    return (
        f"<h2>Call {_text(call.id)}</h2><p>{_text(' · '.join(filter(None, about)))}</p><ul>{points}</ul>{sounds}"
        f"<table>{said}</table><ul>{more}</ul>"
    )


STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.15rem .8rem .15rem 0}"
    "audio{display:block;margin:.5rem 0}h2{margin-top:2rem;overflow-wrap:anywhere}"
)


def _text(value: str) -> str:
    return html.escape(value, quote=True)


def _safe(name: str) -> str:
    """A name of a file, made of the id of a call, which may have any characters."""
    stem, _, suffix = name.rpartition(".")
    return f"{file_name(stem)}.{suffix}"


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
