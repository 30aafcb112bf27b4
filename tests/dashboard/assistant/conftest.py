"""The assistant's page and API over a real server, on a bus with the assistant's stage at work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from websockets.asyncio.client import ClientConnection, connect

from dashboard import api
from dashboard.assistant import visitors
from dashboard.assistant.site import AssistantSite
from dashboard.assistant.takeover import Takeovers
from dashboard.auth.accounts import Accounts
from dashboard.auth.middleware import AuthMiddleware
from dashboard.auth.sign_in import SignIn
from dashboard.auth.tokens import SignedTokens
from dashboard.corrections import Corrections
from dashboard.routes.feed import Feed
from dashboard.routes.recordings import Recordings
from dashboard.summaries import SummaryChanges
from storage.db.engine import open_database
from storage.labels.publisher import LabelPublisher
from storage.writer.worker import StorageWorker
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import AssistantSettings, BusSettings, DashboardSettings, Settings, SpeechSettings
from tenor.web.servers import WebServer, listening_socket
from tests.dialog.rig import Rig

SECRET = "a secret of this test's own"


@dataclass
class Shop:
    """A server, and what is behind it."""

    client: httpx.AsyncClient
    rig: Rig
    site: AssistantSite
    socket_address: str

    async def begin(self, **wanted: Any) -> Visitor:
        answer = await self.client.post("/assistant/api/sessions", json=wanted)
        assert answer.status_code == 201, answer.text
        return Visitor(self, **answer.json())


@dataclass
class Visitor:
    """A conversation over plain requests."""

    shop: Shop
    session: str
    token: str
    until: float
    after: str = ""
    unread: list[dict[str, Any]] = field(default_factory=list)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def post(self, text: str, **more: str) -> httpx.Response:
        path = f"/assistant/api/sessions/{self.session}/messages"
        return await self.shop.client.post(path, json={"text": text, **more}, headers=self.headers)

    async def get(self, after: str = "", wait: float = 0) -> httpx.Response:
        path = f"/assistant/api/sessions/{self.session}/turns"
        return await self.shop.client.get(path, params={"after": after, "wait": wait}, headers=self.headers)

    async def next(self, kind: str = "turn") -> dict[str, Any]:
        """The next event of a kind."""
        async with asyncio.timeout(20):
            while True:
                while self.unread:
                    if (event := self.unread.pop(0))["type"] == kind:
                        return event
                answer = await self.get(self.after, wait=5)
                assert answer.status_code == 200, answer.text
                self.after, self.unread = answer.json()["after"], answer.json()["turns"]

    async def say(self, text: str) -> dict[str, Any]:
        """A message, and the turn that comes of it."""
        answer = await self.post(text)
        assert answer.status_code == 202, answer.text
        return await self.next()

    @asynccontextmanager
    async def socket(
        self, *, token: str | None = None, after: str = "", **more: Any
    ) -> AsyncIterator[ClientConnection]:
        address = f"{self.shop.socket_address}/assistant/api/sessions/{self.session}"
        async with connect(address, **more) as socket:
            await socket.send(json.dumps({"token": self.token if token is None else token, "after": after}))
            yield socket


async def heard(socket: ClientConnection, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while True:
            event = json.loads(await socket.recv())
            if event["type"] == kind:
                return dict(event)


@asynccontextmanager
async def serving(
    settings: Settings, *, sign_in: str = "none", writer: bool = False, **given: Any
) -> AsyncIterator[Shop]:
    assistant = {"sessions_per_hour": 0, "messages_per_minute": 0, **given.pop("assistant", {})}
    dashboard = DashboardSettings(sign_in=sign_in)
    speech = SpeechSettings(**given.pop("speech", {}))
    update = {"dashboard": dashboard, "assistant": AssistantSettings(**assistant), "speech": speech, **given}
    settings = settings.model_copy(update=update)
    database = open_database(settings)
    accounts = Accounts(database)
    tokens = SignedTokens(SECRET, accounts.version_of)
    async with Rig(settings) as rig:
        rig.start()
        feed = Feed(rig.bus, database)
        redactor = PatternRedactor(speech.redact_kinds)
        site = AssistantSite(rig.bus, database, settings, redactor, feed, SECRET)
        takeovers = Takeovers(rig.bus, database, redactor, feed.handovers)
        audio = Recordings(settings, database, tokens)
        summaries = SummaryChanges(rig.bus, database, settings)
        corrections = Corrections(rig.bus, database, LabelPublisher(rig.bus, database), settings)
        read = api.create(settings, database, tokens, feed, audio, takeovers, summaries, corrections, site.api)
        guard = Middleware(AuthMiddleware, sign_in=SignIn(dashboard, accounts, tokens))
        app = Starlette(routes=[*site.routes(), Mount(api.ROOT, read)], middleware=[guard])
        with listening_socket("127.0.0.1", 0, "") as listener:
            host = f"127.0.0.1:{listener.getsockname()[1]}"
            options = {"lifespan": "off", "timeout_graceful_shutdown": 1, "ws_max_size": 2**21}
            tasks = [asyncio.create_task(feed.run()), asyncio.create_task(site.run())]
            if writer:
                tasks.append(asyncio.create_task(StorageWorker(rig.bus, settings).run()))
            try:
                async with WebServer(app, listener, **options):
                    async with httpx.AsyncClient(base_url=f"http://{host}", timeout=30) as client:
                        yield Shop(client, rig, site, f"ws://{host}")
                    site.close()
            finally:
                for task in tasks:
                    task.cancel()
                for task in tasks:
                    with suppress(asyncio.CancelledError):
                        await task
    database.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """One for a whole file: every test is a visitor of its own."""
    home = tmp_path_factory.mktemp("shop")
    async with serving(Settings(home=home, bus=BusSettings(partitions=4, lease_s=2, patience_s=30))) as made:
        yield made


@pytest.fixture
def few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "MOST_CONNECTIONS", 2)
