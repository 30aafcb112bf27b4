"""What an HTTP API does wrong never reaches the shopper as anything but a failure without internals."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from dialog.fulfilment.api import ApiClient
from dialog.fulfilment.types import ActionFailed
from tests.dialog.fulfilment.conftest import ApiServer, Reply


async def failure(server: ApiServer, reply: Reply, *, changes: bool = False) -> ActionFailed:
    server.replies["/"] = reply
    with pytest.raises(ActionFailed) as caught:
        await ApiClient("shop").ask("POST" if changes else "GET", f"{server.url}/", changes=changes)
    return caught.value


async def test_a_good_answer_is_read(server: ApiServer) -> None:
    server.replies["/"] = Reply({"a": 1})
    assert await ApiClient("shop").get(f"{server.url}/", {"q": "é&?", "absent": None}) == {"a": 1}
    assert server.asked[0].query == {"q": "é&?"}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_what_may_pass_is_worth_another_try(server: ApiServer, status: int) -> None:
    assert (await failure(server, Reply({}, status))).retry


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410])
async def test_what_will_not_pass_is_not(server: ApiServer, status: int) -> None:
    assert not (await failure(server, Reply({}, status))).retry


async def test_reasons_show_neither_the_answer_nor_the_address(server: ApiServer) -> None:
    server.replies["/"] = Reply({"error": "password hunter2"}, 500)
    with pytest.raises(ActionFailed) as caught:
        await ApiClient("shop").get(f"{server.url}/", {"access_key": "hunter3"})
    assert str(caught.value) == "shop: answered 500"


async def test_html_is_no_answer(server: ApiServer) -> None:
    assert "text/html" in str(await failure(server, Reply(b"<html>", kind="text/html; charset=utf-8")))


async def test_ten_megabytes_are_not_read(server: ApiServer) -> None:
    began = time.monotonic()
    assert "1 MB" in str(await failure(server, Reply(b" " * (10 << 20))))
    assert time.monotonic() - began < 5


async def test_a_compressed_bomb_is_not_unpacked(server: ApiServer) -> None:
    import gzip

    packed = gzip.compress(b" " * (50 << 20))
    assert "1 MB" in str(await failure(server, Reply(packed, headers={"content-encoding": "gzip"})))


async def test_nobody_there_is_a_failure_that_may_pass() -> None:
    with pytest.raises(ActionFailed) as caught:
        await ApiClient("shop").get("http://127.0.0.1:1/", {})
    assert caught.value.retry
    assert not caught.value.uncertain


async def test_an_order_that_got_no_answer_is_uncertain(server: ApiServer) -> None:
    assert (await failure(server, Reply({}, 502), changes=True)).uncertain
    assert (await failure(server, Reply(b"<html>"), changes=True)).uncertain
    assert not (await failure(server, Reply({}, 400), changes=True)).uncertain
    assert not (await failure(server, Reply({}, 429), changes=True)).uncertain


@pytest.mark.parametrize(
    "headers",
    [
        lambda until: {"retry-after": "900"},
        lambda until: {"retry-after": format_datetime(until, usegmt=True)},
        lambda until: {"RateLimit-Remaining": "0", "RateLimit-ResetTime": until.isoformat()},
        lambda until: {"RateLimit-Remaining": "0", "RateLimit-Reset": "900"},
    ],
)
async def test_a_rate_limit_is_respected_without_asking_again(
    server: ApiServer, headers: Callable[[datetime], dict[str, str]]
) -> None:
    server.replies["/"] = Reply({}, 429, headers(datetime.now(UTC) + timedelta(minutes=15)))
    client = ApiClient("shop")
    for _ in range(3):
        with pytest.raises(ActionFailed) as caught:
            await client.get(f"{server.url}/", {})
        assert 500 < caught.value.wait_s < 901
    assert len(server.asked) == 1


async def test_the_last_request_that_is_left_is_answered_and_then_nothing_is_asked(server: ApiServer) -> None:
    server.replies["/"] = Reply({"a": 1}, headers={"RateLimit-Remaining": "0", "RateLimit-Reset": "60"})
    client = ApiClient("shop")
    assert await client.get(f"{server.url}/", {}) == {"a": 1}
    with pytest.raises(ActionFailed):
        await client.get(f"{server.url}/", {})
    assert len(server.asked) == 1


@pytest.mark.parametrize("after", ["soon", "-5", "nan", "Tue, 99 Foo", "1e400"])
async def test_a_wait_that_is_none_is_a_short_one(server: ApiServer, after: str) -> None:
    assert (await failure(server, Reply({}, 429, {"retry-after": after}))).wait_s <= 1
