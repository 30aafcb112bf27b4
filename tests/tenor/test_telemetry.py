"""Logs: one line an event, never a caller's words unless asked for."""

from __future__ import annotations

import http.server
import json
import logging
import queue
import socket
import subprocess
import sys
import threading
import urllib.request
import warnings

import pytest
import structlog

from tenor import telemetry
from tenor.errors import Unavailable
from tenor.settings import TelemetrySettings


def test_callers_words_stay_out_of_the_logs(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure(TelemetrySettings(log_format="json"))
    structlog.get_logger().info("final", call="c", text="my card is 4111")
    line = json.loads(capsys.readouterr().err)
    assert line["call"] == "c"
    assert "4111" not in str(line)


def test_words_are_logged_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure(TelemetrySettings(log_format="json", log_words=True))
    structlog.get_logger().info("final", text="good morning")
    assert json.loads(capsys.readouterr().err)["text"] == "good morning"


def test_levels_below_the_chosen_one_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure(TelemetrySettings(log_level="warning", log_format="json"))
    structlog.get_logger().info("nothing to see")
    assert capsys.readouterr().err == ""


def test_spans_reach_the_collector() -> None:
    """In a process of its own: the exporter is set once for a process."""
    received: queue.Queue[tuple[str, bytes]] = queue.Queue()

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.put((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = (
            "from tenor import telemetry; from tenor.settings import TelemetrySettings\n"
            f"telemetry.configure(TelemetrySettings(otlp_endpoint='http://127.0.0.1:{server.server_port}'))\n"
            "telemetry.trace_stages('utterance', {'captured': 1.0, 'published': 1.6, 'recognised': 1.5}, call='c')\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
        path, body = received.get(timeout=10)
        server.shutdown()
    assert path == "/v1/traces"
    assert all(name in body for name in (b"utterance", b"recognised", b"published"))


def test_metrics_are_served_and_a_taken_port_is_told() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    telemetry.serve_metrics(TelemetrySettings(metrics_port=port))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        assert b"python_info" in answer.read()
    with pytest.raises(Unavailable, match=str(port)):
        telemetry.serve_metrics(TelemetrySettings(metrics_port=port))


def test_what_libraries_log_has_our_form_and_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry.configure(TelemetrySettings(log_format="json"))
    for number in range(1000):
        logging.getLogger("some.library").error("cannot connect to %s", number)
    logging.getLogger("some.library").info("nobody asked")
    try:
        raise ValueError("inside")
    except ValueError:
        logging.getLogger("other").exception("broken")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["logger"], line["level"]) for line in lines[:2]] == [("some.library", "error"), ("other", "error")]
    assert lines[0]["event"] == "cannot connect to 0"
    assert "ValueError: inside" in lines[1]["exception"]
    assert len(lines) <= 3
