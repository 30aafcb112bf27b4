"""Two voices on one channel whose roles turn out to be the other way round."""

from __future__ import annotations

from pathlib import Path

from tests.nlp.rig import Rig, heard, said

SPEAKERS = ("caller", "agent")


async def test_sentences_so_far_get_the_other_role_under_the_same_id(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.start()
        await rig.state("live", speakers=SPEAKERS)
        await rig.say(
            said("Hello there.", 1000, role="caller"),
            said("I want a refund", 3000, channel=1, role="caller"),
            said("because it was terrible.", 4400, channel=1, role="caller"),
            said("I am sorry.", 7000, role="agent"),
            heard(9000),
        )
        await rig.state("ended", speakers=SPEAKERS)
        await rig.analysed()
        newest = {one.sentence: one for one in await rig.sentences()}  # the last revision of each
        assert [(one.sentence, one.role, one.channel) for one in newest.values()] == [
            ("c/0/1000", "agent", 0),
            ("c/1/3000", "caller", 1),
            ("c/0/7000", "agent", 0),
        ]
        assert newest["c/0/1000"].revision == 1
        assert newest["c/1/3000"].text == "I want a refund because it was terrible."
        assert rig.backend.contexts["Hello there."].role == "agent"
        metrics = (await rig.metrics())[-1]
        assert metrics.values["sentences.agent"] == 2
        assert metrics.values["sentences.caller"] == 1
        assert metrics.values["talk_s.agent"] == 1.5
        assert metrics.values["mood.caller"] == -1.0
        assert metrics.task == "refund"


async def test_a_successor_names_them_alike(tmp_path: Path) -> None:
    said_first = [said("Hello there.", 1000, role="caller"), said("I want a refund.", 3000, channel=1, role="caller")]
    async with Rig(tmp_path) as rig:
        worker = rig.start()
        await rig.state("live", speakers=SPEAKERS)
        await rig.say(*said_first)

        async def known() -> bool:
            return len({one.sentence for one in await rig.sentences()}) == 2

        await rig.until(known)
        worker.cancel()
        await rig.stop()
        rig.start()
        await rig.say(said("I am sorry.", 7000, role="agent"), heard(9000))
        await rig.state("ended", speakers=SPEAKERS)
        await rig.analysed()
        newest = {one.sentence: one for one in await rig.sentences()}
        assert [one.role for one in newest.values()] == ["agent", "caller", "agent"]


async def test_what_one_voice_says_is_heard_for_both(tmp_path: Path) -> None:
    """Silence on the one channel is silence of both."""
    async with Rig(tmp_path) as rig:
        rig.start()
        await rig.state("live", speakers=SPEAKERS)
        await rig.say(said("Hello there.", 1000), said("Hello.", 3000, channel=1), heard(20_000))

        async def measured() -> bool:
            return any(one.values.get("silence_longest_s", 0) > 15 for one in await rig.metrics())

        await rig.until(measured)
