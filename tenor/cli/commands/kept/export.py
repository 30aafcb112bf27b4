"""`tenor export`: calls as files for others."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.markup import escape

from tenor.cli.context import run, settings, user_name
from tenor.cli.output import progress, say
from tenor.errors import BadInput
from tenor.times import parse_time

if TYPE_CHECKING:
    from storage.db.engine import Database
    from storage.queries.calls import CallFilter, WholeCall
    from storage.transfer.exporter import Format
    from tenor.settings import Settings


def export(
    context: typer.Context,
    calls: Annotated[list[str] | None, typer.Argument(metavar="CALL", help="Ids of calls.")] = None,
    form: str = typer.Option("json", "--format", "-f", metavar="FORMAT", help="vcon, json, csv, txt or srt."),
    out: str = typer.Option("-", "--out", "-o", metavar="PATH", help="File, folder, .zip, or - for standard output."),
    audio: bool = typer.Option(False, "--audio", help="With the recordings: inside vCon and JSON, beside the others."),
    audio_url: str = typer.Option("", "--audio-url", metavar="URL", help="vCon refers to recordings under this URL."),
    since: str = typer.Option("", "--since", metavar="TIME", help="Calls begun since then: 2026-11-01, or 8w ago."),
    until: str = typer.Option("", "--until", metavar="TIME", help="Calls begun before this time."),
    agent: str = typer.Option("", "--agent", metavar="NAME", help="Calls of this agent."),
    queue: str = typer.Option("", "--queue", metavar="NAME", help="Calls of this queue."),
    customer: str = typer.Option(
        "", "--customer", metavar="ID", help="Everything that is kept of this customer, for them to read."
    ),
) -> None:
    """Export calls as vCon, JSON, CSV, text or subtitles: those you name, or those that --since and the like choose.

    JSON and vCon hold everything, so that `tenor import` can bring the calls into another installation.

    With --customer, everything that `tenor erase --customer` would delete goes to a folder or .zip: a page to read, all
    rows as JSON, recordings, and what the archive and the bus hold.
    """
    from storage.queries.calls import CallFilter
    from storage.transfer.exporter import FORMATS

    if customer:
        if calls or since or until or agent or queue or audio or audio_url or form != "json":
            raise BadInput("--customer goes with --out alone", "everything that is kept is exported")
        if out == "-":
            raise BadInput("what is kept of a customer are several files", "name a folder or a .zip with --out")
        _give(settings(context), customer, Path(out))
        return
    if form not in FORMATS:
        raise BadInput(f"{form!r} is no format", f"one of {', '.join(FORMATS)}")
    if audio_url and not audio_url.startswith("https://"):
        raise BadInput("a vCon refers to recordings by https:// only", "give --audio-url https://...")
    wanted = CallFilter(
        agent=agent, queue=queue, since=parse_time(since) if since else None, until=parse_time(until) if until else None
    )
    if not calls and wanted == CallFilter():
        raise BadInput("which calls?", "name them, or choose with --since, --until, --agent, --queue")
    if calls and wanted != CallFilter():
        raise BadInput("name calls, or choose with --since and the like, not both")
    written = _write(settings(context), calls or [], wanted, form, out, audio, audio_url)
    if out != "-":
        say(f"{written} call{'' if written == 1 else 's'} written to {escape(str(out))}")


def _give(given: Settings, customer: str, target: Path) -> None:
    from storage.db.engine import using
    from storage.privacy.subject_access import AccessReport, give
    from storage.transfer import exporter
    from tenor.bus.opening import open_bus

    async def gathered(database: Database) -> AccessReport:
        async with open_bus(given) as bus:
            with (exporter.archive if target.suffix == ".zip" else exporter.folder)(target) as sink:
                return await give(database, given, bus, customer, sink, by=user_name())

    with using(given) as database:
        report = run(gathered(database))
    rows = ", ".join(f"{count} {table}" for table, count in report.rows.items() if count)
    say(f"{escape(customer)}: {report.calls} call{'' if report.calls == 1 else 's'} ({rows})")
    archived = f"{sum(report.archive.values())} rows and {report.sounds} channels of audio of the archive"
    say(f"{report.recordings} recordings, {archived}, {sum(report.bus.values())} records of the bus")
    say(f"written to {escape(str(target))}: begin with index.html")


def _write(
    given: Settings, named: list[str], wanted: CallFilter, form: Format, out: str, audio: bool, audio_url: str
) -> int:
    from storage.db.engine import using
    from storage.queries import calls
    from storage.transfer import exporter
    from storage.viewer import HOUSE

    target = Path(out)
    many = len(named) != 1
    new_folder = out.endswith("/") or not (target.suffix or target.exists())
    apart = out != "-" and (target.suffix == ".zip" or target.is_dir() or new_folder)
    beside = audio and form in ("csv", "txt", "srt")
    if form == "srt" and many and not apart:
        raise BadInput("subtitles of several calls are several files", "name a folder or a .zip with --out")
    if beside and not apart:
        raise BadInput(f"recordings cannot be inside {form}", "name a folder or a .zip with --out")
    with ExitStack() as stack:
        database = stack.enter_context(using(given))
        session = stack.enter_context(database.session())
        if form == "srt":
            wanted = replace(wanted, medium="voice")  # of calls that were chosen, those that can have subtitles
        ids = named or [call.id for call in session.scalars(calls.listing(HOUSE, wanted))]
        if not ids:
            raise BadInput("no call is like that")
        written: list[str] = []
        stack.callback(_remember, database, written, form)  # also what went out before something went wrong
        bar = stack.enter_context(progress())
        task = bar.add_task("exporting", total=len(ids), detail="")
        sink = None
        if apart:
            sink = stack.enter_context((exporter.archive if target.suffix == ".zip" else exporter.folder)(target))
        pieces = []
        for number, whole in enumerate(_whole(session, ids)):
            recording = exporter.recording_of(given, whole) if audio or audio_url else None
            if sink:
                written.append(whole.call.id)
                name = exporter.file_name(whole.call.id)
                text = exporter.render(session, whole, form, None if beside else recording, audio_url)
                sink(name + exporter.SUFFIX[form], text.encode("utf-8", "replace"))
                if beside and recording:
                    sink(name + Path(recording.name).suffix, recording.content)
            elif form == "csv":
                pieces.append(exporter.table([whole], header=number == 0))
            else:
                pieces.append(exporter.render(session, whole, form, recording, audio_url))
            bar.update(task, advance=1, detail=f"{number + 1} of {len(ids)}")
            session.expunge_all()
        if not sink:
            written += ids
            between = "" if form in ("csv", "srt") else "\n"
            _put(out, between.join(piece.rstrip("\n") + "\n" if form == "txt" else piece for piece in pieces))
        return len(ids)


def _remember(database: Database, written: list[str], form: str) -> None:
    from storage.tables import Audit

    with database.begin() as session:
        now, who, detail = time.time(), user_name(), {"format": form}
        session.add_all(Audit(at=now, who=who, action="call.exported", subject=one, detail=detail) for one in written)


def _whole(session: object, ids: list[str]) -> Iterator[WholeCall]:
    from sqlmodel import Session

    from storage.queries import calls
    from storage.viewer import HOUSE

    for one in ids:
        found = calls.whole(cast(Session, session), HOUSE, one)
        if found is None:
            raise BadInput(f"there is no call {one!r}")
        yield found


def _put(out: str, text: str) -> None:
    from storage.transfer import exporter

    content = text.encode("utf-8", "replace")
    if not content.endswith(b"\n"):
        content += b"\n"
    if out == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(out)
    if target.is_file() or not target.exists():
        exporter.put(target, content)
        return
    try:
        target.write_bytes(content)  # a pipe or a device, which nothing can take the place of
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}") from None
