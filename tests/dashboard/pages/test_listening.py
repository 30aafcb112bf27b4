"""A manager hears a call that is going on: in a browser, within two seconds of the words, and with a note of it."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlmodel import select
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from dashboard.auth.tokens import PAGE, SignedTokens
from dashboard.routes.listening import AGAIN, DENIED, HEAD, NO_TOKEN, OVER, refusal
from storage.tables import Audit
from storage.viewer import Role, Viewer
from tenor.events import AUDIO, AudioChunk, CallEnded
from tenor.settings import Settings
from tenor.web.signing import secret_of
from tests.dashboard.conftest import House, Visit, running_house
from tests.dashboard.floor import FloorCall

RATE, CHUNK_S = 8000, 0.1
TWO_SECONDS = 2.0
TONE = struct.pack("<800h", *(round(9000 * math.sin(n * 0.35)) for n in range(800)))


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Managers hear the orders, administrators everything."""
    listen = '{"manager": ["orders"], "administrator": ["*"]}'
    with running_house(tmp_path_factory.mktemp("heard"), listen=listen) as running:
        yield running


@contextmanager
def speaking(house: House, call: FloorCall) -> Iterator[None]:
    """Both sides speak, a tenth of a second at a time, until nobody listens any more."""
    over = threading.Event()

    def speak() -> None:
        began = time.time()
        for seq in count():
            spoken = began + (seq + 1) * CHUNK_S
            if over.wait(max(0.0, spoken - time.time())):
                return
            start_ms = round(1000 * seq * CHUNK_S)
            for side in (0, 1):
                chunk = AudioChunk(
                    call=call.id,
                    channel=side,
                    seq=seq,
                    start_ms=start_ms,
                    rate=RATE,
                    pcm=TONE,
                    captured_at=spoken,
                )
                house.floor.publish(AUDIO, chunk)

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(5)


def notes(house: House, call: str) -> list[Audit]:
    with house.floor.database.session() as session:
        return list(session.exec(select(Audit).where(Audit.subject == call).order_by(Audit.id)))  # type: ignore[arg-type]


@pytest.mark.browser
def test_a_manager_hears_a_live_call_within_two_seconds_and_it_is_noted(open_house: House, visit: Visit) -> None:
    call = open_house.floor.call("anna", queue="orders")
    call.says("caller", "Hello?")
    call.written()
    with speaking(open_house, call):
        page = visit(open_house, f"/call?call={call.id}", looks_as="manager:mia")
        ear = page.locator(".listening")
        expect(ear).to_contain_text("nothing is redacted")
        assert not notes(open_house, call.id)
        ear.get_by_role("button", name="Listen in").click()
        expect(ear).to_contain_text("s behind")
        page.wait_for_timeout(1500)
        behind = float(ear.get_attribute("data-behind") or "inf")
        assert 0 < behind < TWO_SECONDS
        assert float(ear.get_attribute("data-level") or 0) > 0.05  # the sound is there, and not only its data
        ear.get_by_role("button", name="Stop listening").click()
        expect(ear.get_by_role("button", name="Listen in")).to_be_visible()
    open_house.floor.stored(lambda _: len(notes(open_house, call.id)) == 2)
    began, ended = notes(open_house, call.id)
    assert (began.who, began.action, ended.action) == ("mia", "call.heard_live", "call.heard_live_end")
    assert ended.detail["seconds"] > 1


@pytest.mark.browser
def test_who_may_not_listen_sees_no_button(open_house: House, house: House, visit: Visit) -> None:
    for place, looks_as in ((open_house, "analyst:ada"), (open_house, "agent:anna"), (house, "manager:mia")):
        call = place.floor.call("anna", queue="orders")
        call.says("caller", "Hello?")
        call.written()
        page = visit(place, f"/call?call={call.id}", looks_as=looks_as)
        expect(page.locator(".bubble")).to_be_visible()
        assert page.locator(".listening").count() == 0


def token(house: House, name: str, role: Role) -> str:
    return SignedTokens(secret_of(house.settings)).issue(Viewer(name, role), PAGE, 60)


async def heard(house: House, call: str, token: str, chunks: int) -> tuple[list[float], int | None, str]:
    """How late each chunk is at the client, and why it was closed, if it was."""
    late: list[float] = []
    async with connect(f"{house.address.replace('http', 'ws')}/listen/{call}", max_queue=None) as socket:
        await socket.send(json.dumps({"token": token}))
        try:
            async with asyncio.timeout(15):
                while len(late) < chunks:
                    data = await socket.recv()
                    assert isinstance(data, bytes)
                    late.append(time.time() - HEAD.unpack_from(data)[3])
                    assert data[HEAD.size :] == TONE
        except ConnectionClosed:
            return late, socket.close_code, socket.close_reason or ""
    return late, None, ""


@pytest.mark.slow
async def test_chunks_come_from_the_bus_within_moments_until_the_call_is_over(open_house: House) -> None:
    call = open_house.floor.call("anna", queue="orders")
    await asyncio.to_thread(call.says, "caller", "Hello?")
    await asyncio.to_thread(call.written)
    mia = token(open_house, "mia", "manager")
    with speaking(open_house, call):
        late, closed, _ = await heard(open_house, call.id, mia, 30)
        assert closed is None
        assert max(late) < TWO_SECONDS, late
    listening = asyncio.create_task(heard(open_house, call.id, mia, 1))
    await asyncio.sleep(1)
    ended = CallEnded(call=call.id, reason="hangup", at=time.time())
    await asyncio.to_thread(open_house.floor.publish, AUDIO, ended)
    assert (await listening)[1:] == (OVER, "the call is over")


@pytest.mark.slow
async def test_whoever_listens_when_the_dashboard_stops_is_told_so(tmp_path: Path) -> None:
    with running_house(tmp_path, listen='{"manager": ["*"]}') as stopping:  # fails if it leaves a traceback
        call = stopping.floor.call("anna", queue="orders")
        await asyncio.to_thread(call.says, "caller", "Hello?")
        await asyncio.to_thread(call.written)
        listening = asyncio.create_task(heard(stopping, call.id, token(stopping, "mia", "manager"), 1))
        await asyncio.to_thread(stopping.floor.stored, lambda _: bool(notes(stopping, call.id)))
        stopping.process.terminate()
        assert (await listening)[1] == AGAIN


@pytest.mark.slow
async def test_who_may_not_hear_a_call_hears_nothing_of_it(open_house: House) -> None:
    floor = open_house.floor
    orders, cards, secret, over = (
        floor.call("anna", queue="orders"),
        floor.call("anna", queue="cards"),
        floor.call("anna", queue="orders", redact="audio"),
        floor.call("anna", queue="orders"),
    )
    for call in (orders, cards, secret, over):
        await asyncio.to_thread(call.says, "caller", "Hello?")
    await asyncio.to_thread(over.ends)
    for call in (orders, cards, secret, over):
        await asyncio.to_thread(call.written)
    await asyncio.to_thread(floor.stored, lambda session: _is_over(session, over.id))
    mia = token(open_house, "mia", "manager")
    for heard_call, given, code, reason in (
        (orders.id, "nonsense", NO_TOKEN, "your session has ended"),
        (orders.id, token(open_house, "ada", "analyst"), DENIED, "your role, analyst, does not listen in"),
        (orders.id, token(open_house, "anna", "agent"), DENIED, "your role, agent, does not listen in"),
        (cards.id, mia, DENIED, "does not listen in on calls of cards"),
        (secret.id, mia, DENIED, "is redacted before it is kept"),
        (over.id, mia, DENIED, "nobody is speaking"),
        ("no-such-call", mia, DENIED, "there is no such call"),
    ):
        late, closed, said = await heard(open_house, heard_call, given, 1)
        assert (late, closed) == ([], code), said
        assert reason in said
        assert not notes(open_house, heard_call)


def _is_over(session: object, call: str) -> bool:
    from storage.tables import Call

    row = session.get(Call, call)  # type: ignore[attr-defined]
    return row is not None and row.state not in ("ringing", "live")


def test_it_is_off_until_somebody_says_who_may(tmp_path: Path) -> None:
    root = Viewer("root", "administrator")
    assert "off" in refusal(Settings(home=tmp_path), root, "orders", "")
    given = Settings.model_validate(
        {"dashboard": {"listen": {"administrator": ["*"]}}, "speech": {"redact_queues": {"payments": "audio"}}}
    )
    assert refusal(given, root, "", "") == refusal(given, root, "orders", "text") == ""
    assert "redacted" in refusal(given, root, "payments", "")
    assert refusal(given, root, "payments", "off") == ""
