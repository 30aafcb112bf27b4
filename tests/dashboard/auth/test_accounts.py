"""Accounts, tokens and the throttle of the sign-in, without a browser."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator

import pytest
from sqlmodel import col, select
from typer.testing import CliRunner

from dashboard.auth.accounts import FREE_TRIES, LONGEST_WAIT_S, Accounts, SignInThrottle
from dashboard.auth.sign_in import SignIn, role_of
from dashboard.auth.tokens import API, PAGE, SESSION, SignedTokens, recording_purpose
from storage.db.engine import Database, open_database
from storage.search import SearchQuery
from storage.search.saved import save, saved
from storage.tables import Audit
from storage.viewer import Viewer
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import DashboardSettings, Settings
from tenor.web.signing import secret_of

PASSWORD = "correct horse battery"
MIA = Viewer("mia", "manager")


@pytest.fixture
def database(embedded_settings: Settings) -> Iterator[Database]:
    database = open_database(embedded_settings)
    yield database
    database.close()


@pytest.fixture
def accounts(database: Database) -> Accounts:
    accounts = Accounts(database)
    accounts.add("mia", "manager", PASSWORD)
    return accounts


def test_an_account_made_again_does_not_see_what_the_removed_one_looked_for(
    accounts: Accounts, database: Database
) -> None:
    with database.session() as session:
        for owner in ("mia", "noah"):
            save(session, owner, "Angry callers of Hull", SearchQuery(words="refund", site=("Hull",)))
    accounts.remove("mia")
    accounts.add("mia", "manager", PASSWORD)
    with database.session() as session:
        assert saved(session, "mia") == []
        assert [one.name for one in saved(session, "noah")] == ["Angry callers of Hull"]


def test_only_the_right_password_opens(accounts: Accounts) -> None:
    assert accounts.check("mia", PASSWORD) == MIA
    assert accounts.check("mia", PASSWORD + "!") is None
    assert accounts.check("nobody", PASSWORD) is None
    assert PASSWORD not in accounts.all()[0].password


def test_a_name_that_does_not_exist_takes_as_long(accounts: Accounts) -> None:
    def seconds(name: str) -> float:
        began = time.process_time()
        accounts.check(name, "wrong password")
        return time.process_time() - began

    known, unknown = min(seconds("mia") for _ in range(3)), min(seconds("nobody") for _ in range(3))
    assert unknown > known / 2


@pytest.mark.parametrize(
    ("name", "role", "password"),
    [
        ("a b", "agent", PASSWORD),
        ("<b>", "agent", PASSWORD),
        ("ben", "boss", PASSWORD),
        ("ben", "agent", "short"),
        ("mia", "agent", PASSWORD),
    ],
)
def test_what_cannot_be_an_account_is_refused(accounts: Accounts, name: str, role: str, password: str) -> None:
    with pytest.raises(BadInput):
        accounts.add(name, role, password)


def test_tokens_hold_for_one_purpose_one_account_and_a_while(accounts: Accounts) -> None:
    tokens = SignedTokens("secret", accounts.version_of)
    token = tokens.issue(MIA, PAGE, 60)
    assert tokens.viewer(token, PAGE) == MIA
    assert tokens.viewer(token, SESSION) is None
    assert tokens.viewer(tokens.issue(MIA, recording_purpose("one"), 60), recording_purpose("two")) is None
    assert tokens.viewer(tokens.issue(MIA, PAGE, -1), PAGE) is None
    assert tokens.viewer(token[:-2], PAGE) is None
    assert tokens.viewer("", PAGE) is None
    assert SignedTokens("another", accounts.version_of).viewer(token, PAGE) is None


def test_a_changed_account_ends_what_was_given_out(accounts: Accounts) -> None:
    tokens = SignedTokens("secret", accounts.version_of)
    before = tokens.issue(MIA, SESSION, 60)
    accounts.change("mia", password=PASSWORD + "!")
    assert tokens.viewer(before, SESSION) is None
    before = tokens.issue(MIA, SESSION, 60)
    accounts.change("mia", role="analyst")
    assert tokens.viewer(before, SESSION) is None
    before = tokens.issue(Viewer("mia", "analyst"), API, 60)
    assert tokens.viewer(before, API) == Viewer("mia", "analyst")
    accounts.remove("mia")
    assert tokens.viewer(before, API) is None


def test_the_secret_is_made_once_and_ours_alone(embedded_settings: Settings) -> None:
    secret = secret_of(embedded_settings)
    assert len(secret) > 40
    assert secret_of(embedded_settings) == secret
    assert stat.S_IMODE((embedded_settings.home / "secret").stat().st_mode) == 0o600


def test_guessing_gets_slow_and_success_forgives() -> None:
    throttle = SignInThrottle(FREE_TRIES)
    for _ in range(FREE_TRIES - 1):
        throttle.failed("mia")
    assert throttle.wait_s("mia") == 0
    throttle.failed("mia")
    first = throttle.wait_s("mia")
    throttle.failed("mia")
    assert 0 < first < throttle.wait_s("mia")
    assert throttle.wait_s("ben") == 0
    for _ in range(100):
        throttle.failed("mia")
    assert throttle.wait_s("mia") <= LONGEST_WAIT_S
    throttle.succeeded("mia")
    assert throttle.wait_s("mia") == 0


def test_without_a_sign_in_only_this_machine_is_served(accounts: Accounts) -> None:
    with pytest.raises(BadInput, match="this machine only"):
        SignIn(DashboardSettings(host="0.0.0.0"), accounts, SignedTokens("secret"))
    SignIn(DashboardSettings(host="::1"), accounts, SignedTokens("secret"))
    SignIn(DashboardSettings(host="0.0.0.0", sign_in="local"), accounts, SignedTokens("secret"))


def test_roles_come_from_the_providers_claims() -> None:
    settings = DashboardSettings(
        oidc_roles={"cc-leads": "manager", "cc-agents": "agent"}, oidc_role_claim="realm.roles"
    )
    assert role_of({"realm": {"roles": ["cc-agents", "cc-leads", "other"]}}, settings) == "manager"
    assert role_of({"realm": {"roles": "cc-agents"}}, settings) == "agent"
    assert role_of({"realm": {"roles": ["manager"]}}, settings) is None
    assert role_of({"realm": ["cc-leads"]}, settings) is None
    assert role_of({}, settings) is None


@pytest.mark.slow
def test_accounts_on_the_command_line(embedded_settings: Settings, database: Database) -> None:
    def tenor(*command: str, typed: str = "") -> str:
        done = CliRunner().invoke(app, ["--home", str(embedded_settings.home), "account", *command], input=typed)
        assert done.exception is None, done.exception
        return done.output

    tenor("add", "ada", "--role", "analyst", typed=PASSWORD + "\n")
    assert "ada" in tenor("list")
    assert "analyst" in tenor("list")
    token = tenor("token", "ada").strip().splitlines()[0]
    tokens = SignedTokens(secret_of(embedded_settings), api_version_of=Accounts(database).version_of)
    assert tokens.viewer(token, API) == Viewer("ada", "analyst")
    tenor("password", "ada", typed="another fine password\n")
    time.sleep(1.1)  # what is known of an account is known for a second
    assert tokens.viewer(token, API) is None
    assert Accounts(database).check("ada", "another fine password") is not None
    tenor("role", "ada", "manager")
    tenor("remove", "ada")
    assert "no accounts" in tenor("list")
    with database.session() as session:
        done = [row.action for row in session.exec(select(Audit).order_by(col(Audit.id)))]
    assert done == ["account.added", "account.token", "account.password", "account.role", "account.removed"]
