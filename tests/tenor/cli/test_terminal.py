"""Results, words about the work and bars on one screen: nothing is overwritten, nothing is glued together."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import soundfile

from tests.tenor.cli.command import tenor
from tests.tenor.cli.speech import WORDS, reading
from tests.tenor.cli.terminal import on_screen

CHAT = "Agent: How can I help you?\nCustomer: My parcel never came, and that makes me so very angry.\n"
MAIL = "Agent: Good morning.\nCustomer: I would like to return my shoes, please.\n"

ALL_AT_ONCE = """
import sys, time
import structlog
from rich.text import Text
from tenor.cli.output import console, echo, errors, progress
from tenor.settings import TelemetrySettings
from tenor.telemetry import configure
configure(TelemetrySettings(log_format="json"))
with progress() as bars:
    for name in ("all files", "one", "two"):
        bars.add_task(name, total=None, detail="0:00")
    for number in range(10, 40):
        console.print(f"[bold]result {number}[/]", soft_wrap=True)
        errors.print(f"remark {number}")
        print(f"written {number}", flush=True)
        echo(f"echoed {number} " + 12 * "and so on ")
        structlog.get_logger().warning(f"logged {number}")
        sys.stderr.write(f"half {number}, ")
        sys.stderr.write("and the rest\\n")
        time.sleep(0.02)
    sys.stdout.write("no end")
print(", the end")
"""


@pytest.mark.parametrize("columns", [160, 30])
@pytest.mark.slow
def test_whatever_is_written_while_bars_move_stands_above_them(columns: int, tmp_path: Path) -> None:
    lines = on_screen([sys.executable, "-c", ALL_AT_ONCE], columns=columns, cwd=tmp_path)
    text = "".join(lines).replace(" ", "")
    places = []
    for number in range(10, 40):
        said = f"result{number} remark{number} written{number} echoed{number} logged{number} half{number},andtherest"
        for words in said.split():
            assert text.count(words) == 1, words
            places.append(text.index(words))
    assert places == sorted(places)
    assert "allfiles" not in text  # the bars are gone
    assert lines[-2:] == ["no end", ", the end"]
    assert {"result 10", "remark 39", "written 29"} <= set(lines)  # each on a line of its own


@pytest.mark.slow
def test_what_goes_into_a_file_or_nowhere_is_not_on_the_screen(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        lines = on_screen([sys.executable, "-c", ALL_AT_ONCE], columns=160, cwd=tmp_path, stdout=out)
    assert (len(lines), lines[0], lines[-1]) == (90, "remark 10", "half 39, and the rest")
    results = (tmp_path / "out").read_text().splitlines()
    assert (len(results), results[0], results[-1]) == (91, "result 10", "no end, the end")
    with (tmp_path / "err").open("wb") as err:
        lines = on_screen([sys.executable, "-c", ALL_AT_ONCE], columns=160, cwd=tmp_path, stderr=err)
    assert (lines[0], lines[-1]) == ("result 10", "no end, the end")
    assert len((tmp_path / "err").read_text().splitlines()) == 90


@pytest.mark.slow
def test_analyze_shows_in_a_terminal_what_it_writes_into_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "mail.txt").write_text(MAIL)
    piped = tenor("analyze", "chat.txt", "mail.txt", cwd=tmp_path)
    said = [line.rstrip() for line in (piped.stdout + piped.stderr).splitlines()]
    command = [sys.executable, "-m", "tenor", "analyze", "chat.txt", "mail.txt"]
    assert on_screen(command, columns=120, cwd=tmp_path) == said
    narrow = on_screen(command, columns=40, cwd=tmp_path)
    assert "".join("".join(narrow).split()) == "".join("".join(said).split())
    assert {"chat.txt", "mail.txt"} <= set(narrow)


@pytest.mark.slow
def test_transcribe_shows_every_line_of_its_recordings(tmp_path: Path) -> None:
    for name in ("one.wav", "two.wav"):
        soundfile.write(tmp_path / name, reading(5 if name == "one.wav" else 7), 16_000)
    with open(os.devnull, "wb") as nowhere:
        lines = on_screen(
            [sys.executable, "-m", "tenor", "transcribe", "two.wav", "one.wav"],
            columns=200,
            cwd=tmp_path,
            stderr=nowhere,
        )
    parts = " ".join(lines).lower().replace("one.wav", "two.wav").split("two.wav")
    assert (lines[0], len(parts)) == ("two.wav", 3)
    assert all(WORDS[0] in part and WORDS[1] in part for part in parts[1:])
    assert all(line in ("one.wav", "two.wav") or re.match(r" +0:\d\d  caller  \w", line) for line in lines)
