"""`tenor.runtime` from Python: what a data scientist in a notebook and a program that embeds it get."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tenor.errors import BadInput, TenorError, Unavailable
from tenor.runtime import (
    BatchProgress,
    MissingInput,
    analysis_document,
    analyze,
    analyze_async,
    batch_settings,
    find_inputs,
    load_settings,
    recording_options,
    transcribe,
)
from tenor.settings import Settings
from tests.tenor.cli.command import environment, tenor

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "conversations"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)  # no tenor.toml
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return batch_settings({"home": tmp_path / "home"})


def nothing_is_left(folder: Path) -> bool:
    return not list(folder.glob("tenor-*")) and "tenor" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.slow
def test_results_are_what_the_command_prints(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    paths = [EXAMPLES / "late-parcel.csv", tmp_path / "empty.txt", tmp_path / "missing.txt"]
    told: list[BatchProgress] = []
    results = list(analyze(paths, settings, progress=told.append))
    printed = tenor("--home", tmp_path / "home", "analyze", "--json", *paths, cwd=tmp_path)
    hours = ("started_at",)
    documents = [analysis_document(result) for result in results]
    expected = [json.loads(line) for line in printed.stdout.splitlines()]
    for document in [*documents, *expected]:
        for key in hours:
            document["call"].pop(key, None)
    assert json.loads(json.dumps(documents)) == expected
    assert [result.file for result in results[:2]] == ["late-parcel.csv, C-2041", "late-parcel.csv, C-2042"]
    assert [isinstance(result.error, BadInput) for result in results] == [False, False, True, True]
    assert (told[0].done, told[-1].done, told[-1].files) == (0, 3, 3)
    assert nothing_is_left(tmp_path)


@pytest.mark.slow
def test_what_is_stored_is_not_analysed_again(settings: Settings, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("Customer: My parcel is late and I want to cancel.\n")
    [first] = analyze(chat, settings, store=True)
    [second] = analyze(chat, settings, store=True)
    [third] = analyze(chat, settings, store=True, again=True)
    assert [(result.stored, result.already_stored) for result in (first, second, third)] == [
        (True, False),
        (True, True),
        (True, False),
    ]
    assert [said.text for said in second.sentences] == [said.text for said in first.sentences]


def test_options_make_the_call(settings: Settings, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("Customer: My card is 6011 0009 9013 9424.\n")
    options = recording_options(settings, redact="text", queue="cards", agent="nadia", attributes={"study": "7"})
    [result] = analyze(chat, settings, options=options)
    assert result.sentences[0].text == "My card is [card]."
    assert result.info is not None
    assert (result.info.queue, result.info.agent, result.info.attributes["study"]) == ("cards", "nadia", "7")


def test_leaving_the_loop_ends_the_work(settings: Settings, tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    chats.mkdir()
    for number in range(30):
        (chats / f"{number}.txt").write_text(f"Customer: My parcel {number} is late.\n")
    results = analyze(chats, settings)
    assert next(results).sentences
    results.close()
    assert nothing_is_left(tmp_path)


async def test_in_a_notebook_which_has_an_event_loop(settings: Settings) -> None:
    [result] = analyze(EXAMPLES / "subscription.txt", settings)
    assert result.metrics is not None
    assert result.metrics.task == "cancel"


async def test_in_a_program_with_an_event_loop(settings: Settings, tmp_path: Path) -> None:
    [result] = [result async for result in analyze_async(EXAMPLES / "subscription.txt", settings)]
    assert result.metrics is not None
    assert result.metrics.task == "cancel"
    assert nothing_is_left(tmp_path)


def test_a_mistake_in_what_was_asked_is_raised_at_once(settings: Settings) -> None:
    with pytest.raises(BadInput, match="again"):
        analyze(EXAMPLES, settings, again=True)


def test_what_stops_the_batch_is_raised_to_the_reader(tmp_path: Path, settings: Settings) -> None:
    wrong = batch_settings({"home": tmp_path / "home", "language.rules": str(tmp_path / "nowhere.yaml")})
    with pytest.raises(TenorError, match=r"nowhere\.yaml"):
        list(analyze(EXAMPLES, wrong))
    with pytest.raises(Unavailable, match="localhost:1"):
        list(transcribe(ROOT / "examples" / "calls" / "lost-card.ogg", settings, riva="localhost:1"))
    assert nothing_is_left(tmp_path)


@pytest.mark.slow
def test_ctrl_c_ends_a_program_in_order(tmp_path: Path) -> None:
    with (tmp_path / "many.csv").open("w") as table:
        table.write("call,role,text\n")
        table.writelines(f"{number},customer,My parcel {number} is late again.\n" for number in range(20_000))
    program = (
        "from tenor.runtime import analyze\n"
        "try:\n"
        "    for result in analyze('many.csv'):\n"
        "        print(result.call, flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    import threading\n"
        "    print('interrupted', [thread.name for thread in threading.enumerate()].count('tenor'))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    rest, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    assert rest.splitlines()[-1] == "interrupted 0"
    assert not list(tmp_path.glob("tenor-*"))


def test_settings_are_read_as_the_command_line_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tenor.toml").write_text("[riva]\nwindow_s = 12.0\n[speech]\nredact = 'text'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENOR_INGEST__QUEUE", "billing")
    live, batch = load_settings(), batch_settings({"speech.redact": "audio"})
    assert (live.speech.redact, live.ingest.queue, live.speech.patient) == ("text", "billing", False)
    assert (batch.speech.redact, batch.ingest.queue, batch.speech.patient) == ("audio", "billing", True)
    assert batch.riva.window_s == 12.0  # set by somebody: patience does not overrule it
    with pytest.raises(BadInput, match=r"speech\.redacted"):
        batch_settings({"speech.redacted": "audio"})


def test_inputs_are_found_before_anything_is_done(tmp_path: Path) -> None:
    for name in ("b.wav", "a.wav", "chat.csv", "notes.doc"):
        (tmp_path / name).write_bytes(b"")
    found = find_inputs([tmp_path, tmp_path / "a.wav", "nowhere.wav"])
    assert [given.name for given in found] == ["a.wav", "b.wav", "chat.csv", "nowhere.wav"]
    assert isinstance(found[-1], MissingInput)
    assert [given.name for given in find_inputs(tmp_path, text=False)] == ["a.wav", "b.wav"]
    assert find_inputs(found) == found
