"""A report gets where it is wanted, once; and what is in its way is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from dashboard.report.delivery import mail, write
from dashboard.report.figures import week_of, week_report
from dashboard.report.worker import deliver_due, due_week
from storage.db.engine import Database, open_database
from storage.queries.history import Scope
from storage.tables import Agent, Audit
from storage.viewer import HOUSE
from tenor.errors import BadInput, Refused, TenorError, Unavailable
from tenor.settings import ReportSettings, Settings
from tests.conftest import free_port
from tests.dashboard.report.mail_server import PASSWORD, USER, MailServer, mail_server
from tests.dashboard.report.test_report import NOW, add_week
from tests.deploy.secure_servers import make_certificates
from tests.tenor.cli.command import tenor

TO = "mia@example.com"


@pytest.fixture
def filled(database_settings: Settings) -> Iterator[Database]:
    database = open_database(database_settings)
    with database.begin() as session:
        session.add(Agent(name="ann", display_name="Ann", team="North"))
        session.add(Agent(name="bob", display_name="Bob", team="South"))
        add_week(session, "now", date(2026, 11, 9), 14, -0.3)
    yield database
    database.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder, "mail")
    return folder


def given(settings: Settings, server: MailServer | int = 1, **report: Any) -> Settings:
    port = server if isinstance(server, int) else server.port
    usual = {"smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none", "smtp_from": "tenor@example.com"}
    return settings.model_copy(update={"report": ReportSettings(**{**usual, "zone": "UTC", **report})})


def send(database: Database, settings: Settings, *to: str) -> None:
    with database.session() as session:
        report = week_report(session, HOUSE, Scope(), week_of("2026-W46", UTC, NOW), NOW)
    mail(report, settings, to or (TO,))


def test_a_mail_has_the_report_beside_a_few_lines(filled: Database, database_settings: Settings) -> None:
    with mail_server() as server:
        send(filled, given(database_settings, server), TO, "Leo <leo@example.com>")
        (got,) = server.mails
        assert len(server.receivers) == 2
    assert (got["Subject"], got["From"]) == ("Week of everyone, 2026-W46", "tenor@example.com")
    body = got.get_body(("plain",))
    assert body is not None
    assert "14 calls" in body.get_content()
    (attached,) = got.iter_attachments()
    assert attached.get_filename() == "report-2026-W46-everyone.html"
    assert attached.get_content().startswith("<!DOCTYPE html>")


def test_a_password_goes_over_a_safe_way_only(
    filled: Database, database_settings: Settings, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret: dict[str, Any] = {"smtp_security": "starttls", "smtp_user": USER, "smtp_password": PASSWORD}
    with mail_server(certificates) as server:
        with pytest.raises(Unavailable, match="no safe connection"):  # nobody knows who signed it
            send(filled, given(database_settings, server, **secret))
        assert "AUTH" not in server.log
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "mail-ca.crt"))
        send(filled, given(database_settings, server, **secret))
        assert len(server.mails) == 1
        with pytest.raises(Refused, match="refuses report"):
            send(filled, given(database_settings, server, **{**secret, "smtp_password": "guess"}))
    with mail_server() as plain, pytest.raises(Refused, match="STARTTLS"):
        send(filled, given(database_settings, plain, **secret))
    with pytest.raises(BadInput, match="in the clear"):
        send(filled, given(database_settings, **{**secret, "smtp_security": "none"}))


def test_what_is_in_the_way_of_a_mail_is_told(filled: Database, database_settings: Settings) -> None:
    with pytest.raises(BadInput, match="no mail server is set"):
        send(filled, given(database_settings, smtp_host=""))
    with pytest.raises(BadInput, match="no address to send"):
        send(filled, given(database_settings, smtp_from=""))
    for address in ("nobody", "a@b\r\nBcc: c@d", "a@b, c@d", ""):
        with pytest.raises(BadInput, match="no mail address"):
            send(filled, given(database_settings), address)
    with pytest.raises(Unavailable, match="does not answer"):
        send(filled, given(database_settings, free_port()))
    with mail_server() as server:
        server.refuses = TO
        with pytest.raises(Refused, match="no such mailbox"):
            send(filled, given(database_settings, server))


def test_a_report_is_written_whole(filled: Database, database_settings: Settings, tmp_path: Path) -> None:
    with filled.session() as session:
        report = week_report(session, HOUSE, Scope(team="North"), week_of("2026-W46", UTC, NOW), NOW)
    assert write(report, database_settings, tmp_path / "reports").name == "report-2026-W46-north.html"
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["report-2026-W46-north.html"]


@pytest.mark.parametrize(
    ("now", "week"),
    [
        ("2026-11-16T05:59", "2026-11-02"),
        ("2026-11-16T06:00", "2026-11-09"),
        ("2026-11-22T23:59", "2026-11-09"),
        ("2026-11-23T06:00", "2026-11-16"),
    ],
)
def test_a_report_is_due_when_its_day_and_hour_have_come(now: str, week: str) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp()
    assert due_week(ReportSettings(zone="UTC"), moment).first.isoformat() == week


def test_each_report_is_delivered_once_and_a_server_that_is_away_is_tried_again(
    filled: Database, database_settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    settings = given(database_settings, free_port(), folder=str(folder), mail=[TO], teams=["North", "South", "Nroth"])
    assert deliver_due(filled, settings, NOW) == 2  # both files; no mail, and no team of that name
    assert sorted(path.name for path in folder.iterdir()) == [
        "report-2026-W46-north.html",
        "report-2026-W46-south.html",
    ]
    for path in folder.iterdir():
        path.unlink()
    with mail_server() as server:
        settings = given(settings, server, folder=str(folder), mail=[TO], teams=["North", "South"])
        assert deliver_due(filled, settings, NOW) == 2
        assert deliver_due(filled, settings, NOW + 3600) == 0
        assert [one["Subject"] for one in server.mails] == ["Week of North, 2026-W46", "Week of South, 2026-W46"]
        assert deliver_due(filled, settings, NOW + 7 * 86_400) == 4
    assert len(list(folder.iterdir())) == 2
    with filled.session() as session:
        assert len(session.exec(select(Audit).where(Audit.action == "report.delivered")).all()) == 8


@pytest.mark.slow
def test_the_command_makes_one_and_says_where(filled: Database, database_settings: Settings, tmp_path: Path) -> None:
    url = f"storage.url={database_settings.storage_url}"
    home = ("--home", database_settings.home, "--set", "report.zone=UTC", "--set", url)
    done = tenor(*home, "report", "--week", "2026-W46", "--team", "North", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report-2026-W46-north.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    told = tenor(*home, "report", "--week", "2026-W01", "--out", "empty.html", "--json", cwd=tmp_path)
    assert json.loads(told.stdout) == {
        "week": "2026-W01", "of": "everyone", "calls": 0, "path": "empty.html", "mailed": [],
    }  # fmt: skip
    assert "no calls in 2026-W01" in told.stderr
    wrong = tenor(*home, "report", "--mail", "nobody@example.com", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "no mail server is set" in wrong.stderr


def test_a_stage_with_wrong_settings_does_not_start(database_settings: Settings) -> None:
    from dashboard.report.worker import ReportWorker

    for wrong in ({"zone": "Mars"}, {"mail": ["nobody"]}, {"mail": [TO], "smtp_host": ""}):
        with pytest.raises(TenorError):
            ReportWorker(None, given(database_settings, **wrong))  # type: ignore[arg-type]
