"""What a process says of itself on its metrics port, and when it says so."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog

from tenor import health
from tenor.errors import Unavailable
from tenor.health import FROZEN_S, STALE_S, Health
from tests.conftest import free_port
from tests.tenor.cli.command import environment

ROOT = Path(__file__).parents[2]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def until(happened: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not happened():
            await asyncio.sleep(0.01)


@contextmanager
def watched(one: Health, checks: dict[str, health.Check]) -> Iterator[asyncio.Task[None]]:
    task = asyncio.create_task(one.watch(checks))
    try:
        yield task
    finally:
        task.cancel()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "EVERY_S", 0.02)
    monkeypatch.setattr(health, "IMPATIENT_S", 0.02)
    monkeypatch.setattr(health, "BEAT_S", 0.02)


async def test_a_process_is_ready_when_nothing_is_waited_for_and_says_so_once() -> None:
    missing = "the bus"

    async def check() -> str:
        return missing

    one = Health()
    assert one.alive
    assert one.waits() == {"process": "it starts"}
    with structlog.testing.capture_logs() as lines, watched(one, {"asr": check}):
        await until(lambda: one.waits() == {"asr": "the bus"})
        assert lines == []
        missing = ""
        await until(lambda: lines)
        missing = "a recogniser"
        await until(lambda: len(lines) == 2)
    assert [(line["event"], line["log_level"]) for line in lines] == [("ready", "info"), ("not ready", "warning")]
    assert lines[0]["stages"] == ["asr"]
    assert lines[1]["waits_for"] == {"asr": "a recogniser"}


async def test_a_check_that_fails_is_a_reason_and_stops_no_other() -> None:
    async def away() -> str:
        raise Unavailable("no Kafka at host:9092")

    async def wrong() -> str:
        raise ValueError("oh")

    async def fine() -> str:
        return ""

    one = Health()
    with watched(one, {"asr": away, "language": wrong, "storage": fine}):
        await until(lambda: "storage" not in one.waits() and "it starts" not in one.waits().values())
        assert one.waits() == {"asr": "no Kafka at host:9092", "language": "ValueError: oh"}


async def test_who_does_not_answer_is_not_ready_and_a_frozen_loop_is_not_alive() -> None:
    answered = asyncio.Event()

    async def check() -> str:
        if answered.is_set():
            await asyncio.sleep(3600)
        answered.set()
        return ""

    clock = Clock()
    one = Health(clock)
    with watched(one, {"asr": check}) as watching:
        await until(lambda: not one.waits())
        clock.now += STALE_S
        assert one.waits() == {"asr": "an answer"}
        assert one.alive
        await until(lambda: one._beat == clock.now)
        clock.now += FROZEN_S  # no turn of the loop since
        assert not one.alive
        watching.cancel()


def ask(port: int, what: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/{what}", timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def wait(port: int, what: str, status: int) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while (got := ask(port, what))[0] != status:
        assert time.monotonic() < deadline, got
        time.sleep(0.1)
    return got[1]


def readiness(log: Path) -> list[str]:
    events = [json.loads(line)["event"] for line in log.read_text().splitlines() if line.startswith("{")]
    return [event for event in events if event.endswith("ready")]


@pytest.mark.slow
def test_a_speech_stage_is_ready_once_its_recogniser_answers(tmp_path: Path) -> None:
    """And not ready, but alive, when that is gone."""
    ports = {name: free_port() for name in ("riva", "riva_health", "asr")}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        name, *words = arguments
        with (tmp_path / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tenor", "--set", f"telemetry.metrics_port={ports[name]}", *words],
                cwd=tmp_path,
                env={**environment(), "PYTHONPATH": str(ROOT)},
                stderr=log,
            )

    stage = start("asr", "serve", "asr", "storage", "--riva", f"127.0.0.1:{ports['riva']}")
    riva = None
    try:
        answer = wait(ports["asr"], "ready", 503)
        while "storage" in answer["waits_for"] or "process" in answer["waits_for"]:
            answer = ask(ports["asr"], "ready")[1]
            time.sleep(0.1)
        assert answer["ready"] is False
        assert answer["waits_for"].keys() == {"asr"}
        assert str(ports["riva"]) in answer["waits_for"]["asr"]
        riva = start("riva_health", "riva", "--port", str(ports["riva"]), "--http-port", "0", "--voice", "none")
        assert wait(ports["riva_health"], "ready", 200) == {"ready": True, "waits_for": {}}
        assert wait(ports["asr"], "ready", 200) == {"ready": True, "waits_for": {}}
        riva.send_signal(signal.SIGTERM)
        assert riva.wait(30) == 0
        assert "recogniser" in wait(ports["asr"], "ready", 503)["waits_for"]["asr"]
        assert ask(ports["asr"], "live") == (200, {"alive": True})
        with urllib.request.urlopen(f"http://127.0.0.1:{ports['asr']}/metrics", timeout=5) as metrics:
            lines = metrics.read().decode().splitlines()
        assert {'tenor_unread_records{stage="asr"} 0.0', 'tenor_ready{stage="asr"} 0.0'} <= set(lines)
        assert 'tenor_ready{stage="storage"} 1.0' in lines
        while len(said := readiness(tmp_path / "asr.log")) < 2:
            time.sleep(0.1)
        assert said == ["ready", "not ready"]
        stage.send_signal(signal.SIGTERM)
        assert stage.wait(30) == 0
        assert readiness(tmp_path / "asr.log") == said
    finally:
        for process in (stage, riva):
            if process is not None:
                process.kill()
                process.wait()


@pytest.mark.slow
def test_every_stage_of_one_process_becomes_ready(tmp_path: Path) -> None:
    port, riva, gateway, audiosocket, pages, own = (free_port() for _ in range(6))
    settings = {
        "telemetry.metrics_port": port,
        "speech.address": f"127.0.0.1:{riva}",
        "gateway.port": gateway,
        "gateway.audiosocket_port": audiosocket,
        "dashboard.port": pages,
    }
    options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    about: dict[str, Any] = {
        "cwd": tmp_path,
        "env": {**environment(), "PYTHONPATH": str(ROOT)},
        "stderr": subprocess.DEVNULL,
    }
    tenor = [sys.executable, "-m", "tenor"]
    metrics = ["--set", f"telemetry.metrics_port={own}"]
    server = [*tenor, *metrics, "riva", "--port", str(riva), "--http-port", "0", "--voice", "none"]
    with (
        subprocess.Popen(server, **about) as recogniser,
        subprocess.Popen([*tenor, *options, "serve"], **about) as all_,
    ):
        try:
            assert wait(port, "ready", 200) == {"ready": True, "waits_for": {}}
        finally:
            all_.kill()
            recogniser.kill()
