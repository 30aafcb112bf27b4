"""A small cluster that speaks as much of ONTAP's REST API as snapshots and clones need, over TLS, with an account."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD, SVM = "tenor", "s3cret", "svm1"


class Cluster:
    def __init__(self, *volumes: str) -> None:
        self.volumes: dict[str, dict[str, Any]] = {}
        self.snapshots: dict[str, dict[str, str]] = {}
        """By volume: names with their ids."""
        for name in volumes:
            self.add({"name": name, "svm": {"name": SVM}})
        self.port = 0

    def add(self, volume: dict[str, Any]) -> None:
        self.volumes[volume["name"]] = {"uuid": str(uuid.uuid4()), "svm": {"name": SVM}, **volume}
        self.snapshots[volume["name"]] = {}

    def volume(self, uuid_: str) -> str:
        return next(name for name, volume in self.volumes.items() if volume["uuid"] == uuid_)


def _handler(cluster: Cluster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, asked = self._asked()
            name = asked.get("name", ["*"])[0]
            match path:
                case ["cluster"]:
                    self._answer(
                        200, {"name": "test", "version": {"full": "9.15.1", "generation": 9, "major": 15, "minor": 1}}
                    )
                case ["storage", "volumes"]:
                    found = [one for one in cluster.volumes.values() if name in ("*", one["name"])]
                    self._answer(200, {"records": found, "num_records": len(found)})
                case ["storage", "volumes", volume, "snapshots"]:
                    there = cluster.snapshots[cluster.volume(volume)]
                    found = [{"name": one, "uuid": id_} for one, id_ in there.items() if name in ("*", one)]
                    self._answer(200, {"records": found, "num_records": len(found)})
                case ["storage", "volumes", volume, "snapshots", snapshot]:
                    there = cluster.snapshots[cluster.volume(volume)]
                    found_name = next(one for one, id_ in there.items() if id_ == snapshot)
                    self._answer(
                        200, {"name": found_name, "uuid": snapshot, "create_time": "2026-11-18T03:00:00+00:00"}
                    )
                case ["storage", "snapshot-policies"]:
                    self._answer(200, {"records": [{"name": "none", "uuid": "p1"}], "num_records": 1})
                case ["storage", "snapshot-policies", _]:
                    self._answer(200, {"name": "none", "uuid": "p1", "scope": "cluster"})
                case ["cluster", "jobs", _]:
                    self._answer(200, {"state": "success", "uuid": "j1"})
                case _:
                    self._answer(404, {"error": {"message": "entry doesn't exist", "code": "4"}})

        def do_POST(self) -> None:
            path, _ = self._asked()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            match path:
                case ["storage", "volumes", volume, "snapshots"]:
                    there = cluster.snapshots[cluster.volume(volume)]
                    if body["name"] in there:
                        self._answer(409, {"error": {"message": "snapshot already exists", "code": "1638539"}})
                        return
                    there[body["name"]] = str(uuid.uuid4())
                case ["storage", "volumes"]:
                    cluster.add(body)
                case _:
                    self._answer(404, {"error": {"message": "entry doesn't exist", "code": "4"}})
                    return
            self._answer(202, {"job": {"uuid": "j1", "_links": {"self": {"href": "/api/cluster/jobs/j1"}}}})

        def do_PATCH(self) -> None:
            path, _ = self._asked()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            cluster.volumes[cluster.volume(path[2])].update(body)
            self._answer(202, {"job": {"uuid": "j1", "_links": {"self": {"href": "/api/cluster/jobs/j1"}}}})

        def do_DELETE(self) -> None:
            path, _ = self._asked()
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            there = cluster.snapshots[cluster.volume(path[2])]
            del there[next(name for name, id_ in there.items() if id_ == path[4])]
            self._answer(202, {"job": {"uuid": "j1", "_links": {"self": {"href": "/api/cluster/jobs/j1"}}}})

        def _asked(self) -> tuple[list[str], dict[str, list[str]]]:
            known = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.headers.get("Authorization") != known:
                return ["unauthorised"], {}
            parts = urlsplit(self.path)
            return parts.path.strip("/").split("/")[1:], parse_qs(parts.query)

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/hal+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serving(cluster: Cluster, certificate: Path) -> Iterator[Cluster]:
    """On loopback, with a certificate of its own that is written to the file."""
    key = certificate.with_suffix(".key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(cluster))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    cluster.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield cluster
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
