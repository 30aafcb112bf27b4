"""Addresses of buses."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tenor.bus.embedded.bus import EmbeddedBus
from tenor.bus.kafka.bus import KafkaBus
from tenor.bus.opening import open_bus
from tenor.errors import BadInput, Refused, Unavailable
from tenor.runtime.profiles import change_settings
from tenor.settings import BusSettings, Settings


@pytest.mark.parametrize(
    "url",
    [
        "bus.db",
        "redis://localhost:6379",
        "sqlite://bus.db",
        "sqlite:///",
        "kafka://",
        "kafka://localhost",
        "kafka://localhost:port",
        "kafka://a:9092,,b:9092",
        "kafka://user:secret@localhost:9092",
    ],
)
def test_an_address_that_is_none_is_told_the_allowed_forms(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_bus(Settings(bus=BusSettings(url=url)))
    assert "sqlite:///" in caught.value.hint
    assert "kafka://host:9092" in caught.value.hint


async def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, path in (
        ("", tmp_path / ".tenor" / "bus.db"),
        ("sqlite:///some/where.db", tmp_path / "some" / "where.db"),
        (f"sqlite:///{tmp_path}/there.db", tmp_path / "there.db"),
    ):
        bus = open_bus(Settings(bus=BusSettings(url=url)))
        assert isinstance(bus, EmbeddedBus)
        async with bus:
            assert path.exists()
    assert isinstance(open_bus(Settings(bus=BusSettings(url="kafka://a:9092,[::1]:9092"))), KafkaBus)


REMOTE = "kafka://localhost:9092,kafka.example:9092"


@pytest.mark.parametrize("speech", [{"redact": "text"}, {"redact_queues": {"payments": "audio"}}])
def test_redacted_calls_do_not_travel_unencrypted(speech: dict[str, Any]) -> None:
    settings = Settings.model_validate({"bus": {"url": REMOTE}, "speech": speech})
    with pytest.raises(Refused, match=r"unencrypted to kafka\.example:9092") as caught:
        open_bus(settings)
    assert "bus.security" in caught.value.hint
    for name, value in (("trusted_network", True), ("security", "SSL"), ("url", "kafka://[::1]:9092")):
        assert isinstance(open_bus(change_settings(settings, bus={name: value})), KafkaBus)
    assert isinstance(open_bus(change_settings(settings, speech={"redact": "off", "redact_queues": {}})), KafkaBus)


async def test_no_broker_is_said_within_seconds() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(Unavailable, match=f"no Kafka at {address}") as caught:
            async with open_bus(Settings(bus=BusSettings(url=f"kafka://{address}", patience_s=1.5))):
                pass
    assert "make kafka" in caught.value.hint
    assert time.monotonic() - started < 6


async def test_a_host_that_does_not_answer_is_said_within_seconds() -> None:
    """It takes the connection and stays silent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(Unavailable, match=f"no Kafka at {address}"):
            async with open_bus(Settings(bus=BusSettings(url=f"kafka://{address}", patience_s=1.5))):
                pass
    assert time.monotonic() - started < 6


@pytest.mark.parametrize("name", ["ca_file", "cert_file", "key_file"])
def test_a_certificate_that_is_missing_is_named(name: str) -> None:
    settings = BusSettings.model_validate({"url": "kafka://a:9092", "security": "SSL", name: "/no/such.pem"})
    with pytest.raises(BadInput, match=rf"bus\.{name} /no/such\.pem"):
        open_bus(Settings(bus=settings))
