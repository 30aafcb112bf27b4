"""A real Apache Kafka broker on this machine, without Docker: one KRaft node on the loopback address.

    python deploy/kafka/broker.py fetch                              jars from Maven Central, once
    python deploy/kafka/broker.py run [--port 9092] [--data DIR]     in the foreground; Ctrl-C stops it

Needs Java 17 and, for the first fetch, Maven. Only the standard library of Python. The tests use `Broker`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from types import FrameType

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
JARS = HERE / "target" / "jars"
EMPTY = HERE / "target" / "empty"
"""A data folder as Kafka prepares it; new brokers start on a copy, which saves them a start of Java."""
APT = "apt-get install --no-install-recommends openjdk-17-jre-headless maven"

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


class BrokerFailed(RuntimeError):
    """The broker cannot run; the message says why."""


def fetch() -> None:
    """The server's jars, from Maven's repository, and an empty data folder. Does nothing when they are there."""
    wanted = hashlib.sha256(POM.read_bytes()).hexdigest()
    mark = JARS / ".complete"
    if mark.is_file() and mark.read_text() == wanted:
        return
    maven = _found("mvn")
    shutil.rmtree(JARS, ignore_errors=True)
    command = [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise BrokerFailed(f"Maven could not fetch the Kafka jars:\n{done.stdout[-2000:]}")
    _format()
    mark.write_text(wanted)


class Broker:
    """A broker with its data in a folder. Can be stopped or killed and started again on the same data."""

    def __init__(self, data: Path, port: int, properties: Mapping[str, str] | None = None) -> None:
        self.data = data.resolve()
        self.port = port
        self.log = self.data / "broker.log"
        self._properties = dict(properties or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, patience_s: float = 60.0) -> None:
        """Start and wait until it answers."""
        fetch()
        if _listening(self.port):
            raise BrokerFailed(f"port {self.port} is taken: is a Kafka running already?")
        self.data.mkdir(parents=True, exist_ok=True)
        settings = self._write_properties()
        if not (self.data / "log").exists():
            shutil.copytree(EMPTY, self.data / "log")
        with self.log.open("ab") as log:
            self._process = _launch([*_java(), "kafka.Kafka", str(settings)], log.fileno())
        deadline = time.monotonic() + patience_s
        while not _answers(self.port):
            if self._process.poll() is not None:
                raise BrokerFailed(f"Kafka ended while starting:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self.kill()
                raise BrokerFailed(f"Kafka did not answer within {patience_s:.0f} s:\n{self._last_words()}")
            time.sleep(0.1)

    def wait(self) -> int:
        """Until it ends by itself."""
        assert self._process is not None
        return self._process.wait()

    def stop(self, patience_s: float = 30.0) -> None:
        """Stop cleanly."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _write_properties(self) -> Path:
        path = self.data / "server.properties"
        _write_properties(path, self.data / "log", self.port, self._properties)
        return path

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


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


def _format() -> None:
    shutil.rmtree(EMPTY, ignore_errors=True)
    settings = EMPTY.with_name("format.properties")
    _write_properties(settings, EMPTY, 9092, {})
    cluster = "tenor-local-kafka-aaaa"  # 22 characters of base64, as Kafka wants it
    command = [*_java(), "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise BrokerFailed(f"Kafka could not prepare a data folder:\n{done.stdout[-2000:]}")


def _launch(command: list[str], log: int) -> subprocess.Popen[bytes]:
    """Start a process that ends when we do, even when we are killed, and that Ctrl-C does not reach."""
    guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    started: Future[subprocess.Popen[bytes]] = Future()

    def start_and_stay() -> None:
        # The signal comes when the thread that started the process ends, so that thread must not.
        try:
            process = subprocess.Popen([*guard, *command], stdout=log, stderr=log, start_new_session=True)
        except OSError as error:
            started.set_exception(error)
        else:
            started.set_result(process)
            process.wait()

    threading.Thread(target=start_and_stay, daemon=True).start()
    return started.result()


def _java() -> list[str]:
    return [_found("java"), *JAVA_OPTIONS, "-cp", f"{JARS}/*"]


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise BrokerFailed(f"{program} is missing: {APT}")
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _answers(port: int) -> bool:
    """Whether a request is served (ApiVersions 0), which is later than the port being open."""
    request = struct.pack(">hhih", 18, 0, 1, -1)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            return len(connection.recv(8)) == 8
    except OSError:
        return False


def _run(port: int, data: Path) -> int:
    broker = Broker(data, port)

    def stop(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt

    # Both: a shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        broker.start()
        sys.stdout.write(f"Kafka at {broker.address}, data in {os.path.relpath(data)}; Ctrl-C stops it\n")
        sys.stdout.flush()
        return broker.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        broker.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description="A Kafka broker on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch", help="fetch the jars")
    run = commands.add_parser("run", help="run in the foreground")
    run.add_argument("--port", type=int, default=9092)
    run.add_argument("--data", type=Path, default=Path(".tenor/kafka"))
    arguments = parser.parse_args()
    try:
        if arguments.command == "fetch":
            fetch()
            return 0
        return _run(arguments.port, arguments.data)
    except BrokerFailed as error:
        sys.stderr.write(f"{error}\n")
        return 3


if __name__ == "__main__":
    sys.exit(main())
