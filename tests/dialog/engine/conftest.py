"""The shipped assistant on the rule-based understander, with sample data and a clock that stands still."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from dialog.chat import Chat, ChatTurn
from dialog.engine import Engine
from tenor.runtime.assistant.assistant import Assistant
from tenor.settings import Settings

NOW = datetime(2026, 11, 18, 10)


class Talk:
    """A conversation, line by line."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.greeting = asyncio.run(chat.start())

    def say(self, *lines: str) -> ChatTurn:
        turns = [asyncio.run(self.chat.say(line)) for line in lines]
        return turns[-1]


@pytest.fixture(scope="session")
def assistant() -> Assistant:
    return Assistant.load(Settings(), model=False)


@pytest.fixture(scope="session")
def engine(assistant: Assistant) -> Engine:
    return assistant.engine


@pytest.fixture
def talk(assistant: Assistant) -> Talk:
    return Talk(assistant.chat(clock=lambda: NOW))
