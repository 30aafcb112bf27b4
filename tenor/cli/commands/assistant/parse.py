"""`tenor assistant parse`: intent and slots of sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from tenor.cli.output import complain
from tenor.errors import BadInput

if TYPE_CHECKING:
    from nlp.inference.assistant.assistant_model import Parsed


def parse(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Text files; without any, standard input.")
    ] = None,
    model: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Another model than the shipped one.")] = None,
) -> None:
    """Tell what sentences ask for and what they name. One JSON line for each line, empty ones too.

    A sentence is read as the assistant reads it in a conversation: by the model, the rules and the shop's catalogue.

    A line that is not UTF-8 text gives {"error", "line"}, the rest goes on, and the command exits with 2.
    """
    from tenor.runtime.assistant.line_parser import LineParser

    if not files and sys.stdin.isatty():
        raise BadInput("nothing to parse", "tenor assistant parse FILE, or lines on standard input")
    reader = LineParser(model)
    wrong = False
    for number, line in _lines(files or []):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            wrong = True
            complain(f"line {number} is not UTF-8 text")
            _print({"error": "not UTF-8 text", "line": number})
            continue
        _print(_shown(reader.read(text)))
    if wrong:
        raise typer.Exit(2)


def _lines(files: list[Path]) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, from 1 in each file, as they come."""
    if not files:
        yield from _numbered(sys.stdin.buffer)
    for path in files:
        try:
            with path.open("rb") as file:
                yield from _numbered(file)
        except OSError as error:
            raise BadInput(f"cannot read {path}: {error.strerror}") from None


def _numbered(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(file, 1):
        yield number, line.rstrip(b"\n").removesuffix(b"\r")


def _shown(parsed: Parsed) -> dict[str, object]:
    from nlp.inference.assistant.assistant_model import printed_intent

    return {
        "text": parsed.text,
        "intent": printed_intent(parsed.intent),
        "intent_score": round(parsed.intent_score, 4),
        "tokens": parsed.tokens,
        "tags": parsed.tags,
        "slots": parsed.slots,
    }


def _print(value: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()
