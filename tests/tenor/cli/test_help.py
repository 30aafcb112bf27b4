"""What `--help` says of every command and option, as it reaches the reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from tenor.cli.app import app
from tenor.errors import BadInput


def help_texts(command: Any, name: str = "tenor") -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for part, one in getattr(command, "commands", {}).items():
        yield from help_texts(one, f"{name} {part}")


def test_no_help_text_loses_what_stands_in_brackets() -> None:
    """`pip install 'tenor[finetune]'` in a help text: rich takes the brackets for a style and shows `tenor`."""
    texts = list(help_texts(typer.main.get_command(app)))
    assert any("finetune" in name for name, _ in texts)
    for name, text in texts:
        assert Text.from_markup(text).plain == text.replace("\\[", "["), name


def commands(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that call it."""
    parts = getattr(command, "commands", {})
    if not parts:
        yield name, command
    for part, one in parts.items():
        yield from commands(one, (*name, part))


COMMANDS = dict(commands(typer.main.get_command(app)))
BOUNDS = {"--since", "--until", "--before", "--after", "--older-than"}
TAKE_TIMES = [
    (name, flag) for name, one in COMMANDS.items() for parameter in one.params for flag in BOUNDS & {*parameter.opts}
]


@pytest.mark.parametrize(
    ("name", "flag"), TAKE_TIMES, ids=lambda part: part if isinstance(part, str) else " ".join(part)
)
def test_times_have_one_form_in_all_commands(name: tuple[str, ...], flag: str, tmp_path: Path) -> None:
    parameters = COMMANDS[name].params
    (option,) = (parameter for parameter in parameters if flag in parameter.opts)
    assert option.metavar == "TIME"
    needed = ["x" for parameter in parameters if parameter.param_type_name == "argument" and parameter.required]
    ended = CliRunner().invoke(app, ["--home", str(tmp_path), *name, *needed, flag, "soon"])
    assert isinstance(ended.exception, BadInput)
    assert ended.exception.message == "'soon' is no time"
    assert {"2026-11-01,", "12h,", "8w"} <= {*ended.exception.hint.split()}


@pytest.mark.parametrize("name", COMMANDS, ids=" ".join)
def test_no_flag_is_cut_off_in_a_terminal_of_80_columns(name: tuple[str, ...]) -> None:
    assert "\N{HORIZONTAL ELLIPSIS}" not in CliRunner().invoke(app, [*name, "--help"], env={"COLUMNS": "80"}).stdout
