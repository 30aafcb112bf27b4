"""MLflow servers for the tests of the mirror: a small one that speaks the same shapes, and the real one.

The small one is as strict as the real one about what a request may carry.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

PROGRAM = os.environ.get("TENOR_MLFLOW", "")
"""The real `mlflow`, in an environment of its own; `make train-test` sets it."""


@dataclass
class SmallMlflow:
    """What it was sent."""

    experiments: dict[str, str] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    away: bool = False
    """While this is so, every request is answered with 503."""
    headers: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.away:
            return 503, {}
        self.requests.append((path, body))
        match path:
            case "experiments/get-by-name":
                name = body["experiment_name"]
                if name not in self.experiments:
                    return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": name}
                return 200, {"experiment": {"experiment_id": self.experiments[name], "name": name}}
            case "experiments/create":
                if body["name"] in self.experiments:
                    return 400, {"error_code": "RESOURCE_ALREADY_EXISTS"}
                self.experiments[body["name"]] = str(len(self.experiments) + 1)
                return 200, {"experiment_id": self.experiments[body["name"]]}
            case "runs/create":
                run_id = uuid.uuid4().hex
                tags = {one["key"]: one["value"] for one in body["tags"]} | {"mlflow.runName": body["run_name"]}
                info = {"run_id": run_id, "status": "RUNNING", "start_time": body["start_time"]}
                self.runs[run_id] = {"info": info, "metrics": {}, "params": {}, "tags": tags}
                return 200, {"run": {"info": info}}
            case "runs/search":
                first = int(body.get("page_token", 0))
                found = list(self.runs.values())[::-1][first:]
                page = found[: body["max_results"]]
                more = {"next_page_token": str(first + len(page))} if len(found) > len(page) else {}
                rows = [{"info": run["info"], "data": {"tags": _pairs(run["tags"])}} for run in page]
                return 200, ({"runs": rows} | more if rows else more)  # the real one leaves out what is empty
            case "runs/update":
                self.runs[body["run_id"]]["info"].update(status=body["status"], end_time=body.get("end_time"))
                return 200, {"run_info": self.runs[body["run_id"]]["info"]}
            case "runs/log-batch":
                return self._log(body)
        return 404, {"error_code": "ENDPOINT_NOT_FOUND"}

    def _log(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if body["run_id"] not in self.runs:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}
        metrics, params, tags = (body.get(name, []) for name in ("metrics", "params", "tags"))
        if len(metrics) > 1000 or len(params) > 100 or len(tags) > 100 or len(metrics) + len(params) + len(tags) > 1000:
            return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "too many"}
        run = self.runs[body["run_id"]]
        for one in params:
            if run["params"].setdefault(one["key"], one["value"]) != one["value"]:
                return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "changed"}
        for one in metrics:
            run["metrics"].setdefault(one["key"], {})[one["step"], one["timestamp"]] = one["value"]
        run["tags"].update({one["key"]: one["value"] for one in tags})
        return 200, {}


@contextmanager
def small_mlflow() -> Iterator[SmallMlflow]:
    state = SmallMlflow()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()})

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: dict[str, Any]) -> None:
            state.headers.append(self.headers.get("Authorization", ""))
            code, document = state.answer(urlsplit(self.path).path.removeprefix("/api/2.0/mlflow/"), body)
            data = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def real_mlflow(folder: Path, port: int) -> Iterator[str]:
    """`mlflow server` on a database and artifacts in this folder; its address."""
    command = [
        PROGRAM, "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
        "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}",
        "--artifacts-destination", str(folder / "artifacts"),
    ]  # fmt: skip
    with (folder / "server.log").open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder, start_new_session=True)
        try:
            _wait_for(server, f"http://127.0.0.1:{port}/health", folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, 15)
            server.wait(60)


def _wait_for(server: subprocess.Popen[bytes], url: str, output: Path) -> None:
    until = time.monotonic() + 900
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"mlflow server does not start: {output.read_text()[-2000:]}")


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in values.items()]
