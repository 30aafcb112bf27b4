"""`tenor assistant parse`: lines in, JSON lines out."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from tenor.cli.commands.assistant.parse import parse
from tenor.errors import BadInput
from tests.tenor.cli.command import tenor

FIELDS = ["text", "intent", "intent_score", "tokens", "tags", "slots"]


def invoked(*arguments: str, stdin: bytes = b"") -> Result:
    app = typer.Typer()
    app.command()(parse)
    return CliRunner().invoke(app, list(arguments), input=stdin)


def answers(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_papers_example(tmp_path: Path) -> None:
    done = tenor("assistant", "parse", cwd=tmp_path, stdin=b"where can i get the best pasta\n")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert list(found) == FIELDS
    assert found["intent"] == "find_the_store"
    assert dict(zip(found["tokens"], found["tags"], strict=True)) == {
        "where": "B-interrogative.location", "can": "O", "i": "O", "get": "B-verb", "the": "B-article",
        "best": "B-rating.high", "pasta": "B-item.type",
    }  # fmt: skip
    assert {"slot": "item.type", "text": "pasta", "start": 6, "end": 7} in found["slots"]


def test_every_line_is_answered_in_its_place_empty_ones_too(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes("will it rain tomorrow\r\n\n🍝🍝\nhello".encode())
    result = invoked(str(file))
    assert result.exit_code == 0
    found = answers(result)
    assert [one["text"] for one in found] == ["will it rain tomorrow", "", "🍝🍝", "hello"]
    assert found[0]["intent"] == "weather.rainfall_yes_no"
    assert found[1] == {"text": "", "intent": "unknown", "intent_score": 0.0, "tokens": [], "tags": [], "slots": []}
    assert found[2]["tokens"] == ["🍝🍝"]


def test_a_line_is_read_as_well_as_in_a_conversation() -> None:
    """The rules and the catalogue decide where the model alone would not."""
    lines = b"how much is sugar\ni need a dentist\ndo you have a store in omaha\ni lost my wallet on the bus\nbye bye\n"
    sugar, dentist, store, wallet, bye = answers(invoked(stdin=lines))
    assert sugar["intent"] == "price_check"
    assert sugar["tags"] == ["B-interrogative.manner", "I-interrogative.manner", "B-verb", "B-item.type"]
    assert (dentist["intent"], store["intent"]) == ("find_the_store", "find_the_store")
    assert wallet["intent"] == "unknown"
    assert all(slot["slot"] != "item.type" for slot in wallet["slots"])
    assert bye["intent"] == "universal.goodbye"


def test_a_line_that_is_not_utf8_is_told_and_the_rest_goes_on() -> None:
    result = invoked(stdin=b"hello\n\xff\xfe\nbye\n")
    assert result.exit_code == 2
    first, second, third = answers(result)
    assert first["text"] == "hello"
    assert second == {"error": "not UTF-8 text", "line": 2}
    assert third["intent"] == "universal.goodbye"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    result = invoked(str(tmp_path / "missing.txt"))
    assert isinstance(result.exception, BadInput)
    assert "missing.txt" in str(result.exception)


def test_a_line_of_100_kilobytes_is_read_in_moments() -> None:
    """Every word is tagged; the time grows with the words and not with their square."""
    began = time.process_time()
    [found] = answers(invoked(stdin=b"a b " * 25_600))
    assert time.process_time() - began < 20
    assert len(found["tokens"]) == len(found["tags"]) == 51_200


def test_a_thing_alone_is_no_small_talk() -> None:
    """As in a conversation, where it is asked what is wanted of it."""
    assert [one["intent"] for one in answers(invoked(stdin=b"milk\nbananas\nhowdy\n"))] == [
        "unknown", "unknown", "smalltalk.greeting",
    ]  # fmt: skip
