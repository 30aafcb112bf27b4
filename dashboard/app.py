"""The dashboard as a stage: Streamlit's pages, the live feed, sign-in and the API, served by one uvicorn."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from importlib.resources import as_file, files
from pathlib import Path

import structlog
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from dashboard import api, frame, look
from dashboard.accounts import Accounts
from dashboard.actions import Actions
from dashboard.audio import Audio
from dashboard.door import Door
from dashboard.feed import Feed
from dashboard.frame import Frame
from dashboard.next_steps import NextSteps
from dashboard.sign_in import SignIn
from dashboard.tickets import Tickets, secret_of
from storage.database import Database, open_database
from tenor.bus import Bus
from tenor.errors import Unavailable
from tenor.settings import Settings

log = structlog.get_logger(__name__)

SCRIPT = Path(__file__).with_name("main.py")
GOODBYE_S = 1
"""How long what is being answered may take when we stop."""


class Dashboard:
    """Serves until cancelled. Streamlit allows one of these a process."""

    name = "dashboard"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self.ready = asyncio.Event()
        self.port = settings.dashboard.port
        self._bus = bus
        self._settings = settings

    @property
    def address(self) -> str:
        host = self._settings.dashboard.host
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}"

    async def run(self) -> None:
        database = await asyncio.to_thread(open_database, self._settings)
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
        tickets = Tickets(secret, ours, token_version_of=accounts.version_of)
        sign_in = SignIn(settings, accounts, tickets)
        version, routes = _assets()
        frame.put_up(Frame(self._settings, database, tickets, accounts, sign_in, version))
        feed = Feed(self._bus, database)
        actions = Actions(self._bus, database, tickets, feed, self._settings)
        audio = Audio(self._settings, database, tickets)
        steps = NextSteps(self._settings, tickets)
        routes += [*sign_in.routes(), *feed.routes(tickets), *actions.routes(), *audio.routes(), *steps.routes()]
        routes.append(Mount(api.ROOT, api.create(self._settings, database, tickets, feed, audio)))
        server = self._server(routes, sign_in, secret)
        await server.startup([listener])
        log.info("dashboard listens", address=self.address)
        self.ready.set()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(feed.run())
                group.create_task(server.main_loop())
        except asyncio.CancelledError:
            log.info("dashboard stops")
        finally:
            feed.close()
            await server.shutdown([listener])

    def _server(self, routes: list[BaseRoute], sign_in: SignIn, secret: str) -> uvicorn.Server:
        app = _streamlit_app(routes, sign_in, secret, self._settings)
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="websockets-sansio",
            ws_max_size=64 * 1024 * 1024,
            timeout_graceful_shutdown=GOODBYE_S,
        )
        config.load()
        # Started and stopped by hand: `serve` would take the signals, which belong to whoever runs the stages.
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        return server

    def _listen(self) -> socket.socket:
        host = self._settings.dashboard.host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, self.port))
        except OSError as error:
            listener.close()
            raise Unavailable(
                f"cannot listen on {host}:{self.port}: {error.strerror or error}",
                "is another dashboard running? else choose another dashboard.port",
            ) from None
        return listener


def _streamlit_app(routes: list[BaseRoute], sign_in: SignIn, secret: str, settings: Settings) -> ASGIApp:
    from streamlit import config
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.starlette import App

    options = look.streamlit_options() | {
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
    return App(SCRIPT, routes=routes, middleware=[Middleware(Door, sign_in=sign_in)])


class _Kept(StaticFiles):
    """Files whose address changes with their content."""

    def file_response(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _assets() -> tuple[str, list[BaseRoute]]:
    with as_file(files("dashboard") / "assets") as folder:
        content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
        address = f"/assets/{hashlib.sha256(content).hexdigest()[:12]}"
        return address, [Mount(address, _Kept(directory=folder))]
