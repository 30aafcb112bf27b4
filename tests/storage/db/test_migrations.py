"""The schema: made by the migrations, equal to the tables, made once, and never taken from a newer Tenor."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, event, inspect, text
from sqlmodel import SQLModel, select

from deploy.postgres.server import Server
from storage.db import schema
from storage.db.engine import Database, open_database
from storage.search import SearchQuery, search
from storage.tables import Call, Label
from storage.viewer import HOUSE
from tenor.errors import BadInput, Refused
from tenor.settings import Settings, StorageSettings
from tests.conftest import postgres_database
from tests.storage.conversations import START, add_label
from tests.tenor.cli.command import environment, tenor


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def nothing_yet(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a database that holds nothing at all."""
    url = ""
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        url = postgres_database(server, like="template0")
    home = tmp_path / "nothing yet"  # the fixture `database` is in tmp_path itself
    home.mkdir()
    return Settings(home=home, storage=StorageSettings(url=url))


def ours(name: str | None, kind: str, _: Any) -> bool:
    return not (kind in ("table", "index") and name is not None and name.startswith("fts_"))


def test_the_migrations_make_exactly_the_tables(nothing_yet: Settings) -> None:
    database = open_database(nothing_yet)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": ours})
        assert compare_metadata(context, SQLModel.metadata) == []
    assert schema.version(database.engine).current
    database.close()


def test_steps_are_numbered_without_a_gap() -> None:
    assert schema.known() == [f"{number:04}" for number in range(1, len(schema.known()) + 1)]
    for path in (schema.FOLDER / "versions").glob("[0-9]*_*.py"):
        number = path.name[:4]
        assert f'revision = "{number}"' in path.read_text()
        before = f'"{int(number) - 1:04}"' if number != "0001" else "None"
        assert f"down_revision = {before}" in path.read_text()


def test_a_step_imports_nothing_that_changes() -> None:
    for path in (schema.FOLDER / "versions").glob("[0-9]*_*.py"):
        imported = {
            name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        }
        assert imported <= {"__future__", "alembic", "sqlalchemy"}, path.name


def definitions(connection: Connection) -> set[str]:
    """All that a database is made of, by its own words; spaces do not matter."""
    if connection.dialect.name == "sqlite":
        found = connection.execute(text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")).scalars()
    else:
        found = connection.execute(
            text("""
            SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indrelid
                WHERE relnamespace = 'public'::regnamespace
            UNION ALL SELECT pg_get_constraintdef(oid) || conrelid::regclass FROM pg_constraint
                WHERE connamespace = 'public'::regnamespace
            UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
            UNION ALL SELECT concat_ws(' ', table_name, column_name, ordinal_position, data_type, is_nullable,
                column_default, generation_expression)
                FROM information_schema.columns WHERE table_schema = 'public'
            """)
        ).scalars()
    return {" ".join(definition.split()) for definition in found}


FILLED_FROM = "0003"
"""The version at which there are calls."""
OLD_ROWS = (
    "INSERT INTO calls (id, medium, source, site, queue, agent, customer, language, roles, swapped, started_at,"
    " duration_ms, state, state_at, reason, task, task_score, sentences, alerts, escalations, metrics, metrics_ms,"
    " curves, recording, recorded, redact, sample, attributes) VALUES ('bank', 'voice', '', '', '', 'ann', '', 'en-US',"
    " '[\"caller\", \"agent\"]', {no}, 1790000000, 1000, 'analysed', 0, '', '', 0, 1, 0, 0, '{{}}', 0, '', '', {no},"
    " '', {no}, '{{}}')",
    "INSERT INTO sentences (id, call, channel, role, revision, start_ms, end_ms, spoken_at, text, sentiment,"
    " sentiment_scores, mood, intent, intent_score, slots, labels, language, models, times) VALUES ('bank/0/0', 'bank',"
    " 0, 'caller', 0, 0, 900, 1790000000, 'I want to handle it.', 'neutral', '{{}}', 0, 'unknown', 0.5, '{{}}', '{{}}',"
    " 'en', '{{}}', '{{}}')",
    *(
        'INSERT INTO labels (sentence, call, kind, value, predicted, author, at, "where", sample) VALUES'
        f" ('bank/0/0', 'bank', 'text', 'I want to {word} it.', '?', '{author}', {at}, 'call', {{no}})"
        for word, author, at in (("candle", "maria", 1790000000), ("dandle", "ann", 1790000009))
    ),
)
"""As the Tenor of that version wrote them: today's tables have further columns."""


def bring_to(database: Database, number: str) -> None:
    """As the Tenor of that version made it: by the steps that it had, and no others."""
    config = Config()
    config.set_main_option("script_location", str(schema.FOLDER))
    with database.begin() as session:
        config.attributes["connection"] = session.connection()
        command.upgrade(config, number)


def fill_as_then(database: Database) -> None:
    with database.begin() as session:
        for statement in OLD_ROWS:
            no = "false" if database.is_postgres else "0"
            session.connection().exec_driver_sql(statement.format(no=no))


def test_step_by_step_with_calls_in_it_is_as_all_at_once(nothing_yet: Settings, database: Database) -> None:
    if nothing_yet.storage_url.startswith("sqlite") is database.is_postgres:
        pytest.skip("of the other kind")
    old = open_database(nothing_yet, upgrade=False)
    for number in schema.known():
        bring_to(old, number)
        if number == FILLED_FROM:
            fill_as_then(old)
    assert schema.version(old.engine).current
    with old.engine.connect() as stepped, database.engine.connect() as at_once:
        assert definitions(stepped) == definitions(at_once)
    with old.session() as session:
        found = {word: bool(search(session, HOUSE, SearchQuery(words=word)).hits) for word in ("candle", "dandle")}
        assert found == {"candle": True, "dandle": False}, "the agent's own correction comes last"
        kept = [(row.author, row.sentence, row.turn, row.why, row.held) for row in session.exec(select(Label)).all()]
        assert kept == [("maria", "bank/0/0", None, "", False), ("ann", "bank/0/0", None, "", False)]
    with old.begin() as session:
        add_label(session, "bank/0/0", "text", "I want to kindle it.", at=START + 20)
        assert search(session, HOUSE, SearchQuery(words="kindle")).hits, (
            "what keeps the search up to date is still there"
        )
    old.close()


def test_opening_again_keeps_what_is_there(nothing_yet: Settings) -> None:
    database = open_database(nothing_yet)
    with database.begin() as session:
        session.add(Call(id="kept"))
    database.close()
    database = open_database(nothing_yet)
    with database.session() as session:
        assert session.get(Call, "kept") is not None
    database.close()


def test_documents_of_an_older_version_are_made_anew(nothing_yet: Settings) -> None:
    database = open_database(nothing_yet, upgrade=False)
    bring_to(database, FILLED_FROM)
    fill_as_then(database)
    with database.begin() as session:
        session.execute(text("UPDATE fts_documents SET words = 'I want to handle it.'"))
    database.close()
    database = open_database(nothing_yet)
    with database.begin() as session:
        assert search(session, HOUSE, SearchQuery(words="candle")).hits
        add_label(session, "bank/0/0", "text", "I want to sell it.", author="maria")
    with database.session() as session:
        assert search(session, HOUSE, SearchQuery(words="sell")).hits, "and still kept true"
    database.close()


@pytest.mark.slow
def test_processes_that_start_at_once_make_it_once(nothing_yet: Settings) -> None:
    variables = {"TENOR_HOME": str(nothing_yet.home), "TENOR_STORAGE__URL": nothing_yet.storage.url}
    program = "from storage.db.engine import *; from tenor.layers import load; open_database(load({}).settings)"
    variables = {**environment(), **variables, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", program]
    started = [
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=60)[0] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    assert sum("database upgraded" in text for text in said) == 1


def test_a_database_of_a_newer_version_is_refused_and_left_alone(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Refused, match=f"its schema is 9999, we know those up to {schema.known()[-1]}") as refused:
        open_database(database_settings)
    assert "newer version" in refused.value.hint
    with database.session() as session:
        assert session.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"


def test_somebody_elses_database_is_left_alone(nothing_yet: Settings) -> None:
    database = open_database(nothing_yet, upgrade=False)
    with database.begin() as session:
        session.execute(text("CREATE TABLE calls (number TEXT)"))
    with pytest.raises(BadInput, match="not one of Tenor"):
        open_database(nothing_yet)
    assert inspect(database.engine).get_table_names() == ["calls"]
    database.close()


@pytest.mark.postgres
def test_the_commands_say_what_they_find_and_did(postgres: Server, tmp_path: Path) -> None:
    options = ("--home", tmp_path, "--set", f"storage.url={postgres_database(postgres, like='template0')}")
    newest = schema.known()[-1]
    found = tenor(*options, "db", "status", cwd=tmp_path)
    assert found.returncode == 1
    assert "empty" in found.stdout
    assert "s3cret" not in found.stdout + found.stderr
    done = tenor(*options, "db", "upgrade", cwd=tmp_path)
    assert (done.returncode, newest in done.stdout) == (0, True)
    found = tenor(*options, "db", "status", cwd=tmp_path)
    assert found.returncode == 0
    assert re.search(rf"schema\s+{newest}", found.stdout)
    assert re.search(r"calls\s+0", found.stdout)
    assert "s3cret" not in found.stdout + found.stderr


@pytest.mark.slow
def test_asking_for_a_database_that_is_not_there_makes_none(tmp_path: Path) -> None:
    found = tenor("--home", tmp_path, "db", "status", cwd=tmp_path)
    assert found.returncode == 1
    assert "no such file yet" in found.stdout
    assert not list(tmp_path.rglob("*.db*"))


def test_who_looks_while_another_makes_the_database_takes_it_for_nobody_elses(nothing_yet: Settings) -> None:
    """Stages and the job that migrates begin at the same moment."""
    looking = open_database(nothing_yet, upgrade=False)
    made: list[Database] = []

    @event.listens_for(looking.engine, "after_cursor_execute")
    def make(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if not made and ("pg_class" in statement or "table_info" in statement or "table_xinfo" in statement):
            made.append(open_database(nothing_yet))

    assert schema.version(looking.engine).current
    for one in (looking, *made):
        one.close()
