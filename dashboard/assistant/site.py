"""The page, its API and the conversations behind them, put together."""

from __future__ import annotations

from starlette.routing import BaseRoute, Mount

from dashboard.assistant import api
from dashboard.assistant.conversations import Conversations
from dashboard.assistant.page import PATH, AssistantPage
from dashboard.assistant.session_token import SessionTokens
from dashboard.assistant.voice import Voice
from dashboard.routes.feed import Feed
from storage.db.engine import Database
from tenor.bus import Bus
from tenor.redaction import Redactor
from tenor.settings import Settings


class AssistantSite:
    def __init__(
        self, bus: Bus, database: Database, settings: Settings, redactor: Redactor, feed: Feed, secret: str
    ) -> None:
        self._conversations = Conversations(bus, database, settings, redactor)
        feed.taps.append(self._conversations)
        voice = Voice(settings, secret)
        self._page = AssistantPage(settings, voice)
        tokens = SessionTokens(secret, settings.assistant.session_hours * 3600)
        self.api = api.create(settings.assistant, self._conversations, tokens, voice)

    def routes(self) -> list[BaseRoute]:
        return [*self._page.routes(), Mount(f"{PATH}/api", self.api)]

    async def run(self) -> None:
        await self._conversations.run()

    def close(self) -> None:
        self._conversations.close()
