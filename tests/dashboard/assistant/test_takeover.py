"""A person in the assistant's place, through the API: who may, who is first, and what the shopper gets of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlmodel import col, select

from dashboard.auth.accounts import Accounts
from dashboard.auth.tokens import API, SignedTokens
from storage.db.engine import Database, open_database
from storage.privacy.erasure import erase
from storage.tables import Audit, Call
from storage.viewer import Role, Viewer
from tenor.events import CALLS, TRANSCRIPTS, TURNS, CallGivenBack, CallState, CallTakenOver, Transcript
from tenor.events import Call as CallInfo
from tenor.settings import BusSettings, Settings
from tests.dashboard.assistant.conftest import SECRET, Shop, Visitor, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

PEOPLE: dict[str, Role] = {"ann": "agent", "ben": "agent", "mia": "manager", "ada": "analyst", "root": "administrator"}


class Desk:
    """People at work beside the shop."""

    def __init__(self, shop: Shop, database: Database) -> None:
        self.shop, self.database = shop, database
        accounts = Accounts(database)
        for name, role in PEOPLE.items():
            accounts.add(name, role, "correct horse battery")
        self._tokens = SignedTokens(SECRET, accounts.version_of)

    async def do(self, who: str, call: str, what: str, **body: Any) -> httpx.Response:
        token = self._tokens.issue(Viewer(who, PEOPLE[who]), API, 600)
        return await self.send(call, what, token, **body)

    async def send(self, call: str, what: str, token: str, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.shop.client.post(f"/api/v1/calls/{call}/{what}", headers=headers, json=body or None)

    async def asked(self) -> Visitor:
        """A shopper who waits for a person, as the database knows."""
        visitor = await self.shop.begin()
        await visitor.next()
        assert (await visitor.say("i want to talk to a person"))["person"] is True
        await self.row(visitor.session, lambda row: row.waiting)
        return visitor

    async def row(self, call: str, holds: Any) -> Call:
        async with asyncio.timeout(20):
            while True:
                with self.database.session() as session:
                    found = session.get(Call, call)
                if found is not None and holds(found):
                    return found
                await asyncio.sleep(0.02)

    def audit(self, call: str) -> list[tuple[str, str]]:
        with self.database.session() as session:
            rows = session.exec(select(Audit).where(col(Audit.subject) == call).order_by(col(Audit.id))).all()
        return [(row.who, row.action) for row in rows]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    settings = Settings(home=tmp_path_factory.mktemp("desk"), bus=BusSettings(partitions=4, lease_s=2, patience_s=30))
    async with serving(settings, writer=True, speech={"redact": "text", "redact_kinds": ["card"]}) as shop:
        database = open_database(settings)
        yield Desk(shop, database)
        database.close()


async def agents_line(visitor: Visitor) -> str:
    while True:
        if (line := await visitor.next("line"))["role"] == "agent":
            assert not line["spoken"]
            return str(line["text"])


async def test_a_person_takes_it_writes_and_gives_it_back(desk: Desk) -> None:
    visitor = await desk.asked()
    call = visitor.session
    taken = await desk.do("ann", call, "take")
    assert (taken.status_code, taken.json()["state"], taken.json()["agent"]) == (200, "taken", "ann")
    assert (await visitor.next("person"))["here"] is True
    row = await desk.row(call, lambda row: row.agent == "ann")
    assert (row.waiting, row.roles) == (False, ["caller", "assistant", "agent"])
    written = await desk.do("ann", call, "lines", text="Hello, this is Ann.", id="m1")
    assert written.status_code == 202
    assert await agents_line(visitor) == "Hello, this is Ann."
    await visitor.post("is it open on sunday")
    assert (await visitor.next())["replies"] == []
    back = await desk.do("ann", call, "give-back")
    assert (back.status_code, back.json()["state"]) == (200, "")
    assert (await visitor.next("person"))["here"] is False
    turn = await visitor.next()
    assert turn["replies"], "the assistant goes on by itself"
    assert (await visitor.say("how much are jeans"))["replies"]
    assert desk.audit(call) == [("ann", "call.taken"), ("ann", "call.given_back")]


async def test_of_two_at_once_the_first_has_it_and_the_other_learns_who(desk: Desk) -> None:
    visitor = await desk.asked()
    answers = await asyncio.gather(*(desk.do(who, visitor.session, "take") for who in ("ann", "ben")))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (winner,) = [answer.json()["agent"] for answer in answers if answer.status_code == 200]
    (refused,) = [answer.json()["detail"] for answer in answers if answer.status_code == 409]
    assert refused == f"{winner} has this conversation"
    assert desk.audit(visitor.session) == [(winner, "call.taken")]
    loser = "ben" if winner == "ann" else "ann"
    for what, body in (("lines", {"text": "hello"}), ("give-back", {}), ("take", {})):
        answer = await desk.do(loser, visitor.session, what, **body)
        assert (answer.status_code, answer.json()["detail"]) == (409, f"{winner} has this conversation"), what
    again = await desk.do(winner, visitor.session, "take")
    assert again.status_code == 200, "asked twice, it is theirs once"
    people = [event for event in await desk.shop.rig.events(TURNS, visitor.session) if isinstance(event, CallTakenOver)]
    assert people[0].agent == winner


async def test_a_line_that_is_sent_twice_is_there_once(desk: Desk) -> None:
    visitor = await desk.asked()
    await desk.do("ann", visitor.session, "take")
    answers = [await desk.do("ann", visitor.session, "lines", text="One moment.", id="m1") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    await desk.do("ann", visitor.session, "lines", text="One moment.", id="m2")
    await visitor.next("person")
    lines = (await visitor.get()).json()["turns"]
    assert [one["text"] for one in lines if one.get("role") == "agent"] == ["One moment."] * 2
    said = await desk.shop.rig.events(TRANSCRIPTS, visitor.session)
    assert len({one.utterance for one in said if isinstance(one, Transcript) and one.role == "agent"}) == 2


async def test_what_a_person_writes_is_redacted_as_any_line(desk: Desk) -> None:
    visitor = await desk.asked()
    await desk.do("ann", visitor.session, "take")
    await desk.do("ann", visitor.session, "lines", text="Is 4111 1111 1111 1111 your card? 😀")
    line = await agents_line(visitor)
    assert "4111" not in line
    assert line.endswith("😀")


@pytest.mark.parametrize(("who", "status"), [("ann", 200), ("mia", 200), ("root", 200), ("ada", 403)])
async def test_who_may_take_a_call_that_waits(desk: Desk, who: str, status: int) -> None:
    visitor = await desk.asked()
    assert (await desk.do(who, visitor.session, "take")).status_code == status


async def test_an_agent_takes_only_what_waits_and_a_manager_any_conversation(desk: Desk) -> None:
    visitor = await desk.shop.begin()
    await visitor.next()
    await desk.row(visitor.session, lambda row: row.state == "live")
    assert (await desk.do("ann", visitor.session, "take")).status_code == 404
    assert (await desk.do("mia", visitor.session, "take")).status_code == 200


async def test_what_nobody_took_is_written_to_by_nobody(desk: Desk) -> None:
    visitor = await desk.asked()
    for what, body in (("lines", {"text": "hello"}), ("give-back", {})):
        answer = await desk.do("ann", visitor.session, what, **body)
        assert (answer.status_code, answer.json()["detail"]) == (409, "nobody has taken this conversation")


@pytest.mark.parametrize(
    ("body", "status"),
    [({"text": ""}, 400), ({"text": "   "}, 400), ({"text": "x" * 2001}, 400), ({"text": "a", "id": "x" * 65}, 422),
     ({"id": "m"}, 422), ({"text": 5}, 422)],
)  # fmt: skip
async def test_a_line_that_is_none_is_refused(desk: Desk, body: dict[str, Any], status: int) -> None:
    assert (await desk.do("ann", "web-nothing", "lines", **body)).status_code == status


async def test_forged_and_missing_tokens_do_nothing(desk: Desk) -> None:
    visitor = await desk.asked()
    forged = SignedTokens("another secret" * 3).issue(Viewer("ann", "agent"), API, 600)
    for token in (forged, "nonsense", visitor.token):
        assert (await desk.send(visitor.session, "take", token)).status_code == 401
    other = {"Origin": "https://evil.example"}
    answer = await desk.shop.client.post(f"/api/v1/calls/{visitor.session}/take", headers=other)
    assert answer.status_code == 403, "where nobody signs in, another web site still may not"
    assert not (await desk.row(visitor.session, lambda row: True)).agent


async def test_a_call_that_is_over_erased_on_the_telephone_or_no_assistants_is_not_taken(desk: Desk) -> None:
    visitor = await desk.asked()
    await desk.shop.client.delete(f"/assistant/api/sessions/{visitor.session}", headers=visitor.headers)
    await desk.row(visitor.session, lambda row: row.state == "ended")
    over = await desk.do("mia", visitor.session, "take")
    assert (over.status_code, over.json()["detail"]) == (409, "this conversation is over")
    assert (await desk.do("ann", visitor.session, "take")).status_code == 404, "it waits no more"
    await erase(desk.database, desk.shop.rig.settings, by="root", call=visitor.session, force=True)
    assert (await desk.do("mia", visitor.session, "take")).status_code == 404
    on_the_telephone = "this call is on the telephone: whoever answers it there has it, and gives it back there"
    for name, attributes, told in (
        ("phone", {"assistant": "retail"}, on_the_telephone),
        ("people", {}, "this is no conversation with the assistant"),
    ):
        about = CallInfo(source="test", roles=("caller", "agent"), started_at=time.time(), attributes=attributes)
        await desk.shop.rig.bus.publish(CALLS, CallState(call=name, state="live", at=time.time(), info=about))
        await desk.row(name, lambda row: row.state == "live")
        for what, body in (("take", {}), ("give-back", {}), ("lines", {"text": "hello"})):
            answer = await desk.do("mia", name, what, **body)
            assert (answer.status_code, answer.json()["detail"]) == (409, told), what


async def test_somebody_else_cannot_give_it_back_by_the_bus_either(desk: Desk) -> None:
    visitor = await desk.asked()
    await desk.do("ann", visitor.session, "take")
    await desk.shop.rig.bus.publish(TURNS, CallGivenBack(call=visitor.session, agent="ben", at=time.time()))
    assert (await visitor.next("person"))["here"] is True
    await visitor.post("hello?")
    assert (await visitor.next())["replies"] == []
    assert (await visitor.next())["replies"] == []
    assert not [one for one in (await visitor.get()).json()["turns"] if one["type"] == "person" and not one["here"]]


async def test_the_specification_tells_of_it(desk: Desk) -> None:
    document = (await desk.shop.client.get("/api/v1/openapi.json")).json()
    for what in ("take", "lines", "give-back"):
        assert "post" in document["paths"][f"/calls/{{call}}/{what}"]
    assert document["components"]["schemas"]["Handover"]["properties"]["state"]
