"""Alerts reach webhooks: signed, at least once, and without waiting for one that never answers."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from nlp.webhooks.queue import DeliveryPolicy
from nlp.webhooks.worker import GROUP, WebhookWorker
from tenor.bus import Bus, Partition, Record, lag
from tenor.bus.opening import open_bus
from tenor.errors import BadInput
from tenor.events import CALLS, DEAD, Alert, CallMetrics, CallState, CallSummary, DeadLetter, SummaryPoint
from tenor.settings import LanguageSettings, Settings
from tests.killing import TenorProcess
from tests.nlp.rules.calls import info
from tests.nlp.webhooks.web import HANG, serving, status
from tests.watching import until
from tests.worker_rig import at_work

SECRET = "a secret of ours"
POLICY = DeliveryPolicy(timeout_s=30, give_up_s=60, first_wait_s=0.05, longest_wait_s=0.2)
BRIEF = replace(POLICY, give_up_s=1.5, at_once=2, waiting=20)
RULES = """\
cancels: {when: {says: cancel}, webhook: [crm, chat]}
upset: {when: {caller: negative}, webhook: crm}
silent: {when: {silence: 20 s}}
"""


def ready(settings: Settings, summaries: list[str] | None = None, **webhooks: str) -> Settings:
    path = settings.home / "rules.yaml"
    path.write_text(RULES)
    webhooks = {"crm": "http://127.0.0.1:9", "chat": "http://127.0.0.1:9", **webhooks}
    given = {"webhooks": webhooks, "summary_webhooks": summaries or [], "webhook_secret": SecretStr(SECRET)}
    language = LanguageSettings.model_validate({"rules": str(path), **given})
    return settings.model_copy(update={"language": language})


def alert(rule: str, at_ms: int = 0, call: str = "call-1") -> Alert:
    return Alert(
        call=call,
        alert=f"{call}/{rule}/{at_ms}",
        rule=rule,
        severity="warning",
        text="The caller wants to cancel",
        at_ms=at_ms,
        at=1.0,
    )


def sending(
    bus: Bus, settings: Settings, policy: DeliveryPolicy = POLICY
) -> AbstractAsyncContextManager[asyncio.Task[None]]:
    return at_work(WebhookWorker(bus, settings, policy=policy))


async def dead(bus: Bus) -> list[DeadLetter]:
    records: list[Record] = []
    for number in range(await bus.partitions(DEAD)):
        records += await bus.fetch(Partition(DEAD.name, number), 0)
    return [DEAD.decode(record.value) for record in records]


async def buried(bus: Bus, count: int) -> list[DeadLetter]:
    async with asyncio.timeout(60):
        while len(letters := await dead(bus)) < count:
            await asyncio.sleep(0.05)
    return letters


async def test_the_summary_of_a_call_that_is_over_is_told_to_those_that_the_settings_name(
    bus: Bus, bus_settings: Settings
) -> None:
    wanted = SummaryPoint(id="wanted:s", kind="wanted", text="I want to cancel", sentence="s")
    summary = CallSummary(headline="Cancel", outcome="open", points=(wanted,))
    live = CallMetrics(call="call-1", at_ms=2000, values={}, task="cancel", summary=summary)
    over = CallMetrics(call="call-1", at_ms=9000, values={}, task="cancel", summary=summary, final=True)
    async with serving(crm=[status(500), status(200)], chat=[status(204)]) as web:
        settings = ready(bus_settings, ["crm"], crm=web.url("/crm"), chat=web.url("/chat"))
        await bus.publish_many(
            CALLS, [CallState(call="call-1", state="live", at=1.0, info=info(queue="q")), live, over]
        )
        async with sending(bus, settings):
            await until(lambda: len(web.requests) == 2)
    assert [request.path for request in web.requests] == ["/crm", "/crm"], "again after a fault, and to no other"
    body = json.loads(web.requests[-1].body)
    assert (body["type"], body["id"], body["task"]) == ("summary", "call-1/summary/9000", "cancel")
    assert (body["summary"]["points"][0]["sentence"], body["call"]["queue"]) == ("s", "q")
    assert web.requests[-1].headers["idempotency-key"] == "call-1/summary/9000"
    with pytest.raises(BadInput, match="'nobody'"):
        WebhookWorker(bus, ready(bus_settings, ["nobody"]))


async def test_an_alert_is_told_signed_and_with_its_call(bus: Bus, bus_settings: Settings) -> None:
    async with serving(crm=[status(200)], chat=[status(204)]) as web:
        settings = ready(bus_settings, crm=web.url("/crm"), chat=web.url("/chat"))
        live = CallState(call="call-1", state="live", at=1.0, info=info(queue="sales", customer="+44 1"))
        await bus.publish_many(CALLS, [live, alert("silent"), alert("cancels", 5000)])
        async with sending(bus, settings):
            await until(lambda: len(web.requests) == 2)
    assert {request.path for request in web.requests} == {"/crm", "/chat"}
    for request in web.requests:
        assert request.headers["idempotency-key"] == "call-1/cancels/5000"
        at, digest = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", request.headers["tenor-signature"]).groups()  # type: ignore[union-attr]
        expected = hmac.new(SECRET.encode(), f"{at}.".encode() + request.body, hashlib.sha256).hexdigest()
        assert digest == expected
        assert abs(int(at) - time.time()) < 60
        body = json.loads(request.body)
        assert body["id"] == body["alert"]["alert"] == "call-1/cancels/5000"
        assert body["webhook"] == request.path.strip("/")
        assert (body["call"]["queue"], body["call"]["customer"]) == ("sales", "+44 1")
    assert not await dead(bus)


@pytest.fixture
async def quiet_bus(embedded_settings: Settings) -> AsyncIterator[Bus]:
    async with open_bus(embedded_settings) as bus:
        yield bus


@pytest.mark.slow
async def test_it_is_tried_again_until_it_arrives(quiet_bus: Bus, embedded_settings: Settings) -> None:
    answers = [status(500), b"SSH-2.0-rubbish\r\n\r\n", HANG, status(429), status(200)]
    async with serving(crm=answers) as web:
        settings = ready(embedded_settings, crm=web.url("/crm"))
        await quiet_bus.publish(CALLS, alert("upset"))
        async with sending(quiet_bus, settings, replace(POLICY, timeout_s=3)):
            await until(lambda: len(web.requests) == 5)
            await asyncio.sleep(0.3)
    assert len(web.requests) == 5, "after it arrived, no more"
    assert len({request.headers["idempotency-key"] for request in web.requests}) == 1
    assert not await dead(quiet_bus)


@pytest.mark.slow
async def test_one_that_never_answers_holds_up_nobody(quiet_bus: Bus, embedded_settings: Settings) -> None:
    async with serving(crm=[HANG], chat=[status(200)]) as web:
        settings = ready(embedded_settings, crm=web.url("/crm"), chat=web.url("/chat"))
        await quiet_bus.publish_many(CALLS, [alert("cancels", at) for at in range(10)])
        async with sending(quiet_bus, settings, replace(BRIEF, timeout_s=2, at_once=5)):
            await until(lambda: len({request.headers["idempotency-key"] for request in web.to("/chat")}) == 10)
            assert len(await dead(quiet_bus)) < 10, "the others are told while this one is still being tried"
            letters = await buried(quiet_bus, 10)
            await until(lambda: bool(web.dropped))
    reasons = {letter.reason for letter in letters}
    assert reasons == {"webhook crm: no answer within 2 s"}
    assert {letter.stage for letter in letters} == {"webhooks"}
    assert CALLS.decode(letters[0].value).rule == "cancels", "what was not delivered is kept whole"
    assert len({request.headers["idempotency-key"] for request in web.to("/crm")}) == 10, "each was tried"


@pytest.mark.parametrize(
    ("answer", "reason", "attempts"),
    [
        (status(404), "answered 404", 1),
        (status(302, "Location: http://127.0.0.1:9/elsewhere"), "answered 302: it sends us elsewhere", 1),
        (status(503), "answered 503", 2),
        (b"rubbish\r\n\r\n", "no proper answer", 2),
    ],
)
async def test_what_is_given_up_and_when(
    quiet_bus: Bus, embedded_settings: Settings, answer: bytes, reason: str, attempts: int
) -> None:
    async with serving(crm=[answer]) as web:
        await quiet_bus.publish(CALLS, alert("upset"))
        with capture_logs() as logged:
            async with sending(quiet_bus, ready(embedded_settings, crm=web.url("/crm")), BRIEF):
                (letter,) = await buried(quiet_bus, 1)
    assert any(line["event"] == "not delivered to a webhook" for line in logged)
    assert alert("upset").text not in str(logged)
    assert web.url("/crm") not in str(logged), "an address may hold a secret"
    assert letter.reason.startswith(f"webhook crm: {reason}")
    assert len(web.requests) >= attempts if attempts > 1 else len(web.requests) == 1


async def test_nobody_there_and_too_many_waiting(quiet_bus: Bus, embedded_settings: Settings) -> None:
    await quiet_bus.publish_many(CALLS, [alert("upset", at) for at in range(60)])
    async with sending(quiet_bus, ready(embedded_settings), BRIEF):
        letters = await buried(quiet_bus, 60)
    reasons = {letter.reason for letter in letters}
    assert reasons == {"webhook crm: cannot connect", "webhook crm: 20 others are waiting for it already"}


@pytest.mark.slow
async def test_stopped_before_the_answer_it_is_sent_again(quiet_bus: Bus, embedded_settings: Settings) -> None:
    live = CallState(call="call-1", state="live", at=1.0, info=info(queue="sales"))
    async with serving(crm=[HANG, status(200)]) as web:
        settings = ready(embedded_settings, crm=web.url("/crm"))
        await quiet_bus.publish_many(CALLS, [live, *(alert("silent", at) for at in range(50)), alert("upset", 99)])
        async with sending(quiet_bus, settings):
            await until(lambda: len(web.requests) == 1)
            await asyncio.sleep(1.3)  # time for a commit
        async with sending(quiet_bus, settings):
            await until(lambda: len(web.requests) == 2)
            await _committed(quiet_bus, settings)
        async with sending(quiet_bus, settings):
            await asyncio.sleep(0.7)
    first, second = web.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"] == "call-1/upset/99"
    assert json.loads(second.body)["call"]["queue"] == "sales", "though the call began before we did"


@pytest.mark.slow
async def test_a_worker_that_wakes_after_others_took_over_sends_nothing_more(bus: Bus, bus_settings: Settings) -> None:
    async with serving(crm=[status(503), status(200)]) as web:
        settings = ready(bus_settings, crm=web.url("/crm"))
        process = TenorProcess(
            settings,
            "serve",
            "webhooks",
            TENOR_LANGUAGE__RULES=settings.language.rules,
            TENOR_LANGUAGE__WEBHOOKS=json.dumps(settings.language.webhooks),
            TENOR_LANGUAGE__WEBHOOK_SECRET=SECRET,
        )
        process.start()
        try:
            await bus.publish(CALLS, alert("upset"))
            await until(lambda: len(web.requests) == 1, timeout_s=60)
            process.freeze()  # while it waits to try again
            async with sending(bus, settings):
                await until(lambda: len(web.requests) == 2, timeout_s=60)
                await _committed(bus, settings)
                process.thaw()
                await asyncio.sleep(3)  # its next attempt was due after a second or two
                process.check()
                assert len(web.requests) == 2
        finally:
            process.kill()
    assert not await dead(bus)


async def _committed(bus: Bus, settings: Settings) -> None:
    async with asyncio.timeout(30):
        while await lag(bus, [CALLS], GROUP):
            await asyncio.sleep(0.1)


async def test_an_alert_published_twice_is_told_once(quiet_bus: Bus, embedded_settings: Settings) -> None:
    async with serving(crm=[status(200)]) as web, sending(quiet_bus, ready(embedded_settings, crm=web.url("/crm"))):
        await quiet_bus.publish(CALLS, alert("upset"))
        await until(lambda: len(web.requests) == 1)
        await quiet_bus.publish_many(CALLS, [alert("upset"), alert("upset", 7)])
        await until(lambda: len(web.requests) == 2)
    assert web.requests[1].headers["idempotency-key"] == "call-1/upset/7"


async def test_rubbish_on_the_topic_is_put_aside(quiet_bus: Bus, embedded_settings: Settings) -> None:
    class Rubbish:
        name = CALLS.name
        retention_s = CALLS.retention_s

        @staticmethod
        def encode(_: Alert) -> bytes:
            return b"{"

    async with serving(crm=[status(200)]) as web:
        await quiet_bus.publish(Rubbish(), alert("upset"))  # type: ignore[arg-type]
        await quiet_bus.publish(CALLS, alert("upset"))
        async with sending(quiet_bus, ready(embedded_settings, crm=web.url("/crm"))):
            await until(lambda: len(web.requests) == 1)
            assert len(await buried(quiet_bus, 1)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"webhooks": {"crm": "ftp://a/b", "chat": "http://a"}}, "'crm' has no http:// or https:// address"),
        ({"webhooks": {"crm": "http://a:port", "chat": "http://a"}}, "'crm' has no http:// or https:// address"),
        ({"webhook_secret": SecretStr("")}, "no secret to sign with"),
        ({"webhooks": {"crm": "http://a"}}, "there is no webhook 'chat' in the settings"),
    ],
)
async def test_settings_that_cannot_work(
    quiet_bus: Bus, embedded_settings: Settings, change: dict[str, object], message: str
) -> None:
    settings = ready(embedded_settings)
    language = settings.language.model_copy(update=change)
    with pytest.raises(BadInput, match=re.escape(message)):
        WebhookWorker(quiet_bus, settings.model_copy(update={"language": language}))
