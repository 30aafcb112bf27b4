"""A small assistant for tests of the test runner, and a quick way to play one conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from dialog.engine.default_slots import with_slots
from dialog.engine.engine import Engine
from dialog.flow.faults import FlowFault
from dialog.flow.loading import SHIPPED, load
from dialog.fulfilment.registry import actions
from dialog.fulfilment.types import Action
from dialog.testing.conversation import Conversation
from dialog.testing.reader import parse_conversations
from dialog.testing.suite import SuiteResult, play_suite
from dialog.understanding.keywords import Keywords
from tenor.runtime.assistant.assistant import parsers_of

FILE = "tests.yml"


@lru_cache(maxsize=4)
def engine_of(folder: Path = SHIPPED) -> Engine:
    flow = with_slots(load(folder))
    return Engine(flow, Keywords(), parsers_of(slot.type for slot in flow.slots.values()))


@lru_cache(maxsize=1)
def sample() -> Mapping[str, Action]:
    return actions("sample")


def read(text: str) -> tuple[list[Conversation], list[FlowFault]]:
    return parse_conversations(text, FILE, engine_of().assistant)


def faults(text: str) -> list[str]:
    """What is wrong with a file, as it is told."""
    return [str(one) for one in read(text)[1]]


def play(text: str) -> SuiteResult:
    """Against the shipped assistant, understood by rules."""
    found, wrong = read(text)
    assert not wrong, wrong
    return asyncio.run(play_suite(found, engine_of(), sample))


def differences(text: str) -> list[tuple[int, str, str]]:
    """Line, what was expected, what came instead."""
    return [(one.where.line, one.expected, one.got) for outcome in play(text).outcomes for one in outcome.mismatches]
