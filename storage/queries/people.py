"""Who agents and customers are: names and teams, which no telephone platform tells, from a table that IT keeps.

agent,display_name,team,site          customer,display_name
amir,Amir Khan,North,Leeds            555-0101,Carla Diaz
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlmodel import Session, col, select

from storage.db.engine import Database
from storage.queries.live import LiveCall
from storage.tables import Agent, Audit, Call, Customer
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.reading import listed, reading

COLUMNS = {"agent": ("display_name", "team", "site"), "customer": ("display_name",)}
LONGEST = 200
"""Characters of a cell."""
SHOWN = 20
"""Rows that are wrong and told."""


@dataclass(frozen=True, slots=True)
class PeopleTable:
    """A table as it was read: of each person the columns that it has."""

    of: Literal["agent", "customer"]
    people: dict[str, dict[str, str]]


def read(path: Path) -> PeopleTable:
    """The table in a CSV file; all that is wrong with it, with its lines."""
    with reading(str(path)):
        return _read(path)


def _read(path: Path) -> PeopleTable:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8", "save it as CSV UTF-8") from None
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";" if first.count(";") > first.count(",") else ",")
    header = [cell.strip().lower() for cell in next(rows, [])]
    of: Literal["agent", "customer"] = "customer" if "customer" in header else "agent"
    columns = (of, *COLUMNS[of])
    if of not in header or len(set(header)) != len(header) or not set(header) <= set(columns):
        forms = " or ".join(",".join((name, *more)) for name, more in COLUMNS.items())
        raise BadInput(f"{path}: line 1: the columns are {listed(header) or 'missing'}", f"they are {forms}")
    people: dict[str, dict[str, str]] = {}
    wrong: list[str] = []
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                reason = _take(header, cells, of, people)
                wrong += [f"line {rows.line_num}: {reason}"] if reason else []
    except csv.Error as error:
        wrong.append(f"line {rows.line_num}: {error}")
    if wrong:
        more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        raise BadInput("\n".join([f"{path}: nothing was imported", *wrong[:SHOWN], *more]))
    return PeopleTable(of, people)


def _take(header: list[str], cells: list[str], of: str, people: dict[str, dict[str, str]]) -> str:
    """Add the person of a line; or say what is wrong with it."""
    if len(cells) != len(header):
        return f"{len(cells)} cells where the header has {len(header)}"
    told = {name: " ".join(cell.split()) for name, cell in zip(header, cells, strict=True)}
    name = told.pop(of)
    if not name:
        return f"no {of}"
    if any(len(cell) > LONGEST for cell in (name, *told.values())):
        return f"a cell of more than {LONGEST} characters"
    if any(not cell.isprintable() for cell in (name, *told.values())):
        return "characters that cannot be shown"
    if people.setdefault(name, told) != told:
        return f"{name!r} is on an earlier line, and differs"
    return ""


def store(database: Database, table: PeopleTable, by: str) -> int:
    """Keep what the table says; how many people that changed. Columns that it does not have stay as they are."""
    changed = 0
    with database.begin() as session:
        for name, told in table.people.items():
            known: Agent | Customer | None
            known = session.get(Agent, name) if table.of == "agent" else session.get(Customer, name)
            if known is None:
                known = Agent(name=name) if table.of == "agent" else Customer(id=name)
            elif all(getattr(known, column) == value for column, value in told.items()):
                continue
            for column, value in told.items():
                setattr(known, column, value)
            session.add(known)
            changed += 1
        if changed:
            detail = {"of": table.of, "changed": changed}
            session.add(Audit(at=time.time(), who=by, action="people.imported", detail=detail))
    return changed


def agents(session: Session) -> list[Agent]:
    """By team, then by name."""
    return list(session.exec(select(Agent).order_by(Agent.team, Agent.name)))


def customers(session: Session) -> list[Customer]:
    return list(session.exec(select(Customer).order_by(Customer.id)))


def agent_names(session: Session, viewer: Viewer) -> dict[str, str]:
    """What agents are called, by account name: of those that the viewer may see and IT has told the name of."""
    told = select(Agent.name, Agent.display_name).where(Agent.display_name != "")
    if not viewer.sees_all:
        told = told.where(Agent.name == viewer.name)
    return dict(session.exec(told).all())


def customer_names(session: Session, ids: Iterable[str]) -> dict[str, str]:
    """What these customers are called, where that is known."""
    told = select(Customer.id, Customer.display_name).where(col(Customer.id).in_(set(ids)), Customer.display_name != "")
    return dict(session.exec(told).all())


def names_on(session: Session, viewer: Viewer, calls: Iterable[Call | LiveCall]) -> dict[str, str]:
    """What the agents and customers of these calls are called, where that is known."""
    return customer_names(session, (call.customer for call in calls)) | agent_names(session, viewer)
