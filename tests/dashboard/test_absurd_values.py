"""Values that nobody means, in every parameter and body of every route: told to be wrong, never a fault of ours."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_type_hints
from urllib.parse import quote

import httpx
import msgspec
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

from dashboard.app import Site
from dashboard.auth.accounts import Accounts
from dashboard.auth.tokens import PAGE, SignedTokens, recording_purpose
from dashboard.routes import actions, next_steps
from storage.db.engine import Database, open_database
from storage.viewer import Viewer
from tenor.bus.opening import open_bus
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import DashboardSettings, Settings
from tenor.web.signing import secret_of
from tests.dashboard.api.test_api import fill


def cursor(json: str) -> str:
    """As search writes them."""
    return urlsafe_b64encode(json.encode()).decode().rstrip("=")


TEXTS = (
    *(
        "",
        "-1",
        "1e400",
        "NaN",
        "-inf",
        "9" * 19,
        "9" * 400,
        "٣",
        "1_0",
        "a\0b",
        "\ud800",
        "\N{RIGHT-TO-LEFT OVERRIDE}",
    ),
    *("'", "%", '"', "\\", "*(", "a" * 5000, "[]", "../../etc/passwd", "hers", "hers/0/0", "0001-01-01"),
    *("1700000000.5/hers", "nan/hers", "1e309/\0", "-1/", "9" * 400 + "/x"),
    *(cursor("null"), cursor('["a"]'), cursor("[0, 1" + "0" * 30 + ', 1.5, "a"]'), cursor("[" * 400)),
    *(cursor('[0, 1, 1e308, "a\\u0000"]'), cursor('[9223372036854775807, 1, 0, ""]'), cursor("[0, 1, -0.0, 7]")),
)
"""For whatever goes into an address; the last look like cursors."""
VALUES: tuple[Any, ...] = (
    *("", "-1", "a\0b", "\ud800", "a" * 5000, "hers", None, True, 0, -1, 2**63, 10**30, 1e308),
    *([], ["a"], [[[]]], {}, {"a": []}, [None] * 100, ["\0"], ["\ud800"], {"\0": "\ud800"}),
)
"""For whatever goes into JSON."""
RAW = (
    *(b"", b"\0", b"[]", b"1e999", b"null", b'"', b"\xff\xfe", b"{", b"[" * 100_000, b'{"a":' * 5000, b"NaN"),
    *(b'{"call": "\\ud800"}', b'{"call": "\xed\xa0\x80"}', b'{"call": "a", "call": 1}', b"-", b"\xef\xbb\xbf{}"),
)


@dataclass
class Door:
    """A route with what it takes."""

    method: str
    path: str
    inputs: dict[str, list[str]]
    """Names of parameters by where they stand: path, query, header."""
    body: dict[str, Any] | None


@dataclass
class Served:
    client: httpx.AsyncClient
    routes: list[BaseRoute]
    tokens: SignedTokens
    database: Database


@pytest.fixture
async def served(database_settings: Settings) -> AsyncIterator[Served]:
    given = DashboardSettings(sign_in="local", api_requests_s=0)
    settings = database_settings.model_copy(update={"dashboard": given})
    fill(settings)
    database = open_database(settings)
    tools: Any = None  # nothing is trained here
    async with open_bus(settings) as bus:
        site = Site(bus, settings, database, PatternRedactor([]), tools)
        running = asyncio.create_task(site.run())
        tokens = SignedTokens(secret_of(settings), Accounts(database).version_of)
        transport = httpx.ASGITransport(Starlette(routes=site.routes), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            yield Served(client, site.routes, tokens, database)
        site.close()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    database.close()


def doors(routes: list[BaseRoute], under: str = "") -> Iterator[Door]:
    """Every route, however it came to be."""
    for route in routes:
        if isinstance(route, Mount) and isinstance(route.app, FastAPI):
            yield from of_specification(route.app, under + route.path)
        elif isinstance(route, Route):
            path, parameters = under + route.path.replace(":path}", "}"), list(route.param_convertors)
            inputs = {"path": parameters, "query": ["call", "next"], "header": ["Range", "Cookie"]}
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield Door(method, path, inputs, body_of(path) if method == "POST" else None)


def of_specification(app: FastAPI, root: str) -> Iterator[Door]:
    document = app.openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "servers" in operation or operation.get("operationId", "").startswith("talk_"):
                continue  # it is served elsewhere, or a WebSocket
            inputs: dict[str, list[str]] = {"path": [], "query": [], "header": ["Range"] if "recording" in path else []}
            for parameter in operation.get("parameters", ()):
                inputs[parameter["in"]].append(parameter["name"])
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            yield Door(method.upper(), root + path, inputs, fields(document, content["schema"]) if content else None)


def fields(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    return dict.fromkeys(schema.get("properties", ()), "a")


def body_of(path: str) -> dict[str, Any]:
    structs: dict[str, type[msgspec.Struct]] = {
        "note": actions.WriteNote, "acknowledge": actions.Acknowledge, "correct": actions.Correct,
        "swap": actions.Swap, "take": actions.TakeOver, "write": actions.WriteLine, "give-back": actions.TakeOver,
        "steps": next_steps.ShownCall,
    }  # fmt: skip
    usual = {"call": "hers", "sentence": "hers/0/0", "kind": "sentiment", "value": "positive", "text": "a", "note": "a"}
    struct = structs.get(path.rpartition("/")[2])
    names = get_type_hints(struct) if struct else {}
    return {
        name: usual.get(name, "a") for name in names if name not in ("sentences", "alerts", "mood_caller", "seconds")
    }


def requests(door: Door) -> Iterator[dict[str, Any]]:
    """Each parameter absurd by itself; each field of the body, and the whole of it."""
    usual = {
        "call": "hers",
        "sentence": "hers/0/0",
        "turn": "hers/1",
        "name": "ann",
        "customer": "c-ann",
        "session": "x",
    }

    def address(**given: str) -> str:
        path = door.path
        for name in door.inputs["path"]:
            value = given.get(name, usual.get(name, "a"))
            path = path.replace("{" + name + "}", quote(value.encode("utf-8", "surrogatepass"), safe="/"))
        return path

    def query(name: str, value: str) -> str:
        return f"{address()}?{name}={quote(value.encode('utf-8', 'surrogatepass'), safe='')}"

    for value in TEXTS:
        for name in door.inputs["path"]:
            yield {"url": address(**{name: value})}
        for name in door.inputs["query"]:
            yield {"url": query(name, value)}
        for name in door.inputs["header"]:
            if value.isascii() and value.isprintable():
                yield {"url": address(), "headers": {name: f"bytes={value}-{value}"}}
    if door.body is not None:
        for raw in RAW:
            yield {"url": address(), "content": raw}
        for field in [*door.body, "more"]:
            for one in VALUES:
                yield {"url": address(), "content": json.dumps(door.body | {field: one}).encode()}


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_no_value_anywhere_is_a_fault_of_ours(served: Served) -> None:
    faults, asked = set(), 0
    for door in doors(served.routes):
        if door.path.endswith(("/feed", "/events")):
            continue  # never ends
        token = served.tokens.issue(Viewer("root", "administrator"), PAGE, 3600)
        heard = served.tokens.issue(Viewer("root", "administrator"), recording_purpose("hers"), 3600)
        usual = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Sec-Fetch-Site": "same-origin",
        }
        for request in requests(door):
            headers = usual | request.pop("headers", {})
            if door.path.startswith("/audio") and "?" not in request["url"]:
                request["url"] += f"?token={heard}"
            answer = await served.client.request(door.method, headers=headers, **request)
            asked += 1
            if answer.status_code >= 500:
                faults.add((door.method, door.path, answer.status_code, str(request)[:150]))
    assert asked > 3000, "routes were found"
    assert not faults, "\n".join(sorted(map(str, faults)))
