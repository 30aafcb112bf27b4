"""Names and teams from a table that IT keeps."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from storage.db.engine import Database
from storage.privacy.erasure import erase
from storage.queries import people
from storage.tables import Agent
from storage.writer.event_batch import EventBatch
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.events import Call, CallState
from tenor.settings import Settings


def table(tmp_path: Path, text: str, encoding: str = "utf-8") -> Path:
    file = tmp_path / "people.csv"
    file.write_text(text, encoding)
    return file


def test_agents_have_teams_whether_their_calls_came_before_or_after(
    database: Database, database_settings: Settings, tmp_path: Path
) -> None:
    info = Call(source="file", roles=("caller", "agent"), started_at=1.0, agent="amir", customer="555-0101", site="x")
    with database.begin() as session:
        EventBatch([(CallState(call="c", state="live", at=1.0, info=info), 1.0)]).write(session)
    read = people.read(table(tmp_path, "\ufeffAgent;Team;Display_name\r\namir; North ;Amir Khan\r\n\r\nbea;South;\r\n"))
    assert people.store(database, read, "root") == 2
    assert people.store(database, read, "root") == 0
    customers = people.read(table(tmp_path, 'customer,display_name\n555-0101,"Diaz, Carla"\n555-0199,Zoë\n'))
    assert people.store(database, customers, "root") == 2
    with database.begin() as session:
        EventBatch([(CallState(call="d", state="live", at=1.0, info=info), 1.0)]).write(session)
    with database.session() as session:
        named = [(one.name, one.display_name, one.team, one.site) for one in people.agents(session)]
        assert named == [("amir", "Amir Khan", "North", "x"), ("bea", "", "South", "")]
        assert [one.display_name for one in people.customers(session)] == ["Diaz, Carla", "Zoë"]
    for customer in ("555-0101", "555-0199"):  # the second never called
        asyncio.run(erase(database, database_settings, by="root", customer=customer, force=True))
    with database.session() as session:
        assert people.customers(session) == []


def test_all_that_is_wrong_is_told_with_its_lines(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as told:
        people.read(table(tmp_path, f"agent,team\namir,North\n,South\nbea\namir,South\ncis,{'x' * 201}\ndora,\x00\n"))
    assert told.value.message.splitlines()[1:] == [
        "line 3: no agent",
        "line 4: 1 cells where the header has 2",
        "line 5: 'amir' is on an earlier line, and differs",
        "line 6: a cell of more than 200 characters",
        "line 7: characters that cannot be shown",
    ]
    for text, said in (("", "missing"), ("name,team\n", "name, team"), ("agent,agent\n", "line 1")):
        with pytest.raises(BadInput, match=said):
            people.read(table(tmp_path, text))
    with pytest.raises(BadInput, match="not UTF-8"):
        people.read(table(tmp_path, "agent\nzoë", "latin-1"))
    with pytest.raises(BadInput, match="cannot read"):
        people.read(tmp_path / "none.csv")


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENOR_HOME", str(tmp_path))

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["people", *arguments])

    file = table(tmp_path, "agent,display_name,team\namir,Amir Khan,North\n")
    assert "1 agents read, 1 new or changed" in run("import", str(file)).stderr
    assert "North" in run("list").stdout
    (line,) = run("list", "--json").stdout.splitlines()
    assert json.loads(line) == Agent(name="amir", display_name="Amir Khan", team="North").model_dump()
    assert run("list", "--customers", "--json").stdout == ""
