"""Actions are carried out in time, again where that is safe, and never with internals for the shopper."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dialog.fulfilment.handover import Handover
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult
from tests.dialog.fulfilment.calls import BOSTON, NOW, call_of

EMPTY = {"stores": [], "known": False, "alternatives": []}


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Scripted:
    """Gives or raises what it was told, one after the other; the last again and again."""

    def __init__(self, *script: Any, source: str = "scripted") -> None:
        self.source = source
        self._script = list(script)
        self.calls: list[ActionCall] = []

    async def run(self, call: ActionCall) -> ActionResult:
        self.calls.append(call)
        what = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(what, BaseException):
            raise what
        return what if isinstance(what, ActionResult) else ActionResult(result=what, source=self.source)


class WithLookup(Scripted):
    async def lookup(self, key: str) -> ActionResult | None:
        return ActionResult(result={"key": key}, source=self.source) if key == "known" else None


class Hanging:
    source = "hanging"

    async def run(self, call: ActionCall) -> ActionResult:
        await asyncio.sleep(3600)
        raise AssertionError


def runner_of(clock: Clock | None = None, **actions: Any) -> ActionRunner:
    clock = clock or Clock()
    return ActionRunner(actions, clock=clock, sleep=clock.sleep)


async def test_a_failure_that_may_pass_is_tried_twice_more_with_growing_waits() -> None:
    clock = Clock()
    places = Scripted(ActionFailed("503", retry=True), ActionFailed("503", retry=True), EMPTY)
    result = await runner_of(clock, places=places).run(call_of("places"))
    assert result.result == EMPTY
    assert len(places.calls) == 3
    assert 0 < clock.slept[0] < clock.slept[1]


async def test_a_failure_that_will_not_pass_is_told_at_once() -> None:
    places = Scripted(ActionFailed("403"))
    with pytest.raises(ActionFailed):
        await runner_of(places=places).run(call_of("places"))
    assert len(places.calls) == 1


async def test_what_changes_something_is_not_tried_again() -> None:
    order = Scripted(ActionFailed("503", retry=True, uncertain=True))
    with pytest.raises(ActionFailed) as caught:
        await runner_of(order=order).run(call_of("order"), changes="order")
    assert len(order.calls) == 1
    assert caught.value.uncertain


async def test_unless_its_provider_honours_the_key() -> None:
    order = WithLookup(ActionFailed("503", retry=True), {"ok": True})
    result = await runner_of(order=order).run(call_of("order", key="k"), changes="order")
    assert result.result == {"ok": True}
    assert [call.key for call in order.calls] == ["k", "k"]


async def test_an_action_that_hangs_ends_at_its_timeout() -> None:
    runner = ActionRunner({"places": Hanging()}, timeout_s=0.05)
    with pytest.raises(ActionFailed) as caught:
        await asyncio.wait_for(runner.run(call_of("places")), 5)
    assert not caught.value.uncertain


async def test_an_order_that_hangs_is_uncertain() -> None:
    with pytest.raises(ActionFailed) as caught:
        await ActionRunner({"order": Hanging()}).run(call_of("order"), timeout_s=0.05, changes="order")
    assert caught.value.uncertain


async def test_no_retry_begins_that_could_not_end_in_time() -> None:
    clock = Clock()
    places = Scripted(ActionFailed("429", retry=True, wait_s=60))
    with pytest.raises(ActionFailed):
        await runner_of(clock, places=places).run(call_of("places"), timeout_s=3)
    assert (len(places.calls), clock.slept) == (1, [])


async def test_a_provider_that_fails_in_a_row_is_left_alone_and_then_tried_once() -> None:
    clock = Clock()
    places = Scripted(*[ActionFailed("500")] * 6, EMPTY)
    runner = runner_of(clock, places=places, stock=Scripted({"items": []}, source="other"))
    for _ in range(8):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("places"))
    assert len(places.calls) == 5
    clock.now += 31
    for _ in range(3):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("places"))
    assert len(places.calls) == 6, "one try after the pause, and it failed"
    clock.now += 31
    assert (await runner.run(call_of("places"))).result == EMPTY
    clock.now += 1000
    assert (await runner.run(call_of("places"))).result == EMPTY


async def test_a_provider_that_asks_for_a_pause_gets_it() -> None:
    clock = Clock()
    places = Scripted(ActionFailed("429", retry=True, wait_s=10), EMPTY)
    runner = runner_of(clock, places=places)
    for _ in range(2):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("places"), timeout_s=3)
    assert len(places.calls) == 1
    clock.now += 11
    assert (await runner.run(call_of("places"))).result == EMPTY


async def test_a_try_that_is_called_off_does_not_keep_the_breaker_open() -> None:
    clock = Clock()
    places = Scripted(*[ActionFailed("500")] * 5, asyncio.CancelledError(), EMPTY)
    runner = runner_of(clock, places=places)
    for _ in range(5):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("places"))
    clock.now += 31
    with pytest.raises(asyncio.CancelledError):
        await runner.run(call_of("places"))
    assert (await runner.run(call_of("places"))).result == EMPTY


async def test_the_same_question_within_minutes_is_asked_once() -> None:
    clock = Clock()
    places = Scripted(EMPTY)
    runner = runner_of(clock, places=places)
    first = await runner.run(call_of("places", location=BOSTON, item="milk"))
    second = await runner.run(call_of("places", item="milk", location=BOSTON, key="another turn"))
    assert len(places.calls) == 1
    assert first == second
    assert second.result["stores"] is not first.result["stores"], "conversations share nothing that can change"
    for changed in (
        {"item": "eggs"},
        {"item": "milk", "now": NOW + timedelta(hours=1)},
        {"item": "milk", "customer": "c7"},
    ):
        await runner.run(call_of("places", location=BOSTON, **changed))
    assert len(places.calls) == 4
    clock.now += 301
    await runner.run(call_of("places", location=BOSTON, item="milk"))
    assert len(places.calls) == 5


async def test_stock_and_failures_are_never_kept() -> None:
    stock = Scripted({"items": [], "known": True, "available": 0, "enough": False})
    places = Scripted(ActionFailed("403"), EMPTY)
    runner = runner_of(stock=stock, places=places)
    for _ in range(2):
        await runner.run(call_of("stock"))
    assert len(stock.calls) == 2
    with pytest.raises(ActionFailed):
        await runner.run(call_of("places"))
    assert (await runner.run(call_of("places"))).result == EMPTY


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"stores": None, "known": True, "alternatives": []},
        {"stores": [{"name": 3}], "known": True, "alternatives": []},
        {"stores": "<html>", "known": True, "alternatives": []},
        {"stores": [], "known": object(), "alternatives": []},
        {**EMPTY, "more": "x" * (2 << 20)},
    ],
)
async def test_a_provider_that_lies_about_its_shape_fails(result: Any) -> None:
    with pytest.raises(ActionFailed):
        await runner_of(places=Scripted(result)).run(call_of("places"))


@pytest.mark.parametrize("made", [lambda: None, lambda: "text", lambda: {"not": "a result"}])
async def test_an_action_that_returns_no_result_fails(made: Callable[[], Any]) -> None:
    class Wrong:
        async def run(self, call: ActionCall) -> Any:
            return made()

    with pytest.raises(ActionFailed):
        await runner_of(own=Wrong()).run(call_of("own"))


async def test_errors_of_somebody_elses_code_are_failures_without_their_text() -> None:
    runner = runner_of(own=Scripted(KeyError("card 4111 1111 1111 1111")))
    with pytest.raises(ActionFailed) as caught:
        await runner.run(call_of("own"))
    assert str(caught.value) == "Scripted: KeyError"


async def test_an_action_of_ones_own_may_answer_any_mapping() -> None:
    assert (await runner_of(own=Scripted({"points": 7})).run(call_of("own"))).result == {"points": 7}


async def test_an_action_that_does_not_exist_fails() -> None:
    with pytest.raises(ActionFailed):
        await runner_of().run(call_of("nothing"))


async def test_what_became_of_a_key_can_be_asked() -> None:
    runner = runner_of(order=WithLookup({}), other=Scripted({}))
    found = await runner.lookup(call_of("order", key="known"))
    assert found is not None
    assert found.result == {"key": "known"}
    assert await runner.lookup(call_of("order", key="never")) is None
    with pytest.raises(ActionFailed) as caught:
        await runner.lookup(call_of("other", key="known"))
    assert caught.value.uncertain


async def test_in_a_chat_nobody_takes_over() -> None:
    result = await runner_of(handover=Handover()).run(call_of("handover", reason="asked", summary="wants milk"))
    assert result.result == {"queue": "", "reason": "asked", "summary": "wants milk", "taken": False}
