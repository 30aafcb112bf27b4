"""Sign-in: nobody asked on this machine alone (`none`), accounts of ours (`local`), or OpenID Connect (`oidc`)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from string import Template
from typing import Any
from urllib.parse import parse_qs, urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dashboard.auth.accounts import ADDRESS_TRIES, FREE_TRIES, Accounts, SignInThrottle
from dashboard.auth.tokens import SESSION, SignedTokens
from dashboard.ui import elements, theme
from storage.viewer import ROLES, Viewer
from tenor.errors import BadInput
from tenor.settings import DashboardSettings
from tenor.web.servers import BodyTooLarge, client_network, is_loopback, limited_body

COOKIE = "tenor_session"
OWNER = Viewer("administrator", "administrator")
"""Who looks when nobody is asked: the person at this machine."""
LONGEST_FORM = 4096


class SignIn:
    def __init__(self, settings: DashboardSettings, accounts: Accounts, tokens: SignedTokens) -> None:
        if settings.sign_in == "none" and not is_loopback(settings.host):
            raise BadInput(
                f"without a sign-in the dashboard is for this machine only, not for {settings.host}",
                "set dashboard.sign_in to local or oidc, or dashboard.host to 127.0.0.1",
            )
        self.kind = settings.sign_in
        self._settings = settings
        self._accounts = accounts
        self._tokens = tokens
        self._account_throttle, self._address_throttle = SignInThrottle(FREE_TRIES), SignInThrottle(ADDRESS_TRIES)
        self._password_checks = asyncio.Semaphore(2)  # a password takes 64 MB and a core to check

    @property
    def lasts_s(self) -> float:
        return self._settings.session_hours * 3600

    def session(self, cookies: Mapping[str, str]) -> Viewer | None:
        """Who signed in with this browser, when accounts are ours."""
        return self._tokens.viewer(cookies.get(COOKIE, ""), SESSION)

    def viewer(self) -> Viewer:
        """Who looks at the page that is being made. Somebody we do not know is told so, and the page ends here."""
        if self.kind == "none":
            if "looks_as" not in st.session_state:
                st.session_state["looks_as"] = _looks_as(st.query_params.get("as", ""))
            return st.session_state["looks_as"]  # type: ignore[no-any-return]
        if self.kind == "local":
            viewer = self.session(st.context.cookies)
            if viewer is None:
                elements.notice("You are signed out", "Your session has ended.", link=("Sign in", "/sign-in"))
                st.stop()
            return viewer
        return self._viewer_of_provider()

    def sign_out(self, assets: str) -> None:
        """In the sidebar, where there is somebody to sign out."""
        if self.kind == "oidc":
            st.sidebar.button("Sign out", on_click=st.logout, type="tertiary", icon=":material/logout:")
        elif self.kind == "local":
            elements.sign_out_button(assets)

    def routes(self) -> list[BaseRoute]:
        if self.kind != "local":
            return []
        return [
            Route("/sign-in", self._form, methods=["GET"]),
            Route("/sign-in", self._enter, methods=["POST"]),
            Route("/sign-out", self._leave, methods=["POST"]),
        ]

    def _viewer_of_provider(self) -> Viewer:
        if not st.user.is_logged_in:
            elements.notice(f"Sign in to {self._settings.title}", "Your organisation signs you in.")
            provider = self._settings.oidc_provider or None
            _, middle, _ = st.columns([1, 1, 1])
            middle.button("Sign in", on_click=st.login, args=[provider], type="primary", width="stretch")
            st.stop()
        claims = st.user.to_dict()
        name = str(claims.get(self._settings.oidc_account_claim) or "")
        role = role_of(claims, self._settings)
        if not name or role is None:
            missing = "has no role here" if name else f"comes without the claim {self._settings.oidc_account_claim!r}"
            elements.notice("You cannot come in", f"Your account {name} {missing}. Ask whoever runs this dashboard.")
            _, middle, _ = st.columns([1, 1, 1])
            middle.button("Sign out", on_click=st.logout, width="stretch")
            st.stop()
        return Viewer(name, role)  # type: ignore[arg-type]

    async def _form(self, request: Request) -> Response:
        if self.session(request.cookies):
            return RedirectResponse(_inside(request.query_params.get("next", "")), 303)
        return self._page(request.query_params.get("next", ""))

    async def _enter(self, request: Request) -> Response:
        if not is_same_origin(request.headers):
            return self._page("", "That came from another site. Try again here.", status=403)
        try:
            sent = await limited_body(request, LONGEST_FORM)
        except BodyTooLarge:
            return self._page("", "That is no sign-in.", status=413)
        form = parse_qs(sent.decode("utf-8", "replace"))
        name, password, target = (form.get(field, [""])[0] for field in ("name", "password", "next"))
        address = client_network(request)
        account = f"{address} {name}"  # who guesses elsewhere must not keep the owner of the name out
        if wait := max(self._account_throttle.wait_s(account), self._address_throttle.wait_s(address)):
            return self._page(target, f"Too many tries. Wait {wait:.0f} s, then try again.", name=name, status=429)
        self._account_throttle.failed(account)  # until shown otherwise, so that many tries at once count too
        self._address_throttle.failed(address)
        async with self._password_checks:
            viewer = await asyncio.to_thread(self._accounts.check, name, password)
        if viewer is None:
            return self._page(target, "That name and password do not belong together.", name=name, status=401)
        self._account_throttle.succeeded(account)
        self._address_throttle.succeeded(address)
        response = RedirectResponse(_inside(target), 303)
        token = self._tokens.issue(replace(viewer, session=secrets.token_urlsafe(12)), SESSION, self.lasts_s)
        secure = request.url.scheme == "https"
        response.set_cookie(
            COOKIE, token, max_age=int(self.lasts_s), httponly=True, samesite="lax", secure=secure, path="/"
        )
        return response

    async def _leave(self, request: Request) -> Response:
        if not is_same_origin(request.headers):
            return Response(status_code=403)
        if viewer := self.session(request.cookies):
            await asyncio.to_thread(self._accounts.end_session, viewer.session, self.lasts_s)
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    def _page(self, target: str, trouble: str = "", *, name: str = "", status: int = 200) -> HTMLResponse:
        page = Template(theme.asset("sign_in.html")).substitute(
            title=escape(self._settings.title),
            icon=theme.icon(),
            trouble=escape(trouble),
            hidden="" if trouble else "hidden",
            name=escape(name, quote=True),
            next=escape(_inside(target), quote=True),
        )
        return HTMLResponse(page, status, headers={"Cache-Control": "no-store"})


def role_of(claims: Mapping[str, Any], settings: DashboardSettings) -> str | None:
    """The role that the provider's claims give; the mightiest of several, None for none."""
    held: Any = claims
    for part in settings.oidc_role_claim.split("."):  # `realm_access.roles`, as Keycloak has it
        held = held.get(part) if isinstance(held, Mapping) else None
    values = [held] if isinstance(held, str) else [value for value in held or () if isinstance(value, str)]
    roles = {settings.oidc_roles.get(value) for value in values}
    return next((role for role in reversed(ROLES) if role in roles), None)


def _looks_as(wanted: str) -> Viewer:
    """Where nobody signs in, `?as=agent:anna` in the address shows what she sees, `?as=manager` what managers see."""
    role, _, name = wanted.partition(":")
    return Viewer(name or role, role) if role in ROLES else OWNER


def is_same_origin(headers: Headers) -> bool:
    """Whether a browser sends this from a page of ours; a form of another site is not."""
    if (site := headers.get("sec-fetch-site")) is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host")


def _inside(target: str) -> str:
    """A place of ours to go on to; never another site."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or not target.startswith("/") or target.startswith("//") or "\\" in target:
        return "/"
    return target
