"""The two topics that a partition is understood from are read side by side, in any order."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nlp.call import UnderstoodCall
from nlp.desk import Desk
from tenor.bus import Partition
from tenor.bus.handover import Handover
from tenor.events import CALLS, TRANSCRIPTS, Topic
from tests.nlp.rig import Rig, said


async def test_what_is_said_is_told_although_it_is_read_before_the_call_is_known_to_go_on(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        desk = await _after_a_call(rig, "audio stopped")
        await rig.state("live")
        await rig.say(said("Hello again.", 90_000))
        await rig.state("ended")
        await _take(rig, desk, TRANSCRIPTS)
        await _take(rig, desk, CALLS)
        assert [(step.event.call, step.record.offset, step.silent) for step in desk.steps()] == [
            ("c", 0, True),
            ("c", 1, False),
        ]
        assert [call.id for call in desk.done()] == ["c"]


@pytest.mark.parametrize(("reason", "named"), [("audio stopped", True), ("hangup", False)])
async def test_a_call_that_may_go_on_is_handed_on_as_long_as_its_words_are_kept(
    tmp_path: Path, reason: str, named: bool
) -> None:
    async with Rig(tmp_path) as rig:
        desk = await _after_a_call(rig, reason)
        assert [bool(_resting(desk, time.time() + age)) for age in (0, TRANSCRIPTS.retention_s + 60)] == [named, False]


def _resting(desk: Desk, now: float) -> dict[str, int]:
    return Handover.read(desk.commit(now)[Partition(TRANSCRIPTS.name, desk.number)].note).resting


async def _after_a_call(rig: Rig, reason: str) -> Desk:
    """The desk when the call is over and everything of it is told."""
    await rig.state("live")
    ends = [(await rig.bus.bounds(Partition(CALLS.name, number)))[1] for number in range(2)]
    desk = Desk(rig.bus, ends.index(1), lambda call, info: UnderstoodCall(call, info, frozenset(), None))
    await desk.open(None, None)
    await rig.say(said("I want a refund.", 0))
    await rig.state("ended", reason=reason)
    await _take(rig, desk, TRANSCRIPTS)
    await _take(rig, desk, CALLS)
    desk.steps()
    desk.published()
    for call in desk.done():
        desk.finish(call)
    assert not desk.calls
    return desk


async def _take(rig: Rig, desk: Desk, topic: Topic) -> None:
    """Hand it the whole topic; what it has read already it knows."""
    for record in await rig.bus.fetch(Partition(topic.name, desk.number), 0):
        await desk.take(record)
