"""The assistant over a WebSocket: turns as they come, and what closes it."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from dashboard.assistant import socket as sockets
from tenor.settings import Settings
from tests.dashboard.assistant.conftest import Shop, heard, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_is_said_is_accepted_and_answered(shop: Shop) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        assert (await heard(socket, "turn"))["turn"] == 0
        await heard(socket, "now")
        await socket.send(json.dumps({"text": "how much are jeans", "id": "m1"}))
        accepted = await heard(socket, "accepted")
        assert accepted["id"] == "m1"
        turn = await heard(socket, "turn")
        assert turn["replies"][0]["card"]["kind"] == "prices"
        after = (await heard(socket, "now"))["after"]
    async with visitor.socket(after=after) as socket:  # comes again: only what is new
        assert json.loads(await socket.recv())["type"] == "now"
        await socket.send(json.dumps({"text": "thanks"}))
        assert (await heard(socket, "turn"))["turn"] == 2


async def test_two_windows_see_the_same(shop: Shop) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as one, visitor.socket() as other:
        await heard(one, "now")
        await heard(other, "now")
        await one.send(json.dumps({"text": "how much are jeans"}))
        line = await heard(other, "line")
        assert (line["role"], line["text"]) == ("caller", "how much are jeans")
        assert (await heard(other, "turn"))["turn"] == (await heard(one, "turn"))["turn"]


@pytest.mark.parametrize("token", ["", "nonsense"])
async def test_without_the_token_it_is_closed(shop: Shop, token: str) -> None:
    visitor = await shop.begin()
    async with visitor.socket(token=token) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == sockets.NO_TOKEN


async def test_who_says_nothing_at_first_is_not_waited_for(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "HELLO_S", 0.1)
    visitor = await shop.begin()
    async with connect(f"{shop.socket_address}/assistant/api/sessions/{visitor.session}") as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == sockets.NO_TOKEN


async def test_pages_of_other_web_sites_do_not_get_one(sqlite_settings: Settings) -> None:
    async with serving(sqlite_settings, assistant={"origins": ["https://shop.example"]}) as shop:
        visitor = await shop.begin()
        for origin in ("https://evil.example", "https://shop.example.evil.example", "null"):
            with pytest.raises(InvalidStatus):
                async with visitor.socket(origin=origin):
                    pass
        for origin in ("https://shop.example", shop.socket_address.replace("ws", "http")):
            async with visitor.socket(origin=origin) as socket:
                await heard(socket, "now")


@pytest.mark.parametrize("frame", ["", "hello", "[]", '{"text": 5}', '{"id": "a"}', b"\xff\xfe", '{"text": "  "}'])
async def test_what_is_no_message_is_refused_and_the_conversation_goes_on(shop: Shop, frame: str | bytes) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        await heard(socket, "turn")
        await socket.send(frame)
        assert (await heard(socket, "error"))["error"]
        await socket.send(json.dumps({"text": "how much are jeans"}))
        await heard(socket, "turn")


async def test_a_message_that_is_too_long_is_refused_with_the_reason(shop: Shop) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        await socket.send(json.dumps({"text": "x" * 2001, "id": "long"}))
        error = await heard(socket, "error")
        assert error["id"] == "long"
        assert "2,000 are allowed" in error["error"]


@pytest.mark.parametrize("frame", ["x" * 100_000, json.dumps({"text": "🎉" * 20_000})])
async def test_a_huge_frame_closes_it(shop: Shop, frame: str) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        await heard(socket, "now")
        await socket.send(frame)
        with pytest.raises(ConnectionClosed):
            await heard(socket, "error")
        assert socket.close_code == sockets.FLOOD


async def test_a_socket_that_floods_is_closed_and_others_go_on(sqlite_settings: Settings) -> None:
    async with serving(sqlite_settings, assistant={"messages_per_minute": 5}) as shop:
        visitor = await shop.begin()
        async with visitor.socket() as socket:
            await heard(socket, "now")
            with contextlib.suppress(ConnectionClosed):
                for _ in range(1000):
                    await socket.send(json.dumps({"text": "flood"}))
                    await asyncio.sleep(0)
            with pytest.raises(ConnectionClosed):
                await heard(socket, "never")
            assert socket.close_code == sockets.FLOOD
        lines = [event for event in (await visitor.get()).json()["turns"] if event["type"] == "line"]
        assert len(lines) <= 6


async def test_sockets_of_a_visitor_are_counted(shop: Shop, few_connections: None) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as one, visitor.socket() as other:
        await heard(one, "now")
        await heard(other, "now")
        async with connect(f"{shop.socket_address}/assistant/api/sessions/{visitor.session}") as third:
            with pytest.raises(ConnectionClosed):
                await heard(third, "now")
            assert third.close_code == sockets.FLOOD


async def test_a_conversation_that_is_over_says_so(shop: Shop) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        await heard(socket, "turn")
        await socket.send(json.dumps({"text": "goodbye"}))
        await heard(socket, "ended")
        await socket.send(json.dumps({"text": "hello?"}))
        assert "over" in (await heard(socket, "error"))["error"]


async def test_a_socket_that_is_just_telling_something_hears_on_when_the_bus_is_followed_anew(shop: Shop) -> None:
    visitor = await shop.begin()
    async with visitor.socket() as socket:
        assert (await heard(socket, "turn"))["turn"] == 0
        conversation = shop.site._conversations._known[visitor.session]
        waiting, conversation._waiting = conversation._waiting, set()  # as between two messages
        shop.site._conversations.resumed()
        conversation._waiting = waiting
        await socket.send(json.dumps({"text": "how much are jeans"}))
        assert (await heard(socket, "turn"))["turn"] == 1
