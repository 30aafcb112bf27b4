"""The dashboard as a stage: Streamlit's pages, the live feed, sign-in, the API and the page for shoppers, served by one
uvicorn."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from importlib.resources import as_file, files
from pathlib import Path

import structlog
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from dashboard import api
from dashboard.assistant.site import AssistantSite
from dashboard.assistant.takeover import Takeovers
from dashboard.auth.accounts import Accounts
from dashboard.auth.middleware import AuthMiddleware
from dashboard.auth.sign_in import SignIn
from dashboard.auth.tokens import SignedTokens
from dashboard.context import PageContext, set_context
from dashboard.model_tools import ModelTools
from dashboard.routes.actions import Actions
from dashboard.routes.feed import Feed
from dashboard.routes.next_steps import NextSteps
from dashboard.routes.recordings import Recordings
from dashboard.ui import theme
from storage.db.engine import Database, open_database
from storage.labels.publisher import LabelPublisher
from tenor.aio import in_thread
from tenor.bus import Bus, Partition
from tenor.events import SENTENCES
from tenor.net import WebServer, listening_socket
from tenor.redaction import Redactor
from tenor.settings import Settings
from tenor.signing import secret_of

log = structlog.get_logger(__name__)

SCRIPT = Path(__file__).with_name("main.py")
LONGEST_MESSAGE = 2 * 1024 * 1024
"""Of a WebSocket, in bytes: far more than a page's elements hold, and little enough to come from a stranger."""
GOODBYE_S = 1
"""How long what is being answered may take when we stop."""


class Dashboard:
    """Serves until cancelled. Streamlit allows one of these a process."""

    name = "dashboard"

    def __init__(self, bus: Bus, settings: Settings, *, redactor: Redactor, tools: ModelTools) -> None:
        self.ready = asyncio.Event()
        self.port = settings.dashboard.port
        self._bus = bus
        self._database: Database | None = None
        self._settings = settings
        self._redactor = redactor
        self._tools = tools

    @property
    def address(self) -> str:
        host = self._settings.dashboard.host
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}"

    async def waits_for(self) -> str:
        if self._database is None or not self.ready.is_set():
            return "its port"
        await self._bus.bounds(Partition(SENTENCES.name, 0))
        return await in_thread(self._database.fault)

    async def run(self) -> None:
        database = self._database = await asyncio.to_thread(open_database, self._settings)
        try:
            with self._listen() as listener:
                self.port = listener.getsockname()[1]
                await self._serve(database, listener)
        finally:
            database.close()

    async def _serve(self, database: Database, listener: socket.socket) -> None:
        settings = self._settings.dashboard
        accounts = Accounts(database)
        secret = secret_of(self._settings)
        ours = accounts.version_of if settings.sign_in == "local" else None
        tokens = SignedTokens(secret, ours, api_version_of=accounts.version_of, has_ended=accounts.has_ended)
        sign_in = SignIn(settings, accounts, tokens)
        version, routes = _assets()
        publisher = LabelPublisher(self._bus, database)
        set_context(PageContext(self._settings, database, tokens, accounts, sign_in, self._tools, publisher, version))
        feed = Feed(self._bus, database)
        takeovers = Takeovers(self._bus, database, self._redactor, feed.handovers)
        actions = Actions(self._bus, database, tokens, publisher, takeovers, self._settings)
        audio = Recordings(self._settings, database, tokens)
        steps = NextSteps(self._settings, tokens)
        routes += [*sign_in.routes(), *feed.routes(tokens), *actions.routes(), *audio.routes(), *steps.routes()]
        assistant = AssistantSite(self._bus, database, self._settings, self._redactor, feed, secret)
        routes += assistant.routes()
        served = api.create(self._settings, database, tokens, feed, audio, takeovers, assistant.api)
        routes.append(Mount(api.ROOT, served))
        app = _streamlit_app(routes, sign_in, secret, self._settings)
        options = {"proxy_headers": bool(settings.proxies), "forwarded_allow_ips": settings.proxies}
        server = WebServer(app, listener, ws_max_size=LONGEST_MESSAGE, timeout_graceful_shutdown=GOODBYE_S, **options)
        async with server:
            log.info("dashboard listens", address=self.address)
            self.ready.set()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(feed.run())
                    group.create_task(publisher.run())
                    group.create_task(assistant.run())
            except asyncio.CancelledError:
                log.info("dashboard stops")
            finally:
                feed.close()
                assistant.close()

    def _listen(self) -> socket.socket:
        hint = "is another dashboard running? else choose another dashboard.port"
        return listening_socket(self._settings.dashboard.host, self.port, hint)


def _streamlit_app(routes: list[BaseRoute], sign_in: SignIn, secret: str, settings: Settings) -> ASGIApp:
    from streamlit import config
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.starlette import App

    options = theme.streamlit_options() | {
        "browser.gatherUsageStats": False,
        "client.showErrorDetails": "none",
        "runner.magicEnabled": False,
        "server.fileWatcherType": "none",
        "server.headless": True,
        "server.cookieSecret": hashlib.sha256(f"streamlit {secret}".encode()).hexdigest(),
        "secrets.files": [*config.get_option("secrets.files"), str(settings.home.absolute() / "secrets.toml")],
    }
    for name, value in options.items():
        config.set_option(name, value)
    # A folder `pages` beside the script was once Streamlit's way to say what the pages are; ours are in a list.
    PagesManager.uses_pages_directory = False
    return App(SCRIPT, routes=routes, middleware=[Middleware(AuthMiddleware, sign_in=sign_in)])


class _ImmutableFiles(StaticFiles):
    """Files whose address changes with their content."""

    def file_response(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _assets() -> tuple[str, list[BaseRoute]]:
    with as_file(files("dashboard") / "assets") as folder:
        content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
        address = f"/assets/{hashlib.sha256(content).hexdigest()[:12]}"
        return address, [Mount(address, _ImmutableFiles(directory=folder))]
