"""The conversation tests of an assistant: found, read, played, summed up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialog.engine.engine import Engine
from dialog.flow.faults import FaultyAssistant, FlowFault
from dialog.flow.loading import SUFFIXES
from dialog.flow.model import Assistant
from dialog.fulfilment.types import Action
from dialog.testing.conversation import Conversation
from dialog.testing.coverage import Coverage
from dialog.testing.outcome import ConversationOutcome
from dialog.testing.player import Player
from dialog.testing.reader import read_conversations
from tenor.errors import BadInput

TESTS: Final = "tests"
"""The folder, beside an assistant's flows, that holds its conversation tests."""


@dataclass(frozen=True, slots=True)
class SuiteResult:
    outcomes: tuple[ConversationOutcome, ...]
    coverage: Coverage

    @property
    def failed(self) -> tuple[ConversationOutcome, ...]:
        return tuple(one for one in self.outcomes if not one.passed)


def conversation_files(folder: Path) -> list[Path]:
    """The test files of an assistant's folder."""
    tests = folder / TESTS
    found = sorted(one for one in tests.rglob("*") if one.suffix in SUFFIXES and one.is_file())
    if not found:
        raise BadInput(f"{tests} has no .yml file", "conversation tests lie in the folder `tests` beside the flows")
    return found


def read_suite(files: Sequence[Path], assistant: Assistant, name: str = "") -> list[Conversation]:
    """Every conversation of the files whose name contains `name`; FaultyTests tells every mistake."""
    found: list[Conversation] = []
    faults: list[FlowFault] = []
    for path in dict.fromkeys(files):
        conversations, wrong = read_conversations(path, assistant)
        faults += wrong
        found += [one for one in conversations if name.lower() in one.name.lower()]
    if faults:
        raise FaultyTests(faults)
    if not found:
        raise BadInput(f"no conversation is called like {name!r}", "leave -k out to run all of them")
    return found


class FaultyTests(FaultyAssistant):
    """Test files with mistakes."""

    def __init__(self, faults: Sequence[FlowFault]) -> None:
        super().__init__(faults)
        self.hint = "no conversation was played"


async def play_suite(
    conversations: Sequence[Conversation], engine: Engine, make_actions: Callable[[], Mapping[str, Action]]
) -> SuiteResult:
    """Play them one after the other. What one of them changes in the shop, the next does not meet."""
    coverage = Coverage(engine.assistant)
    outcomes: list[ConversationOutcome] = []
    actions = make_actions()
    for conversation in conversations:
        player = Player(engine, actions, conversation, coverage)
        outcomes.append(await player.play())
        if player.changed:
            actions = make_actions()
    return SuiteResult(tuple(outcomes), coverage)
