"""`tenor assistant export`: conversations with the assistant as files."""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from tenor.cli.context import settings, user_name
from tenor.cli.output import say
from tenor.errors import BadInput
from tenor.times import parse_since, parse_time

if TYPE_CHECKING:
    from sqlmodel import Session

FORMATS = ("csv", "nemo")
FOR_EVER = 253_402_300_800.0


def export(
    context: typer.Context,
    form: Annotated[str, typer.Option("--format", "-f", metavar="csv|nemo", help="A table, or NeMo's files.")] = "csv",
    out: Annotated[str, typer.Option("--out", "-o", metavar="PATH", help="File, or - ; of nemo a folder.")] = "-",
    day: Annotated[str, typer.Option("--day", metavar="DATE", help="Turns of this day: 2026-11-18.")] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="Turns since then: 2026-11-01, or 8w ago.")
    ] = "",
    until: Annotated[str, typer.Option("--until", metavar="TIME", help="Turns before this time.")] = "",
    all_intents: Annotated[
        bool, typer.Option("--all-intents", help="NeMo: all intents in the dictionary, not only those that occur.")
    ] = False,
) -> None:
    """Write conversations with the assistant: a row per turn, or sentences with intents and slots to train NeMo with.

    Without --day, --since or --until: the turns of today.
    """
    from storage.db.engine import using
    from storage.tables import Audit

    if form not in FORMATS:
        raise BadInput(f"{form!r} is no format", f"one of {', '.join(FORMATS)}")
    if form == "nemo" and out == "-":
        raise BadInput("NeMo's files are six", "name a folder with --out")
    first, last = _stretch(day, since, until)
    with using(settings(context)) as database:
        with database.session() as session:
            count = _csv(session, first, last, out) if form == "csv" else _nemo(session, first, last, out, all_intents)
        with database.begin() as session:
            detail = {"format": form, "since": first, "until": last, "rows": count}
            session.add(Audit(at=time.time(), who=user_name(), action="turns.exported", detail=detail))
    if out != "-":
        what = "turn" if form == "csv" else "sentence"
        say(f"{count} {what}{'' if count == 1 else 's'} written to {escape(str(out))}")


def _csv(session: Session, since: float, until: float, out: str) -> int:
    from storage.queries.turns import between
    from storage.transfer.exporter import put
    from storage.transfer.turn_table import turn_table
    from storage.viewer import HOUSE

    count = 0
    pieces = [turn_table([])]
    for turns in between(session, HOUSE, since, until):
        count += len(turns)
        pieces.append(turn_table(turns, header=False))
    content = "".join(pieces).encode("utf-8", "replace")
    if out == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        put(Path(out), content)
    return count


def _nemo(session: Session, since: float, until: float, out: str, all_intents: bool) -> int:
    from storage.queries.turns import between, corrected_turns
    from storage.transfer.exporter import folder
    from storage.transfer.nemo import labelled_line, nemo_files
    from storage.viewer import HOUSE

    lines = set()
    for turns in between(session, HOUSE, since, until):
        corrected = corrected_turns(session, turns)
        lines |= {line for turn in turns if (line := labelled_line(turn, corrected)) is not None}
    if not lines:
        raise BadInput("there is no sentence with an intent in that time", "choose with --day, --since and --until")
    with folder(Path(out)) as write:
        for name, text in nemo_files(lines, all_intents=all_intents).items():
            write(name, text.encode("utf-8", "replace"))
    return len(lines)


def _stretch(day: str, since: str, until: str) -> tuple[float, float]:
    """Days are those of this machine's clock."""
    if day and (since or until):
        raise BadInput("a day, or a stretch, not both", "give --day, or --since and --until")
    if since or until:
        return parse_since(since), parse_time(until) if until else FOR_EVER
    try:
        start = datetime.strptime(day, "%Y-%m-%d") if day else datetime.now()
        start = start.replace(hour=0, minute=0, second=0, microsecond=0).astimezone()
        return start.timestamp(), (start.replace(tzinfo=None) + timedelta(days=1)).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise BadInput(f"{day!r} is no day", "write 2026-11-18") from None
