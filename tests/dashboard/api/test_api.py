"""The API over a real server: what each role may read, that it keeps to its specification, and the event stream."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest
import uvicorn
from sqlmodel import select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from dashboard import api
from dashboard.assistant.takeover import Takeovers
from dashboard.auth.accounts import Accounts
from dashboard.auth.middleware import AuthMiddleware
from dashboard.auth.sign_in import SignIn
from dashboard.auth.tokens import API, PAGE, SignedTokens
from dashboard.corrections import Corrections
from dashboard.routes import feed
from dashboard.routes.feed import Feed
from dashboard.routes.recordings import Recordings
from dashboard.summaries import SummaryChanges
from storage.db.engine import open_database
from storage.labels.publisher import LabelPublisher
from storage.tables import Account, Agent, Audit, Call, Customer, Turn
from storage.viewer import Role, Viewer
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, NOTES, SENTENCES, CallState, Sentence
from tenor.events import Call as CallInfo
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import DashboardSettings, Settings
from tests.storage.conversations import add_alert, add_call, add_label, add_note

PEOPLE: dict[str, Role] = {"ann": "agent", "bob": "agent", "mia": "manager", "lee": "analyst", "root": "administrator"}
AUDIO = b"fLaC" + bytes(range(256)) * 10
STRANGE = "file/1 ?#%<b>é"
"""An id that has everything in it that has to be quoted."""

ANNS = {
    "/calls": 200,
    "/calls/hers": 200,
    "/calls/hers/sentences": 200,
    "/calls/hers/recording": 200,
    "/live": 200,
    "/alerts": 200,
    "/agents": 200,
    "/agents/ann/history": 200,
    "/agents/ann/scorecard": 200,
    "/customers/c-ann": 200,
    "/search?words=xylophone": 200,
    "/search/calls?said=(xylophone)": 200,
    "/suggestions/sentence/hers/0/0": 200,
    "/suggestions/turn/hers/1": 200,
}
"""What may be read of Ann's, and what Bob gets for it: nothing of hers."""
HIDDEN = {
    *("/calls/hers", "/calls/hers/sentences", "/calls/hers/recording", "/agents/ann/history", "/customers/c-ann"),
    "/agents/ann/scorecard",
    *("/suggestions/sentence/hers/0/0", "/suggestions/turn/hers/1"),
}


@dataclass
class Served:
    client: httpx.AsyncClient
    bus: Bus
    tokens: SignedTokens
    accounts: Accounts

    def headers(self, name: str, purpose: str = API) -> dict[str, str]:
        return {"Authorization": "Bearer " + self.tokens.issue(Viewer(name, PEOPLE[name]), purpose, 3600)}

    async def get(self, path: str, name: str = "mia", **more: Any) -> httpx.Response:
        headers = {**self.headers(name), **more.pop("headers", {})}
        return await self.client.get(path, headers=headers, **more)


@contextlib.asynccontextmanager
async def serving(settings: Settings, **dashboard: Any) -> AsyncIterator[Served]:
    given = DashboardSettings(**{"sign_in": "local", "api_requests_s": 0, **dashboard})
    settings = settings.model_copy(update={"dashboard": given})
    database = open_database(settings)
    accounts = Accounts(database)
    tokens = SignedTokens("secret" * 8, accounts.version_of if given.sign_in == "local" else None)
    sign_in = SignIn(given, accounts, tokens)
    async with open_bus(settings) as bus, asyncio.TaskGroup() as group:
        live = Feed(bus, database)
        takeovers = Takeovers(bus, database, PatternRedactor([]), live.handovers)
        summaries = SummaryChanges(bus, database, settings)
        corrections = Corrections(bus, database, LabelPublisher(bus, database), settings)
        app = api.create(
            settings, database, tokens, live, Recordings(settings, database, tokens), takeovers, summaries, corrections
        )
        outer = Starlette(routes=[Mount(api.ROOT, app)], middleware=[Middleware(AuthMiddleware, sign_in=sign_in)])
        server = uvicorn.Server(uvicorn.Config(outer, log_config=None, timeout_graceful_shutdown=1))
        listener = socket.create_server(("127.0.0.1", 0))
        following, running = group.create_task(live.run()), group.create_task(server.serve([listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}{api.ROOT}"
        async with httpx.AsyncClient(base_url=address, timeout=20) as client:
            yield Served(client, bus, tokens, accounts)
        server.should_exit = True
        await running
        following.cancel()
    database.close()


@pytest.fixture
async def served(database_settings: Settings) -> AsyncIterator[Served]:
    fill(database_settings)
    async with serving(database_settings) as made:
        yield made


@pytest.fixture
async def here(sqlite_settings: Settings) -> AsyncIterator[Served]:
    """For what does not depend on the database."""
    fill(sqlite_settings)
    async with serving(sqlite_settings) as made:
        yield made


def fill(settings: Settings) -> None:
    database = open_database(settings)
    recordings = Path(settings.recordings_url)
    recordings.mkdir(parents=True)
    now = time.time()
    with database.begin() as session:
        session.add_all(Account(name=name, role=role, password="", created_at=now) for name, role in PEOPLE.items())
        for agent, call in (("ann", "hers"), ("bob", "his")):
            about: dict[str, Any] = {
                "agent": agent,
                "customer": f"c-{agent}",
                "queue": "billing",
                "recording": f"{call}.flac",
            }
            lines = [f"{agent} and the xylophone, {number}" for number in range(7)]
            third = {2: {"labels": {"aspect": "delivery,price"}}}
            written = {"text": "A summary.", "model": "small-1", "at": now, "at_ms": 1}
            add_call(session, call, *lines, sentences=third, started_at=now - 3600, written_summary=written, **about)
            add_alert(session, call, "xylophones", sentence=f"{call}/0/0")
            add_note(session, call, f"a note for {agent}")
            add_label(session, f"{call}/0/2000", "text", f"{agent} and the corrected xylophone")
            turn = Turn(id=f"{call}/1", call=call, turn=1, at=now, input=f"{agent} red shirt", intent="price_check")
            turn.intent_score, turn.tags, turn.model = 0.9, ["O", "B-item.color", "B-item.type"], "tenor-assistant-1"
            session.add(turn)
            add_label(session, f"{call}/0/2000", "sentiment", "positive")
            add_call(session, f"{call}-now", f"{agent} live", agent=agent, state="live", started_at=now, ended_at=None)
            session.add(Agent(name=agent, display_name=agent.title(), team="red"))
            session.add(Customer(id=f"c-{agent}", display_name=f"Customer of {agent}"))
            (recordings / f"{call}.flac").write_bytes(AUDIO)
        add_call(session, STRANGE, "strange", started_at=now - 7200, agent="ann")
    database.close()


def shape_of(path: str) -> str:
    """As the specification names it."""
    shape = path.partition("?")[0].replace("hers/0/0", "{sentence}").replace("hers/1", "{turn}")
    return shape.replace("hers", "{call}").replace("c-ann", "{customer}").replace("/ann/", "/{name}/")


async def test_how_calls_go_with_others_is_told_to_those_who_lead_and_to_no_agent(served: Served) -> None:
    document = (await served.client.get("/openapi.json")).json()
    for path in ("/fits?call=hers-now&agents=ann,bob", "/fits?task=refund&mood=-0.5&agents=ann,bob"):
        answer = await served.get(path, "mia")
        assert [one["agent"] for one in answer.json()["agents"]] == ["ann", "bob"]
        _check(document, document["paths"]["/fits"]["get"]["responses"]["200"], "application/json", answer)
        assert (await served.get(path, "ann")).status_code == 403
        assert (await served.client.get(path)).status_code == 401
    assert (await served.get("/fits?call=hers", "mia")).status_code == 400  # it is over
    assert (await served.get("/fits?mood=2", "mia")).status_code == 422


@pytest.mark.slow
async def test_every_role_reads_what_it_may_on_every_endpoint(served: Served) -> None:
    document = (await served.client.get("/openapi.json")).json()
    named = {shape_of(path) for path in ANNS}
    of_nobody = {"/events", "/models", "/wrap-up-codes", "/calls/{call}/export", "/fits"}  # tests of their own
    assert named | of_nobody == {path for path, methods in document["paths"].items() if "get" in methods}
    for path, expected in ANNS.items():
        for name in ("ann", "mia", "lee", "root"):
            answer = await served.get(path, name)
            assert answer.status_code == expected, (path, name)
            if "recording" not in path:
                assert "ann" in answer.text
            assert ("bob" in answer.text) == (name != "ann" and path not in HIDDEN), (path, name)
        answer = await served.get(path, "bob")
        assert answer.status_code == (404 if path in HIDDEN else 200), path
        assert '"ann' not in answer.text
        for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic YTpi"}):
            answer = await served.client.get(path, headers=headers)
            assert answer.status_code == 401, (path, headers)
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_page_token_is_as_good_as_an_api_token_and_a_session_is_not(here: Served) -> None:
    assert (await here.client.get("/calls", headers=here.headers("ann", PAGE))).status_code == 200
    assert (await here.client.get("/calls", headers=here.headers("ann", "session"))).status_code == 401
    token = here.headers("ann")
    await asyncio.to_thread(here.accounts.change, "ann", role="manager")
    assert (await here.client.get("/calls", headers=token)).status_code == 401


async def test_the_specification_is_valid_and_the_answers_keep_to_it(served: Served) -> None:
    document = (await served.client.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": "/api/v1"}]
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for path in ANNS:
        operation = document["paths"][shape_of(path)]["get"]
        assert operation["security"] == [{"HTTPBearer": []}]
        assert {"401", "422", "429"} <= set(operation["responses"])
        if "recording" not in path:
            _check(document, operation["responses"]["200"], "application/json", await served.get(path))
    _check(document, operation["responses"]["422"], "application/problem+json", await served.get("/calls?limit=0"))
    _check(document, operation["responses"]["401"], "application/problem+json", await served.client.get("/calls"))


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [one for inner in value.values() for one in _references(inner)]
    return [one for inner in value for one in _references(inner)] if isinstance(value, list) else []


def _check(document: dict[str, Any], declared: dict[str, Any], media_type: str, answer: httpx.Response) -> None:
    assert answer.headers["content-type"] == media_type
    schema = {**declared["content"][media_type]["schema"], "components": document["components"]}
    jsonschema.Draft202012Validator(schema).validate(answer.json())


async def test_sentences_are_as_people_left_them_page_by_page(served: Served) -> None:
    pages, after = [], ""
    while True:
        page = (await served.get("/calls/hers/sentences", params={"limit": 3, "after": after})).json()
        pages.append([one["text"] for one in page["sentences"]])
        if not (after := page["after"]):
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    assert pages[0][2] == "ann and the corrected xylophone"
    corrected = (await served.get("/calls/hers/sentences")).json()["sentences"][2]
    assert (corrected["sentiment"], len(corrected["labels"])) == ("positive", 2)
    assert corrected["classifiers"] == {"aspect": "delivery,price"}  # beside what people said
    by_model = (await served.get("/calls/hers")).json()["call"]["written_summary"]
    assert (by_model["text"], by_model["model"]) == ("A summary.", "small-1")
    wrong = await served.get("/calls/hers/sentences", params={"after": "his/0/0"})
    assert wrong.status_code == 400


async def test_calls_and_alerts_come_page_by_page_and_by_filter(served: Served) -> None:
    listed, after = [], ""
    while True:
        page = (await served.get("/calls", params={"limit": 2, "after": after})).json()
        listed += [one["id"] for one in page["calls"]]
        if not (after := page["after"]):
            break
    assert sorted(listed) == sorted(["hers", "hers-now", "his", "his-now", STRANGE])
    found = (await served.get("/calls", params={"state": ["live", "ringing"], "agent": "bob"})).json()["calls"]
    assert [one["id"] for one in found] == ["his-now"]
    first = (await served.get("/alerts", params={"limit": 1})).json()
    second = (await served.get("/alerts", params={"limit": 1, "after": first["after"]})).json()
    assert {first["alerts"][0]["call"], second["alerts"][0]["call"]} == {"hers", "his"}
    assert second["after"] == ""
    for path in ("/calls", "/alerts"):
        wrong = await served.get(path, params={"after": "nowhere"})
        assert wrong.status_code == 400


async def test_a_call_is_taken_along_and_erased_by_those_who_may(here: Served, sqlite_settings: Settings) -> None:
    for form, word in (("txt", "ann and the corrected xylophone"), ("vcon", '"vcon"'), ("json", '"tenor":"call"')):
        answer = await here.get("/calls/hers/export", "mia", params={"form": form})
        assert answer.status_code == 200
        assert word in answer.text
        assert answer.headers["content-disposition"].startswith('attachment; filename="hers.')
    assert (await here.get("/calls/hers/export", "ann")).status_code == 403, "agents do not"
    assert (await here.get("/calls/none/export", "mia")).status_code == 404
    assert (await here.get("/calls/hers/export", "mia", params={"form": "doc"})).status_code == 422

    async def erase(name: str, call: str = "hers") -> httpx.Response:
        return await here.client.post(f"/calls/{call}/erase", headers=here.headers(name))

    assert [(await erase(name)).status_code for name in ("ann", "mia", "lee")] == [403, 403, 403]
    assert (await here.client.post("/calls/hers/erase")).status_code == 401
    assert (await erase("root", "none")).status_code == 404
    assert (await erase("root", "hers-now")).status_code == 403, "it is not over"
    done = await erase("root")
    assert (done.status_code, done.json()["rows"]["calls"], done.json()["recordings"]) == (200, 1, 1)
    assert (await here.get("/calls/hers", "root")).status_code == 404
    database = open_database(sqlite_settings)
    with database.session() as session:
        trail = session.exec(select(Audit.action)).all()
    database.close()
    assert trail.count("call.exported") == 3
    assert "call.erased" in trail


async def test_notes_and_labels_are_written_by_those_who_may(here: Served) -> None:
    async def say(path: str, name: str, **said: str) -> httpx.Response:
        return await here.client.post(path, json=said, headers=here.headers(name))

    note = {"text": "Offer a refund", "sentence": "hers/0/0"}
    assert [(await say("/calls/hers/notes", name, **note)).status_code for name in ("mia", "root", "ann", "lee")] == [
        202, 202, 403, 403
    ]  # fmt: skip
    assert (await say("/calls/hers/notes", "mia", text=" ")).status_code == 400
    assert (await say("/calls/none/notes", "mia", **note)).status_code == 404
    labels = "/sentences/hers/0/0/labels"
    now = await say(labels, "mia", kind="sentiment", value="positive")
    assert (now.status_code, now.json()["sentiment"], now.json()["call"]) == (200, "positive", "hers")
    assert (await here.get("/calls/hers/sentences")).json()["sentences"][0]["sentiment"] == "positive"
    assert (await say(labels, "mia", kind="sentiment", value="great")).status_code == 400
    assert (await say(labels, "bob", kind="sentiment", value="negative")).status_code == 400, "not his to see"
    assert (await here.client.post(labels, json={"kind": "text", "value": "x"})).status_code == 401


async def test_a_summary_is_put_right_by_whoever_may_see_its_call(here: Served, sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    point = {"id": "wanted:hers/0/0", "kind": "wanted", "text": "ann and the xylophone", "sentence": "hers/0/0"}
    with database.begin() as session:
        session.get_one(Call, "hers").summary = {"headline": "Xylophone", "outcome": "open", "points": [point]}
    database.close()
    listed = {one["id"]: one["summary"] for one in (await here.get("/calls", "ann")).json()["calls"]}
    assert (listed["hers"]["headline"], listed["hers"]["points"][0]["sentence"]) == ("Xylophone", "hers/0/0")
    assert "resolved" in (await here.get("/wrap-up-codes", "ann")).json()["codes"]

    async def say(path: str, name: str, **said: Any) -> int:
        return (await here.client.post(f"/calls/hers/{path}", json=said, headers=here.headers(name))).status_code

    async with here.bus.follower([NOTES]) as follower:
        assert await say("summary", "ann", point=point["id"], text="She wants a xylophone") == 202
        assert await say("summary", "mia", point="outcome", text="done") == 202
        assert await say("wrap-up", "ann", code="resolved") == 202
        for path, said in (("summary", {"point": point["id"]}), ("wrap-up", {"code": "resolved"})):
            assert await say(path, "bob", **said) == 404, "the call is not his to see"
            assert (await here.client.post(f"/calls/hers/{path}", json=said)).status_code == 401
        for wrong in (
            {"point": "wanted:his/0/0"},
            {"point": "outcome", "text": "great"},
            {"point": point["id"], "text": "x" * 501},
        ):
            assert await say("summary", "ann", **wrong) == 400
        assert await say("wrap-up", "ann", code="whatever") == 400
        told: list[Any] = []
        while len(told) < 3:
            told += [NOTES.decode(record.value) for record in await follower.poll()]
    assert [(type(one).__name__, one.author) for one in told] == [
        ("SummaryMended", "ann"), ("SummaryMended", "mia"), ("WrapUp", "ann")
    ]  # fmt: skip


async def test_any_id_can_be_asked_for(here: Served) -> None:
    answer = await here.get(f"/calls/{quote(STRANGE, safe='')}")
    assert answer.json()["call"]["id"] == STRANGE
    assert len((await here.get(f"/calls/{quote(STRANGE, safe='')}/sentences")).json()["sentences"]) == 1
    for hostile in ("../../etc/passwd", "' OR 1=1 --", "%00", "x" * 3000):
        assert (await here.get(f"/calls/{quote(hostile, safe='')}")).status_code == 404


async def test_recordings_come_in_ranges(here: Served) -> None:
    whole = await here.get("/calls/hers/recording")
    assert (whole.content, whole.headers["content-type"]) == (AUDIO, "audio/flac")
    part = await here.get("/calls/hers/recording", headers={"Range": "bytes=4-9"})
    assert (part.status_code, part.content) == (206, AUDIO[4:10])
    beyond = await here.get("/calls/hers/recording", headers={"Range": "bytes=99999-"})
    assert beyond.status_code == 416


async def test_what_has_not_changed_is_not_sent_again(here: Served) -> None:
    first = await here.get("/calls/hers")
    again = await here.get("/calls/hers", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "private, no-cache"


async def test_problems_say_what_is_wrong(here: Served) -> None:
    answer = await here.get("/search", params={"order": "sideways", "limit": 5000})
    assert answer.status_code == 422
    assert [error.partition(":")[0] for error in answer.json()["errors"]] == ["order", "limit"]
    unknown = await here.get("/search", params={"sentiment": "angry"})
    assert unknown.status_code == 400
    assert "negative, neutral, positive" in unknown.json()["detail"]
    for name, value in (("medium", "fax"), ("severity", "grave"), ("words_like", "x")):
        assert (await here.get("/search", params={name: value})).status_code == 422
    assert (await here.get("/nowhere")).json()["status"] == 404
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        refused = await here.client.request(method, "/calls", headers=here.headers("root"))
        assert refused.status_code == 405
    assert (await here.get("/search", params={"cursor": "???"})).status_code == 400
    for said, told in (("(rol:agent)", "column 2"), ("(intent:refnd)", "'refund'"), ("xylophone", "in brackets")):
        wrong = await here.get("/search/calls", params={"said": said})
        assert wrong.status_code == 400
        assert told in wrong.json()["detail"]
    assert (await here.get("/search/calls", params={"said": "(a)", "words": "a"})).status_code == 422


async def test_calls_are_found_by_their_sentences(here: Served) -> None:
    params = {"said": "(role:caller xylophone)"}
    found = (await here.get("/search/calls", params=params)).json()
    call = next(call for call in found["calls"] if call["call"] == "hers")
    assert call["sentences"][0]["call"] == "hers"
    snippet = call["sentences"][0]["snippet"]
    assert [snippet["text"][mark["start"] : mark["end"]].lower() for mark in snippet["marks"]] == ["xylophone"]
    hidden = (await here.get("/search/calls", params=params, name="bob")).json()
    assert "hers" not in {call["call"] for call in hidden["calls"]}
    assert hidden["total"] == len(hidden["calls"]) < found["total"]


async def test_the_stream_tells_what_happens_to_those_who_may_know(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "HEARTBEAT_S", 0.3)
    fill(sqlite_settings)
    async with serving(sqlite_settings) as served:
        async with (
            following(served, "mia") as manager,
            following(served, "ann") as ann,
            following(served, "bob") as bob,
        ):
            for stream in (manager, ann, bob):
                name, snapshot = await anext(stream)
                assert name == "snapshot"
                assert len(snapshot["calls"]) == (2 if stream is manager else 1)
                assert (await anext(stream))[0] == "now"
            await publish(served, "new call", "ann", "there you are")
            for stream in (manager, ann):
                assert (await anext(stream))[0] == "state"
                name, said = await anext(stream)
                assert (name, said["text"]) == ("sentence", "there you are")
            await publish(served, "another", "bob", "only for bob")
            assert (await anext(bob))[1]["call"] == "another"  # nothing of Ann's came before it
            await asyncio.to_thread(served.accounts.change, "bob", role="manager")
            names = [name async for name, _ in bob]
            assert names[-1] == "stale"
        one = following(served, "mia", call="hers")
        async with one as stream:
            assert (await anext(stream))[1]["call"]["id"] == "hers"
        assert (await served.client.get("/events")).status_code == 401


@contextlib.asynccontextmanager
async def following(served: Served, name: str, **params: str) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    async with served.client.stream("GET", "/events", headers=served.headers(name), params=params) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = _events(response)
        yield events
        await events.aclose()


async def _events(response: httpx.Response) -> Any:
    name = ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


async def publish(served: Served, call: str, agent: str, text: str) -> None:
    info = CallInfo(source="test", roles=("caller", "agent"), started_at=time.time(), agent=agent)
    await served.bus.publish(CALLS, CallState(call=call, state="live", at=time.time(), info=info))
    said = {"sentiment": "neutral", "sentiment_scores": {}, "intent": "unknown", "intent_score": 0.0, "text": text}
    about = {"channel": 0, "role": "caller", "sentence": f"{call}/0/0", "revision": 0, "start_ms": 0, "end_ms": 900}
    await served.bus.publish(SENTENCES, Sentence(call=call, **about, **said))  # type: ignore[arg-type]


async def test_other_sites_may_read_only_when_they_are_named(sqlite_settings: Settings) -> None:
    elsewhere = {"Origin": "https://wall.example"}
    async with serving(sqlite_settings, sign_in="none") as served:
        answer = await served.client.get("/calls", headers=elsewhere)
        assert "access-control-allow-origin" not in answer.headers
    async with serving(sqlite_settings, sign_in="none", api_origins=["https://wall.example"]) as served:
        answer = await served.client.get("/calls", headers=elsewhere)
        assert answer.headers["access-control-allow-origin"] == "https://wall.example"
        answer = await served.client.get("/calls", headers={"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in answer.headers


async def test_without_a_sign_in_it_is_for_this_machine(sqlite_settings: Settings) -> None:
    async with serving(sqlite_settings, sign_in="none") as served:
        assert (await served.client.get("/calls")).status_code == 200
        assert (await served.client.get("/calls", headers={"Host": "evil.example"})).status_code == 421
        assert (await served.client.get("/calls", headers={"Authorization": "Bearer old"})).status_code == 401


@pytest.mark.slow
async def test_who_asks_too_often_waits(sqlite_settings: Settings) -> None:
    fill(sqlite_settings)
    async with serving(sqlite_settings, api_requests_s=0.5) as served:
        answers = [await served.get("/live", "ann") for _ in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await served.get("/live", "bob")).status_code == 200
        guesses = [(await served.client.get("/live")).status_code for _ in range(8)]
        assert guesses == [401] * 5 + [429] * 3


async def test_the_manual_needs_no_other_host(sqlite_settings: Settings) -> None:
    async with serving(sqlite_settings) as served:
        page = await served.client.get("/docs")
        assert page.status_code == 200
        assert "GET /calls/{call}/sentences" in page.text
        assert "http" not in page.text.replace("https", "http").partition("<h1>")[2].replace("HTTP", "")
        assert "src=" not in page.text


async def test_a_labelling_tool_gets_what_the_models_suggest(here: Served) -> None:
    of_sentence = (await here.get("/suggestions/sentence/hers/0/0")).json()
    assert (of_sentence["text"], of_sentence["sentiment"], of_sentence["sentiment_scores"]) == (
        *("ann and the xylophone, 0", "neutral"),
        {"neutral": 1.0},
    )
    assert of_sentence["tags"] == ["O"] * 5
    of_turn = (await here.get("/suggestions/turn/hers/1")).json()
    assert (of_turn["intent"], of_turn["intent_score"], of_turn["tags"]) == (
        *("price_check", 0.9),
        ["O", "B-item.color", "B-item.type"],
    )
    assert of_turn["models"] == {"intent": "tenor-assistant-1", "slots": "tenor-assistant-1"}
    assert of_turn["slots"][1] == {"slot": "item.type", "start": 8, "end": 13, "text": "shirt"}
    assert (await here.get("/suggestions/sentence/hers/0/9999")).status_code == 404
