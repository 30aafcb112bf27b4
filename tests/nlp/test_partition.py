"""The two topics of a partition are read side by side, in any order."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from nlp.call import CallAnalysis
from nlp.partition import TranscriptPartition
from nlp.rules import RuleEngine
from tenor.bus import Commit, Partition
from tenor.bus.commit_note import CommitNote, checked_note
from tenor.bus.partitioned import Takeover
from tenor.bus.partitioning import partition_of
from tenor.events import AUDIO_STOPPED, CALLS, TRANSCRIPTS, CallState, Topic
from tests.nlp.rig import Rig, info, said


async def test_what_is_said_is_told_although_it_is_read_before_the_call_is_known_to_go_on(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        partition = await _after_a_call(rig, "audio stopped")
        await rig.state("live")
        await rig.say(said("Hello again.", 90_000))
        await rig.state("ended")
        await _take(rig, partition, TRANSCRIPTS)
        await _take(rig, partition, CALLS)
        assert [(one.event.call, one.record.offset, one.silent) for one in partition.pop_pending()] == [
            ("c", 0, True),
            ("c", 1, False),
        ]
        assert [call.id for call in partition.done()] == ["c"]


@pytest.mark.parametrize(("reason", "named"), [("audio stopped", True), ("hangup", False)])
async def test_a_call_that_may_go_on_is_handed_on_as_long_as_its_words_are_kept(
    tmp_path: Path, reason: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Rig(tmp_path) as rig:
        partition = await _after_a_call(rig, reason)
        assert bool(_resting(partition)) == named
        later = time.time() + TRANSCRIPTS.retention_s + 60
        monkeypatch.setattr(time, "time", lambda: later)
        assert not _resting(partition)


@pytest.mark.slow
async def test_ten_thousand_calls_whose_audio_stopped_fit_into_the_commits_and_the_newest_go_on(tmp_path: Path) -> None:
    calls = [f"a-call-with-a-name-of-usual-length-{number:05}" for number in range(10_000)]
    async with Rig(tmp_path) as rig:
        live = (CallState(call=call, state="live", at=1.0, info=info()) for call in calls)
        await rig.bus.publish_many(CALLS, live)
        await rig.say(*(said("I want a refund.", 0, call=call) for call in calls))
        ended = (CallState(call=call, state="ended", at=1.0, reason=AUDIO_STOPPED, info=info()) for call in calls)
        await rig.bus.publish_many(CALLS, ended)
        for number in range(2):
            partition = _partition(rig, number)
            offset, commits = 0, dict[Partition, Commit]()
            while records := await rig.bus.fetch(Partition(TRANSCRIPTS.name, number), offset):
                for record in records:
                    await partition.take(record)
                offset = records[-1].offset + 1
                _publish(partition)
                commits = partition.commits()
                assert all(checked_note(commit.note) for commit in commits.values())
            assert not partition.calls
            successor = _partition(rig, number, commits)
            await successor.catch_up()
            resting = list(_resting(successor))
            ours = [call for call in reversed(calls) if partition_of(call, 2) == number]
            assert resting == ours[: len(resting)]
            assert len(resting) > 50


async def test_a_stage_goes_on_after_many_calls_whose_audio_stopped(tmp_path: Path) -> None:
    calls = [f"a-call-with-a-name-of-usual-length-{number:05}" for number in range(200)]
    async with Rig(tmp_path) as rig:
        for call in calls:
            await rig.state("live", call)
            await rig.say(said("I want a refund.", 0, call=call))
            await rig.state("ended", call, reason=AUDIO_STOPPED)
        for _ in range(2):  # and what the first one left behind does not stop its successor
            rig.start()
            await asyncio.gather(*(rig.analysed(call) for call in calls[-2:]))
            await rig.stop()


def _resting(partition: TranscriptPartition) -> dict[str, int]:
    return CommitNote.read(partition.commits()[Partition(TRANSCRIPTS.name, partition.number)].note).resting


async def _after_a_call(rig: Rig, reason: str) -> TranscriptPartition:
    """The partition when the call is over and everything of it is published."""
    await rig.state("live")
    ends = [(await rig.bus.bounds(Partition(CALLS.name, number)))[1] for number in range(2)]
    partition = _partition(rig, ends.index(1))
    await partition.catch_up()
    await rig.say(said("I want a refund.", 0))
    await rig.state("ended", reason=reason)
    await _take(rig, partition, TRANSCRIPTS)
    await _take(rig, partition, CALLS)
    _publish(partition)
    assert not partition.calls
    return partition


def _partition(rig: Rig, number: int, commits: dict[Partition, Commit] | None = None) -> TranscriptPartition:
    parts = [Partition(topic.name, number) for topic in (TRANSCRIPTS, CALLS)]
    found = {part.topic: (commits or {}).get(part, Commit(0)) for part in parts}
    positions = {topic: commit.offset for topic, commit in found.items()}
    notes = {topic: commit.note for topic, commit in found.items()}
    taken = Takeover(number, positions, notes)
    return TranscriptPartition(
        rig.bus, taken, lambda call, info, _: CallAnalysis(call, info, frozenset(), RuleEngine((), info, call))
    )


def _publish(partition: TranscriptPartition) -> None:
    """As if everything that was taken had been analyzed and published."""
    partition.pop_pending()
    partition.published()
    for call in partition.done():
        partition.finish(call)


async def _take(rig: Rig, partition: TranscriptPartition, topic: Topic) -> None:
    """Hand it the whole topic; what it has read already it knows."""
    for record in await rig.bus.fetch(Partition(topic.name, partition.number), 0):
        await partition.take(record)
