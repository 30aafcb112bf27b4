"""The conversation tests of an assistant, put together with what it runs on. Usable from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialog.flow.loading import SUFFIXES
from dialog.fulfilment.registry import actions as shipped_actions
from dialog.fulfilment.registry import actions_of
from dialog.fulfilment.types import Action
from dialog.testing.suite import TESTS, SuiteResult, conversation_files, play_suite, read_suite
from tenor.errors import BadInput
from tenor.runtime.assistant.assistant import Assistant
from tenor.settings import Settings


@dataclass(frozen=True, slots=True)
class SuiteSelection:
    """Which assistant is tested with which files."""

    flows: Path
    files: tuple[Path, ...]


def select(given: Sequence[Path], flows: Path | None, in_force: Path) -> SuiteSelection:
    """A folder is an assistant with its `tests`, or such a folder of tests; files in a folder `tests` belong to the
    assistant beside it. `flows` names the assistant; without it and without a hint it is the one in force."""
    files: list[Path] = []
    owner = flows
    for path in given or [flows or in_force]:
        if path.is_dir():
            is_tests = path.name == TESTS and not (path / TESTS).is_dir()
            folder = path.absolute().parent if is_tests else path
            owner = owner or folder
            found = [one for one in sorted(path.rglob("*")) if one.suffix in SUFFIXES] if is_tests else []
            files += found or conversation_files(path)
        elif path.is_file():
            if owner is None and path.absolute().parent.name == TESTS:
                owner = path.absolute().parent.parent
            files.append(path)
        else:
            raise BadInput(f"there is no file or folder {path}", "give an assistant's folder, or files of its tests")
    return SuiteSelection(owner or in_force, tuple(files))


async def run_conversations(
    settings: Settings, selection: SuiteSelection, *, name: str = "", model: bool = True
) -> SuiteResult:
    """Play the tests against the sample providers; BadInput tells what is wrong with flows or tests."""
    assistant = Assistant.load(settings, flows=selection.flows, model=model)
    conversations = read_suite(selection.files, assistant.engine.assistant, name)

    def actions() -> Mapping[str, Action]:
        shipped = shipped_actions("sample")
        return {**shipped, **actions_of(assistant.engine.assistant.actions, shipped)}

    return await play_suite(conversations, assistant.engine, actions)
