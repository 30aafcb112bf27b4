"""What the language stage makes of transcripts, as the bus shows it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from nlp.inference.types import Backend, SentenceAnalysis, SentenceContext
from tenor.bus import lag
from tenor.events import CALLS, DEAD, TRANSCRIPTS, Alert, CallState, Topic, Transcript
from tenor.stage import READS
from tests.nlp.rig import Rig, WordLists, heard, said


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with Rig(tmp_path) as made:
        made.start()
        yield made


async def test_a_call_becomes_sentences_figures_a_task_and_analysed(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(
        said("I want a refund for Monday. It was terrible.", 1000, confidence=0.9),
        said("I am so sorry.", 6000, channel=1),
        heard(9000),
        heard(9000, channel=1),
    )
    await rig.state("ended")
    await rig.analysed()
    first, second, third = await rig.sentences()
    assert (first.sentence, first.text, first.role) == ("c/0/1000", "I want a refund for Monday.", "caller")
    assert (first.intent, first.intent_score, first.slots, first.language) == ("refund", 0.9, {"date": "Monday"}, "en")
    assert (second.sentiment, second.mood, second.models["sentiment"]) == ("negative", -1.0, "lists-1")
    assert (third.role, third.channel, third.start_ms, third.end_ms) == ("agent", 1, 6000, 7200)
    assert list(first.times) == ["captured", "published", "understood", "sentence_published"]
    assert first.times["understood"] <= first.times["sentence_published"] <= time.time()
    metrics = await rig.metrics()
    assert [one.final for one in metrics] == [False] * (len(metrics) - 1) + [True]
    assert (metrics[-1].task, metrics[-1].at_ms) == ("refund", 9000)
    assert metrics[-1].values["mood.caller"] == -0.5
    assert metrics[-1].values["talk_s.agent"] == 1.2
    assert (await rig.states())[-2:] == ["ended", "analysed"]
    assert isinstance((await rig.events(CALLS))[-1], CallState)


async def test_interim_text_is_not_classified(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want", 0, final=False, utterance="c/0/~0", words=()), said("I want a refund.", 0))
    await rig.state("ended")
    await rig.analysed()
    assert [sentence.text for sentence in await rig.sentences()] == ["I want a refund."]


async def test_a_call_going_on_is_held_and_has_been_read(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund.", 0))

    async def read() -> bool:
        progress = (await rig.bus.progress(READS["language"], "language")).values()
        return not sum(at.unread for at in progress) and sum(at.lag for at in progress) >= 2

    await rig.until(read)
    await rig.state("ended")
    await rig.analysed()
    await rig.until(lambda: _done(rig))


async def _done(rig: Rig) -> bool:
    return not await lag(rig.bus, READS["language"], "language")


async def test_a_sentence_is_told_before_the_call_ends_and_again_when_it_goes_on(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I lost my", 0))
    await rig.until(lambda: _count(rig, 1))
    await rig.say(said("card.", 2000))
    await rig.until(lambda: _count(rig, 2))
    before, after = await rig.sentences()
    assert before.sentence == after.sentence
    assert (before.revision, after.revision, after.text) == (0, 1, "I lost my card.")
    await rig.state("ended")
    await rig.analysed()
    assert (await rig.metrics())[-1].values["sentences.caller"] == 1


async def test_figures_are_told_every_two_seconds_of_the_call(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(*(heard(at_ms, channel=channel) for at_ms in range(500, 10_001, 500) for channel in (0, 1)))
    await rig.state("ended")
    await rig.analysed()
    assert [one.at_ms for one in await rig.metrics()] == [2000, 4000, 6000, 8000, 10_000, 10_000]


async def test_a_call_is_summed_up_while_it_goes_on_and_when_it_is_over(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund please", 0), said("it will arrive on Monday", 3000, channel=1))
    await rig.say(heard(9000), heard(9000, channel=1))

    async def summed_up() -> bool:
        return any(one.summary is not None and one.summary.outcome for one in await rig.metrics())

    await rig.until(summed_up)
    await rig.say(heard(12_000), heard(12_000, channel=1))

    async def measured_again() -> bool:
        return any(one.at_ms >= 12_000 for one in await rig.metrics())

    await rig.until(measured_again)
    assert (await rig.metrics())[-1].summary is None, "what has not changed is not published again"
    await rig.state("ended")
    await rig.analysed()
    *_, last = await rig.events(CALLS, "c")
    assert isinstance(last, CallState)
    assert last.state == "analysed"
    [*_, live, final] = [one.summary for one in await rig.metrics() if one.summary is not None]
    assert final is not None
    assert live is not None
    assert [(point.kind, point.sentence) for point in final.points] == [
        ("wanted", "c/0/0"),
        ("detail", "c/1/3000"),
        ("promised", "c/1/3000"),
        ("mood", "c/0/0"),
    ]
    assert (final.outcome, live.outcome) == ("promised", "promised")


async def test_the_last_metrics_have_the_scorecard_with_its_proofs_and_those_before_none(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund.", 0), said("Good morning, this is Anna.", 3000, channel=1))
    await rig.say(heard(9000), heard(9000, channel=1))
    await rig.until(lambda: _measured(rig))
    await rig.state("ended")
    await rig.analysed()
    *before, last = await rig.metrics()
    assert before
    assert not any(one.scorecard for one in before)
    card = {point.point: (point.value, point.sentence) for point in last.scorecard}
    assert card["greeted"] == ("yes", "c/1/3000")
    assert card["closed"] == ("no", "")


async def _measured(rig: Rig) -> bool:
    return bool(await rig.metrics())


async def test_an_alert_is_raised_once(rig: Rig) -> None:
    await rig.state("live")
    for number in range(4):
        await rig.say(said("This is terrible.", number * 4000))
    await rig.state("ended")
    await rig.analysed()
    alerts = [event for event in await rig.events(CALLS) if isinstance(event, Alert)]
    assert alerts
    assert len({alert.alert for alert in alerts}) == len(alerts)
    assert {alert.sentence for alert in alerts} <= {sentence.sentence for sentence in await rig.sentences()} | {""}


async def test_a_failed_call_is_understood_and_stays_failed(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund.", 0))
    await rig.state("failed", reason="connection lost")
    await rig.until(lambda: _final(rig))
    assert len(await rig.sentences()) == 1
    assert await rig.states() == ["live", "failed"]


async def test_a_chat_has_no_talk_and_its_sentences_are_named_by_position(rig: Rig) -> None:
    await rig.state("live", medium="chat")
    await rig.say(
        said("Hello. I want a refund", 0, utterance="c/0/0", words=(), heard_ms=0),
        said("Lovely, thanks", 0, utterance="c/1/1", channel=1, words=(), heard_ms=0),
    )
    await rig.state("ended", medium="chat")
    await rig.analysed()
    assert [one.sentence for one in await rig.sentences()] == ["c/0/0", "c/0/0.1", "c/1/1"]
    last = (await rig.metrics())[-1]
    assert {name.partition(".")[0] for name in last.values} == {"words", "sentences", "mood", "mood_now"}
    assert last.task == "refund"


async def test_a_call_whose_beginning_is_unknown_is_understood_all_the_same(rig: Rig) -> None:
    await rig.say(said("I want a refund.", 0))
    await rig.until(lambda: _count(rig, 1))
    await rig.state("ended")
    await rig.analysed()
    assert (await rig.metrics())[-1].task == "refund"


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_call_that_goes_on_after_all_is_one_call(rig: Rig, restarted: bool) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund.", 0))
    await rig.state("ended", reason="audio stopped")
    await rig.analysed()
    if restarted:
        await rig.until(lambda: _done(rig))
        await rig.stop()
        rig.start()
    await rig.state("live")
    await rig.say(said("Hello again.", 90_000))
    await rig.state("ended")
    await rig.analysed(times=2)
    assert len(await rig.sentences()) == 2
    last = (await rig.metrics())[-1]
    assert (last.values["sentences.caller"], last.task) == (2, "refund")


async def test_a_transcript_that_comes_twice_counts_once(rig: Rig) -> None:
    await rig.state("live")
    await rig.say(said("I want a refund.", 0), said("I want a refund.", 0))
    await rig.state("ended")
    await rig.analysed()
    assert len(await rig.sentences()) == 1
    assert (await rig.metrics())[-1].values["words.caller"] == 4


class Raw:
    """An event of which only the bytes count."""

    call = "c"


async def test_poison_goes_to_the_dead_letters_and_the_stage_goes_on(rig: Rig) -> None:
    await rig.state("live")
    broken = Topic(TRANSCRIPTS.name, Transcript, TRANSCRIPTS.retention_s)
    broken.encode = lambda event: b"not json"  # type: ignore[method-assign]
    await rig.bus.publish(broken, Raw())  # type: ignore[arg-type]
    await rig.say(said("This will explode.", 0), said("I want a refund.", 3000))
    await rig.state("ended")
    await rig.analysed()
    assert [sentence.text for sentence in await rig.sentences()] == ["I want a refund."]
    unreadable, not_understood = sorted(await rig.events(DEAD), key=lambda letter: letter.offset)
    assert unreadable.value == b"not json"
    assert (unreadable.stage, unreadable.topic) == ("language", TRANSCRIPTS.name)
    assert "explode" not in not_understood.reason


class Slow(WordLists):
    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        time.sleep(0.05)
        return super().analyze(texts)


async def test_sentences_of_many_calls_go_through_together(tmp_path: Path) -> None:
    async with Rig(tmp_path, Slow()) as rig:
        rig.start()
        calls = [f"call-{number}" for number in range(40)]
        for call in calls:
            await rig.state("live", call)
        await asyncio.gather(*(rig.say(said("I want a refund.", 0, call=call)) for call in calls))
        for call in calls:
            await rig.state("ended", call)
        for call in calls:
            await rig.analysed(call)
        backend = rig.backend
        assert sum(backend.batches) == 40
        assert max(backend.batches) > 5


def test_our_own_stand_in_is_a_back_end() -> None:
    backend: Backend = WordLists()
    assert backend.analyze(["Great!"])[0].mood == 1.0


async def _count(rig: Rig, number: int) -> bool:
    return len(await rig.sentences()) == number


async def _final(rig: Rig) -> bool:
    return any(one.final for one in await rig.metrics())


async def test_the_models_are_told_who_speaks_and_the_sentence_before(tmp_path: Path) -> None:
    lists = WordLists()
    async with Rig(tmp_path, lists) as rig:
        rig.start()
        await rig.state("live")
        await rig.say(said("How can I help you?", 0, channel=1))
        await rig.say(said("I want a refund. It is broken.", 3000))
        await rig.say(said("Oh dear.", 6000, channel=1))
        await rig.until(lambda: len(lists.contexts) == 4)
    assert lists.contexts == {
        "How can I help you?": SentenceContext("agent", None),
        "I want a refund.": SentenceContext("caller", "How can I help you?"),
        "It is broken.": SentenceContext("caller", "I want a refund."),
        "Oh dear.": SentenceContext("agent", "It is broken."),
    }
