"""OpenID Connect, the whole way through a provider of our own: who has a role gets in with it, nobody else."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard.auth.oidc_provider import CLIENT, SECRET, running_provider
from tests.dashboard.conftest import BrowserThread, running_house

pytestmark = pytest.mark.browser


def test_roles_come_from_the_provider(tmp_path: Path, browser_thread: BrowserThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with running_provider() as provider:
        (tmp_path / "secrets.toml").write_text(
            f"""[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "{"c" * 40}"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{provider.address}/.well-known/openid-configuration"
"""
        )
        roles = '{"cc-agents": "agent", "cc-leads": "manager"}'
        with running_house(tmp_path, "oidc", port=port, oidc_roles=roles) as house:
            own, others = house.floor.call("anna"), house.floor.call("ben")
            own.says("caller", "This is for Anna.")
            others.says("caller", "This is for Ben.")
            provider.claims = {"sub": "1", "preferred_username": "anna", "roles": ["cc-agents"]}
            page = browser_thread.browser.new_context().new_page()
            page.goto(house.address)
            page.get_by_role("button", name="Sign in").click()
            expect(page.locator(".lines")).to_contain_text("This is for Anna.")
            expect(page.get_by_text("anna · agent")).to_be_visible()
            page.goto(f"{house.address}/call?call={others.id}")
            expect(page.get_by_text("There is no such call")).to_be_visible()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("button", name="Sign in")).to_be_visible()
            page.context.close()
            provider.claims = {"sub": "2", "preferred_username": "eve", "roles": ["visitors"]}
            page = browser_thread.browser.new_context().new_page()
            page.goto(house.address)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_text("You cannot come in")).to_be_visible()
            expect(page.get_by_text("Your account eve has no role here.")).to_be_visible()
            expect(page.get_by_role("link", name="Live")).to_have_count(0)
            page.context.close()
