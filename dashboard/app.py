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
from dashboard.corrections import Corrections
from dashboard.model_tools import ModelTools
from dashboard.routes.actions import Actions
from dashboard.routes.feed import Feed
from dashboard.routes.listening import ListeningIn
from dashboard.routes.next_steps import NextSteps
from dashboard.routes.recordings import Recordings
from dashboard.summaries import SummaryChanges
from dashboard.ui import theme
from storage.db.engine import Database, open_database
from storage.labels.publisher import LabelPublisher
from tenor.aio import in_thread
from tenor.bus import Bus, Partition
from tenor.events import SENTENCES
from tenor.redaction import Redactor
from tenor.settings import Settings
from tenor.web.servers import WebServer, listening_socket
from tenor.web.signing import secret_of

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
        site = Site(self._bus, self._settings, database, self._redactor, self._tools)
        options = {"proxy_headers": bool(settings.proxies), "forwarded_allow_ips": settings.proxies}
        server = WebServer(
            site.app(), listener, ws_max_size=LONGEST_MESSAGE, timeout_graceful_shutdown=GOODBYE_S, **options
        )
        async with server:
            log.info("dashboard listens", address=self.address)
            self.ready.set()
            try:
                await site.run()
            except asyncio.CancelledError:
                log.info("dashboard stops")
            finally:
                site.close()

    def _listen(self) -> socket.socket:
        hint = "is another dashboard running? else choose another dashboard.port"
        return listening_socket(self._settings.dashboard.host, self.port, hint)


class Site:
    """All that is served, and what runs behind it."""

    def __init__(self, bus: Bus, settings: Settings, database: Database, redactor: Redactor, tools: ModelTools) -> None:
        self._settings = settings
        given = settings.dashboard
        accounts = Accounts(database)
        self._secret = secret_of(settings)
        ours = accounts.version_of if given.sign_in == "local" else None
        tokens = SignedTokens(self._secret, ours, api_version_of=accounts.version_of, has_ended=accounts.has_ended)
        self._sign_in = SignIn(given, accounts, tokens)
        version, self.routes = _assets()
        self._publisher = LabelPublisher(bus, database)
        summaries = SummaryChanges(bus, database, settings)
        shown = (self._publisher, summaries.codes, version)
        set_context(PageContext(settings, database, tokens, accounts, self._sign_in, tools, *shown))
        self._feed = Feed(bus, database)
        takeovers = Takeovers(bus, database, redactor, self._feed.handovers)
        corrections = Corrections(bus, database, self._publisher, settings)
        actions = Actions(bus, database, tokens, self._publisher, takeovers, summaries, corrections)
        audio = Recordings(settings, database, tokens)
        self.routes += [*self._sign_in.routes(), *self._feed.routes(tokens), *actions.routes(), *audio.routes()]
        self._listening = ListeningIn(bus, database, tokens, settings)
        self.routes += [*NextSteps(settings, tokens).routes(), *self._listening.routes()]
        self._assistant = AssistantSite(bus, database, settings, redactor, self._feed, self._secret)
        self.routes += self._assistant.routes()
        changes = (takeovers, summaries, corrections)
        served = api.create(settings, database, tokens, self._feed, audio, *changes, self._assistant.api)
        self.routes.append(Mount(api.ROOT, served))

    def app(self) -> ASGIApp:
        return _streamlit_app(self.routes, self._sign_in, self._secret, self._settings)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._feed.run())
            group.create_task(self._publisher.run())
            group.create_task(self._assistant.run())

    def close(self) -> None:
        self._feed.close()
        self._listening.close()
        self._assistant.close()


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
        "server.maxUploadSize": 1,  # megabytes: no page takes files
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
