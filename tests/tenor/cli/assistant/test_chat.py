"""`tenor assistant chat`: a line in, a JSON line out, at once and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialog.flow.loading import SHIPPED
from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow

KEYS = ["turn", "input", "intent", "slots", "state", "actions", "replies", "context", "ended"]


def chat(tmp_path: Path, stdin: bytes, *arguments: str) -> list[dict[str, Any]]:
    done = tenor("assistant", "chat", "--json", "--at", "2026-11-18T10:00", *arguments, cwd=tmp_path, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_line_gets_one_json_line(tmp_path: Path) -> None:
    lines = b"will it rain next week in Los Angeles?\n\n\xff\xfe\x00\n" + b"x" * 100_000 + b"\nagent\r\nno end"
    turns = chat(tmp_path, lines, "--provider", "sample")
    assert [turn["turn"] for turn in turns] == list(range(7))
    assert all(list(turn) == KEYS for turn in turns)
    assert turns[0]["input"] is None
    assert turns[0]["replies"] == ["Hi, welcome to NARA retail and weather service. How can I help you?"]
    rain = turns[1]
    assert rain["input"] == "will it rain next week in Los Angeles?"
    assert rain["state"] == "main_flow.input_intent"
    assert [list(action) for action in rain["actions"]] == [["name", "arguments", "result", "error"]]
    assert rain["actions"][0]["arguments"] == {
        "location": "Los Angeles",
        "when": {"text": "next week", "from": "2026-11-23", "to": "2026-11-29"},
        "measure": "rain",
    }
    assert turns[2]["input"] == ""
    assert [action["name"] for action in turns[5]["actions"]] == ["handover"]
    assert turns[6]["input"] == "no end"
    assert all(turn["replies"] for turn in turns if (turn["input"] or "").strip())
    assert not any(turn["ended"] for turn in turns)


def test_no_input_is_a_greeting_and_a_clean_end(tmp_path: Path) -> None:
    assert len(chat(tmp_path, b"")) == 1


def test_a_clock_that_is_none_is_told(tmp_path: Path) -> None:
    done = tenor("assistant", "chat", "--json", "--at", "noon", cwd=tmp_path)
    assert done.returncode == 2
    assert "2026-11-18T10:00" in done.stderr


def test_an_unknown_provider_is_told(tmp_path: Path) -> None:
    done = tenor("assistant", "chat", "--json", "--provider", "nobody", cwd=tmp_path)
    assert done.returncode == 2
    assert "nobody" in done.stderr


def test_the_settings_say_whose_flows_are_talked_to(tmp_path: Path) -> None:
    assert tenor("assistant", "new", tmp_path / "mine", cwd=tmp_path).returncode == 0
    (tmp_path / "tenor.toml").write_text('[assistant]\nflows = "mine"\n')
    greeting, asked = chat(tmp_path, b"where is the nearest pharmacy\n")
    assert "NARA" not in greeting["replies"][0]
    assert asked["replies"] == ["Which city are you in?"]
    shipped, _ = chat(tmp_path, b"where is the nearest pharmacy\n", "--flows", str(SHIPPED))
    assert "NARA" in shipped["replies"][0]


def test_flows_of_the_settings_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "tenor.toml").write_text('[assistant]\nflows = "nowhere"\n')
    done = tenor("assistant", "chat", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere" in done.stderr
