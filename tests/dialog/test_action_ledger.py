"""What a successor makes of actions that its predecessor began."""

from __future__ import annotations

from typing import Any

import pytest

from tenor.events import TRANSCRIPTS, TURNS, ActionDone, ActionStarted, TurnAction
from tenor.settings import Settings
from tests.dialog.rig import Counted, Rig, line

RESULT = {
    "reserved": True, "reason": None, "reference": "R-1", "name": "Jeans", "store": "Nara", "address": "1 Main St",
    "city": "Boston", "quantity": 1, "price": 40.0, "currency": "USD", "until": "2026-11-20",
}  # fmt: skip


class Mute:
    """Reserves, counts, and cannot be asked what became of a key."""

    source = "mute"

    def __init__(self) -> None:
        self.times = 0

    async def run(self, call: Any) -> Any:
        self.times += 1
        raise AssertionError("it must not be called again")


async def begun(rig: Rig) -> ActionStarted:
    """A conversation whose worker died after it had announced a reservation."""
    rig.start()
    await rig.open()
    await rig.say("i want to reserve jeans in boston", 1)
    await rig.stop()
    arguments = {"item": "jeans", "location": {"name": "Boston"}}
    started = ActionStarted(call="c", turn=2, action="reserve", key="the key", arguments=arguments, at=0.0)
    await rig.bus.publish(TURNS, started)
    await rig.bus.publish(TRANSCRIPTS, line("yes", 2))
    return started


async def test_what_was_done_and_told_is_not_done_again(embedded_settings: Settings) -> None:
    mute = Mute()
    async with Rig(embedded_settings, reserve=mute) as rig:
        started = await begun(rig)
        done = TurnAction(name="reserve", arguments=started.arguments, result=RESULT, key="the key", ms=7.0, source="x")
        await rig.bus.publish(TURNS, ActionDone(call="c", turn=2, key="the key", done=done, at=0.0))
        rig.start()
        turn = await rig.turn(2)
        (action,) = turn.actions
        assert (action.key, action.result, action.ms, action.arguments) == (
            "the key", RESULT, None, {"item": "jeans", "location": {"name": "Boston"}},
        )  # fmt: skip
        assert "R-1" in turn.reply or "Jeans" in turn.reply
        assert mute.times == 0


async def test_what_was_begun_is_asked_for_by_its_key(embedded_settings: Settings) -> None:
    counted = Counted(RESULT)
    counted.done["the key"] = 1
    async with Rig(embedded_settings, reserve=counted) as rig:
        await begun(rig)
        rig.start()
        (action,) = (await rig.turn(2)).actions
        assert (action.key, action.result) == ("the key", RESULT)
        assert counted.done == {"the key": 1}
        assert [event.key for event in await rig.events(TURNS) if isinstance(event, ActionDone)] == ["the key"]


async def test_what_never_happened_is_done_under_the_same_key(embedded_settings: Settings) -> None:
    counted = Counted(RESULT)
    async with Rig(embedded_settings, reserve=counted) as rig:
        await begun(rig)
        rig.start()
        (action,) = (await rig.turn(2)).actions
        assert (action.error, counted.done) == ("", {"the key": 1})


async def test_what_nobody_can_tell_of_is_told_as_uncertain_and_given_to_a_person(embedded_settings: Settings) -> None:
    mute = Mute()
    async with Rig(embedded_settings, reserve=mute) as rig:
        await begun(rig)
        rig.start()
        turn = await rig.turn(2)
        assert [(action.name, action.uncertain) for action in turn.actions] == [("reserve", True), ("handover", False)]
        assert turn.handover["queue"] == "retail"
        assert mute.times == 0


@pytest.mark.parametrize("key", ["another", "the key"])
async def test_an_order_of_another_turn_is_no_answer_to_this_one(embedded_settings: Settings, key: str) -> None:
    counted = Counted(RESULT)
    async with Rig(embedded_settings, reserve=counted) as rig:
        rig.start()
        await rig.open()
        await rig.bus.publish(TURNS, ActionStarted(call="c", turn=9, action="reserve", key=key, arguments={}, at=0.0))
        await rig.say("i want to reserve jeans in boston", 1)
        await rig.say("yes", 2)
        assert key not in counted.done
        assert list(counted.done.values()) == [1]
