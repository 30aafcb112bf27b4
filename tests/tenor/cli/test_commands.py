"""The other commands, as a new user types them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import soundfile

from tests.tenor.cli.command import environment, tenor
from tests.tenor.cli.speech import WORDS, reading

pytestmark = pytest.mark.slow

COMMANDS = (
    *("demo", "watch", "doctor", "sample", "transcribe", "analyze", "ingest", "classify", "evaluate", "export"),
    *("import", "erase", "rules", "playbook", "dashboard", "riva", "serve", "config", "account", "db"),
)


@contextmanager
def running(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "tenor", *arguments],
        cwd=cwd,
        env={**environment(), "PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def children(session: int) -> list[str]:
    """Processes of a session, which must all be gone after Ctrl-C."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == session:
                    found.append(entry.name)
            except ProcessLookupError:
                continue
    return found


def test_help_names_every_command(tmp_path: Path) -> None:
    done = tenor("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_every_command_explains_itself(tmp_path: Path, command: str) -> None:
    done = tenor(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stdout) > 300


def test_config_tells_values_and_origins(tmp_path: Path) -> None:
    (tmp_path / "tenor.toml").write_text('[gateway]\ntwilio_auth_token = "hush"\n')
    done = tenor("--set", "bus.partitions=3", "config", "--json", cwd=tmp_path)
    settings = json.loads(done.stdout)
    assert settings["bus.partitions"]["value"] == 3
    assert settings["bus.partitions"]["origin"] == "flag"
    assert settings["gateway.twilio_auth_token"]["origin"] == "tenor.toml"
    assert "hush" not in done.stdout


def test_config_shows_no_secret_inside_an_address(tmp_path: Path) -> None:
    address = "storage.url=postgresql://tenor:hush@localhost/tenor"
    for form in ([], ["--json"]):
        done = tenor("--set", address, "config", *form, cwd=tmp_path)
        assert "postgresql://tenor:********@localhost/tenor" in done.stdout
        assert "hush" not in done.stdout
    wrong = tenor("--set", address, "--set", "bus.url=https://me:hush@host", "watch", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "hush" not in wrong.stderr


def test_config_says_that_no_setting_is_called_so(tmp_path: Path) -> None:
    done = tenor("config", "partitons", cwd=tmp_path)
    assert done.returncode == 2
    assert "'partitons'" in done.stderr


def test_what_is_written_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)  # as earlier versions left it
    done = tenor("--home", home, "db", "upgrade", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path for path in (home, *home.rglob("*")) if path.stat().st_mode & 0o077] == []
    assert (home / "tenor.db").exists()


def test_a_files_name_gives_a_terminal_no_orders(tmp_path: Path) -> None:
    name = "a\x1b]0;owned\x07\x9b2J[bold].wav"
    (tmp_path / name).write_bytes(b"no audio")
    done = tenor("transcribe", name, cwd=tmp_path)
    assert done.returncode != 0
    assert "[bold].wav" in done.stderr
    assert not {"\x1b", "\x07", "\x9b"} & set(done.stderr)


def test_a_wrong_setting_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = tenor("--set", "bus.partitions=none", "config", cwd=tmp_path)
    assert done.returncode == 2
    assert "bus.partitions" in done.stderr.splitlines()[0]


@pytest.mark.slow
def test_a_kafka_that_is_not_there(tmp_path: Path) -> None:
    for command in (["watch"], ["serve"], ["ingest", str(tmp_path)]):
        (tmp_path / "a.wav").write_bytes(b"")
        done = tenor("--set", "bus.url=kafka://localhost:1", *command, cwd=tmp_path)
        assert done.returncode == 3
        assert "localhost:1" in done.stderr


def test_a_full_disk_is_told_in_a_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "tenor", "config"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_an_unknown_stage(tmp_path: Path) -> None:
    done = tenor("serve", "kitchen", cwd=tmp_path)
    assert done.returncode == 2
    assert "gateway" in done.stderr


@pytest.mark.parametrize("command", [["riva", "--port"], ["serve", "gateway"]])
def test_a_port_in_use(tmp_path: Path, command: list[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        arguments = [*command, port] if command[0] == "riva" else ["--set", f"gateway.port={port}", *command]
        done = tenor(*arguments, cwd=tmp_path)
    assert done.returncode == 3
    assert port in done.stderr


@pytest.mark.slow
def test_ingested_calls_are_watched_and_written_down(tmp_path: Path) -> None:
    """Three commands on one bus: the way a user meets the pipeline."""
    soundfile.write(tmp_path / "call.wav", reading(7), 16000)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with (
        running("riva", "--port", port, "--http-port", "0", cwd=tmp_path),
        running("serve", "asr", "--riva", f"localhost:{port}", cwd=tmp_path),
        running("watch", "--json", cwd=tmp_path) as watch,
    ):
        time.sleep(2)  # a watcher sees what comes after it
        done = tenor("ingest", "--agent", "ann", "call.wav", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "call.wav" in done.stdout
        said, agent, state = "", "", ""
        assert watch.stdout is not None
        for line in watch.stdout:  # topics are read side by side, so the end may come before the last words
            event = json.loads(line)
            if event["type"] == "transcript" and event["final"]:
                said += event["text"].lower()
            elif event["type"] == "call_state":
                state = event["state"]
                agent = (event["info"] or {}).get("agent", agent)
            if state == "ended" and all(words in said for words in WORDS):
                break
        assert (state, agent) == ("ended", "ann")


@pytest.mark.slow
def test_the_demo_shows_live_calls_and_ctrl_c_leaves_nothing_running(tmp_path: Path) -> None:
    with running("demo", "--terminal", cwd=tmp_path) as demo:
        assert demo.stdout is not None
        roles = set()
        for line in demo.stdout:
            roles |= {role for role in ("caller", "agent") if f" {role} " in line}
            if roles == {"caller", "agent"}:
                break
        os.kill(demo.pid, signal.SIGINT)
        _, complaints = demo.communicate(timeout=30)
        assert demo.returncode == 0, complaints
        assert "Traceback" not in complaints
        assert children(demo.pid) == []


@pytest.mark.slow
def test_the_demo_puts_understood_calls_on_the_dashboard_and_ctrl_c_ends_both(tmp_path: Path) -> None:
    with running("demo", "--no-browser", "--no-history", "--port", "0", cwd=tmp_path) as demo:
        assert demo.stderr is not None
        address = next(word for line in demo.stderr for word in line.split() if word.startswith("http://"))
        dashboard = [child.pid for child in psutil.Process(demo.pid).children()]
        assert dashboard
        deadline = time.monotonic() + 120
        while not (said := _said(address)) and time.monotonic() < deadline:
            time.sleep(1)
        assert {"text", "sentiment", "mood", "intent"} <= said[0].keys()
        os.kill(demo.pid, signal.SIGINT)
        _, complaints = demo.communicate(timeout=60)
        assert demo.returncode == 0, complaints
        assert "Traceback" not in complaints
        assert not any(psutil.pid_exists(pid) for pid in dashboard)


def _said(address: str) -> list[dict[str, Any]]:
    """The sentences of the first live call."""
    with httpx.Client(base_url=f"{address}/api/v1") as api:
        for call in api.get("/live").raise_for_status().json()["calls"]:
            if said := api.get(f"/calls/{call['id']}/sentences").raise_for_status().json()["sentences"]:
                return list(said)
    return []


@pytest.mark.parametrize(("arguments", "expected"), [(["serve", "storage"], 0), (["transcribe", "pipe"], 130)])
def test_ctrl_c_is_an_error_only_where_there_was_an_end_to_come_to(
    arguments: list[str], expected: int, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody will ever write to it
    with running(*arguments, cwd=tmp_path) as process:
        while not at_work(process.pid):
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
        assert process.returncode == expected, complaints


def at_work(process: int) -> bool:
    """SIGTERM is caught once async work runs, which is what Ctrl-C ends."""
    mask = next(line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(mask.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
