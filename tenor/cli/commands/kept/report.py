"""`tenor report`: a week of a team as one page."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from tenor.cli.context import settings, user_name, viewer
from tenor.cli.output import say, warn
from tenor.errors import BadInput


def report(
    context: typer.Context,
    week: str = typer.Option("", "--week", metavar="WEEK", help="2026-W46, or any day of it. Default: the last one."),
    team: str = typer.Option("", "--team", metavar="NAME", help="Calls of the agents of this team."),
    queue: str = typer.Option("", "--queue", metavar="NAME", help="Calls of this queue."),
    site: str = typer.Option("", "--site", metavar="NAME", help="Calls of this site."),
    out: str = typer.Option("", "--out", "-o", metavar="PATH", help="File, folder, or - for standard output."),
    mail: Annotated[
        list[str] | None, typer.Option("--mail", metavar="ADDRESS", help="Send it there; may be given several times.")
    ] = None,
    as_json: bool = typer.Option(False, "--json", help="Print what was made, as JSON."),
) -> None:
    """Make a page of HTML of one week, to read, to print on A4 and to send.

    It tells calls, talk time, moods, topics, alerts, handovers, agents with confirmed scorecards and calls to listen
    to, against the week before and the same week a year ago. Customers are not named. Nothing in it is loaded from
    elsewhere, except where a link is clicked.

    The stage `reports` of `tenor serve` makes one every week: settings report.folder, report.mail, report.teams.
    """
    from dashboard.report import delivery
    from dashboard.report.figures import week_of, week_report, zone_of
    from dashboard.report.page import page
    from dashboard.report.worker import note_delivery
    from storage.db.engine import using
    from storage.queries.history import Scope

    given = settings(context)
    if mail:
        delivery.check_mail(given.report, mail)
    if out == "-" and as_json:
        raise BadInput("standard output is either the page or JSON", "name a file with --out")
    now = time.time()
    wanted = week_of(week, zone_of(given.report.zone), now)
    scope = Scope(team=team, queue=queue, site=site)
    with using(given) as database:
        with database.session() as session:
            made = week_report(session, viewer(), scope, wanted, now)
        path = None
        if out == "-":
            sys.stdout.write(page(made, delivery.dashboard_link(given)))
        elif out or not mail:
            path = delivery.write(made, given, Path(out or delivery.file_name(made)))
        if mail:
            delivery.mail(made, given, mail)
            note_delivery(database, made, f"{made.week} {made.name} mail to {', '.join(mail)}", user_name())
    if as_json:
        told = {"week": made.week, "of": made.name, "calls": made.now.total.calls, "path": str(path) if path else None}
        typer.echo(json.dumps({**told, "mailed": mail or []}, ensure_ascii=False))
    elif path:
        say(f"written to {escape(str(path))}")
    if mail and not as_json:
        say(f"mailed to {escape(', '.join(mail))}")
    if not made.now.total.calls:
        warn(f"there are no calls in {made.week}: the report says so")
