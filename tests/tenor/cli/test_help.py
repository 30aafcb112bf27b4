"""What `--help` says of every command and option, as it reaches the reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text

from tenor.cli.app import app


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
