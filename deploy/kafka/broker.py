"""A real Apache Kafka broker on this machine: one KRaft node on the loopback address.

    python -m deploy.kafka.broker fetch                              jars from Maven Central, once
    python -m deploy.kafka.broker run [--port 9092] [--data DIR]     in the foreground; Ctrl-C stops it

Needs Java 17 and, for the first fetch, Maven. Only the standard library of Python. The tests use `Broker`.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import socket
import struct
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.service import Service, ServiceFailed, complete

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
JARS = HERE / "target" / "jars"
EMPTY = HERE / "target" / "empty"
"""A data folder as Kafka prepares it; new brokers start on a copy, which saves them a start of Java."""

JAVA_OPTIONS = (
    "-Xms128m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # starts in half the time; a broker for one machine needs no more
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Djava.awt.headless=true",
)

PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "auto.create.topics.enable": "false",  # Tenor makes its topics itself, with its number of partitions
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class Broker(Service):
    name = "Kafka"
    needs = "apt-get install --no-install-recommends openjdk-17-jre-headless maven"

    def __init__(self, data: Path, port: int, properties: Mapping[str, str] | None = None) -> None:
        super().__init__(data, port)
        self._settings = self.data / "server.properties"
        self._properties = dict(properties or {})

    def prepare(self) -> None:
        fetch()
        _write_properties(self._settings, self.data / "log", self.port, self._properties)
        if not (self.data / "log").exists():
            shutil.copytree(EMPTY, self.data / "log")

    def add_user(self, name: str, password: str) -> None:
        """Who may sign in with SCRAM, before the first start."""
        fetch()
        self.data.mkdir(parents=True)
        _write_properties(self._settings, self.data / "log", self.port, self._properties)
        _format(self._settings, f"SCRAM-SHA-512=[name={name},password={password}]")

    def command(self) -> list[str]:
        return self.guarded([*_java(), "kafka.Kafka", str(self._settings)])

    def answers(self) -> bool:
        request = struct.pack(">hhih", 18, 0, 1, -1)  # ApiVersions 0
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(struct.pack(">i", len(request)) + request)
                return len(connection.recv(8)) == 8
        except OSError:
            return False


def fetch() -> None:
    """The server's jars, from Maven's repository, and an empty data folder. Does nothing when they are there."""
    wanted = hashlib.sha256(POM.read_bytes()).hexdigest()
    mark = JARS / ".complete"
    if mark.is_file() and mark.read_text() == wanted:
        return
    maven = Broker.program("mvn")
    shutil.rmtree(JARS, ignore_errors=True)
    complete(
        [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"], "Maven could not fetch the Kafka jars"
    )
    shutil.rmtree(EMPTY, ignore_errors=True)
    settings = EMPTY.with_name("format.properties")
    _write_properties(settings, EMPTY, 9092, {})
    _format(settings)
    mark.write_text(wanted)


def _format(settings: Path, *users: str) -> None:
    cluster = "tenor-local-kafka-aaaa"  # 22 characters of base64, as Kafka wants it
    command = [*_java(), "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)]
    command += [word for user in users for word in ("--add-scram", user)]
    complete(command, "Kafka could not prepare a data folder")


def _write_properties(path: Path, log: Path, port: int, more: Mapping[str, str]) -> None:
    controller = _free_port()
    properties = {
        **PROPERTIES,
        "log.dirs": str(log),
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        **more,
    }
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))


def _java() -> list[str]:
    return [Broker.program("java"), *JAVA_OPTIONS, "-cp", f"{JARS}/*"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.kafka.broker", description="A Kafka broker on this machine."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch", help="fetch the jars")
    run = commands.add_parser("run", help="run in the foreground")
    run.add_argument("--port", type=int, default=9092)
    run.add_argument("--data", type=Path, default=Path(".tenor/kafka"))
    arguments = parser.parse_args()
    if arguments.command == "run":
        return Broker(arguments.data, arguments.port).run()
    try:
        fetch()
    except ServiceFailed as error:
        sys.stderr.write(f"{error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
