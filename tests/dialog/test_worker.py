"""What the assistant's stage makes of what shoppers say, as the bus shows it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dialog.chat import Chat
from dialog.flow.loading import load
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult
from dialog.understanding.keywords import Keywords
from tenor.bus import lag
from tenor.events import (
    CALLS,
    DEAD,
    TRANSCRIPTS,
    TURNS,
    ActionDone,
    ActionStarted,
    Alert,
    CallGivenBack,
    CallTakenOver,
    KeyPressed,
    Transcript,
    Turn,
    TurnFiller,
    TurnSpoken,
)
from tenor.settings import Settings
from tenor.stage import READS
from tests.dialog.rig import Rig, Worker, line

LINES = (
    "will it rain next week in los angeles?",
    "and in boston",
    "how much are jeans",
    "i want to reserve a dining table",
    "will it snow tomorrow",
    "seattle",
    "thanks",
)


@pytest.fixture
async def rig(bus_settings: Settings) -> AsyncIterator[Rig]:
    async with Rig(bus_settings) as made:
        made.start()
        yield made


async def test_a_conversation_through_the_bus_is_the_one_of_chat(rig: Rig) -> None:
    await rig.open()
    turns = [await rig.turn(0)]
    for number, text in enumerate(LINES, 1):
        turns.append(await rig.say(text, number))

    clock = [turns[0].at]
    engine, runner = rig.workers.of_flows(load())
    chat = Chat(engine, runner, lambda: datetime.fromtimestamp(clock[0], UTC), call="c")
    expected = [await chat.start()]
    for turn, text in zip(turns[1:], LINES, strict=True):
        clock[0] = turn.at
        expected.append(await chat.say(text))
    assert [[reply.text for reply in turn.replies] for turn in turns] == [one.replies for one in expected]
    assert [turn.state for turn in turns] == [one.state for one in expected]
    for turn, one in zip(turns, expected, strict=True):
        assert [(done.name, done.arguments, done.result) for done in turn.actions] == [
            (done.name, done.arguments, done.result) for done in one.actions
        ]


async def test_a_turn_tells_what_was_understood_done_and_said(rig: Rig) -> None:
    await rig.open()
    greeting = await rig.turn(0)
    assert (greeting.event, greeting.input, greeting.cause) == ("start", "", ())
    assert greeting.reply == "Hi, welcome to NARA retail and weather service. How can I help you?"
    turn = await rig.say("will it rain tomorrow in boston?", 1)
    assert (turn.event, turn.cause, turn.input) == ("heard", ("c/0/1000",), "will it rain tomorrow in boston?")
    assert (turn.intent, turn.action, turn.slots["location"]) == ("weather.rainfall_yes_no", "weather", "Boston")
    (action,) = turn.actions
    assert (action.arguments["location"], action.error, action.source) == ("Boston", "", "sample")
    assert action.result is not None
    assert len(turn.tags) == len(turn.input.split())
    assert turn.states[-1] == turn.state
    assert turn.session["turn"] == 1
    assert (turn.assistant, turn.flow) == ("retail", turn.session["version"])
    assert turn.times["turn_published"] <= time.time()
    assert not turn.ended


async def test_what_the_assistant_says_is_a_side_of_the_call(rig: Rig) -> None:
    await rig.open()
    turn = await rig.say("how much are jeans", 1)

    async def said() -> list[Transcript]:
        found = [event for event in await rig.events(TRANSCRIPTS) if isinstance(event, Transcript)]
        return [event for event in found if event.role == "assistant"]

    async def both() -> bool:
        return len(await said()) >= 2

    await rig.until(both)
    lines = await said()
    assert [one.text for one in lines[1:]] == [reply.text for reply in turn.replies]
    assert {(one.channel, one.final) for one in lines} == {(1, True)}
    positions = [one.start_ms for one in lines]
    assert positions == sorted(set(positions))
    assert len({one.utterance for one in lines}) == len(lines)


async def test_only_calls_of_the_assistant_are_answered(rig: Rig) -> None:
    await rig.open("human", attributes={}, roles=("caller", "agent"))
    await rig.bus.publish(TRANSCRIPTS, line("how much are jeans", 1, "human"))
    await rig.bus.publish(TRANSCRIPTS, line("how much are jeans", 1, "nobody knows"))
    await rig.open()
    await rig.bus.publish(TRANSCRIPTS, line("how much are je", 1, final=False))
    await rig.bus.publish(TRANSCRIPTS, line("one moment", 1, role="agent", channel=1))
    await rig.say("how much are jeans", 1)
    assert [(turn.call, turn.input) for turn in await rig.turns("")] == [("c", ""), ("c", "how much are jeans")]


async def test_two_shoppers_never_see_each_others_slots(rig: Rig) -> None:
    for call in ("ann", "ben"):
        await rig.open(call)
    await rig.say("what is the weather", 1, "ann")
    await rig.say("how much is a laptop", 1, "ben")
    await rig.say("will it snow tomorrow", 2, "ben")
    ann, ben = await asyncio.gather(rig.say("denver", 2, "ann"), rig.say("omaha", 3, "ben"))
    assert (ann.slots["location"], ben.slots["location"]) == ("Denver", "Omaha")
    ann, ben = await asyncio.gather(rig.say("and tomorrow", 3, "ann"), rig.say("how much are jeans", 4, "ben"))
    assert ann.actions[0].arguments["location"] == "Denver"
    assert "laptop" not in str(ann.session)
    assert "Denver" not in str(ben.session)


async def test_a_worker_that_takes_over_goes_on_in_the_middle_of_a_question(bus_settings: Settings) -> None:
    async with Rig(bus_settings) as rig:
        rig.start()
        await rig.open()
        asked = await rig.say("will it rain tomorrow", 1)
        assert asked.actions == ()
        await rig.stop()
        await rig.bus.publish(TRANSCRIPTS, line("seattle", 2))
        rig.start()
        answered = await rig.turn(2)
        assert answered.actions[0].arguments["location"] == "Seattle"
        assert [turn.turn for turn in await rig.turns()] == [0, 1, 2]


async def test_killed_in_the_middle_nothing_is_lost_or_doubled(bus_settings: Settings) -> None:
    """A cancelled worker whose last commit never came: its successor reads again and publishes nothing twice."""
    async with Rig(bus_settings) as rig:
        for number, text in enumerate(("how much are jeans", "and in boston", "will it snow tomorrow"), 1):
            worker = rig.workers.make(rig.bus)
            worker._loop._commit = _nothing  # type: ignore[method-assign]
            task = asyncio.create_task(worker.run())
            if number == 1:
                await rig.open()
            await rig.say(text, number)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert [(turn.turn, turn.input) for turn in await rig.turns()] == [
            (0, ""), (1, "how much are jeans"), (2, "and in boston"), (3, "will it snow tomorrow"),
        ]  # fmt: skip


async def _nothing(numbers: Any) -> None:
    pass


class Slow:
    source = "slow"

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def run(self, call: ActionCall) -> ActionResult:
        if call.call == "slow":
            await self.go_on.wait()
        return ActionResult(result={"items": []}, source=self.source)


async def test_a_slow_provider_delays_no_other_call_and_a_filler_is_said_once(embedded_settings: Settings) -> None:
    slow = Slow()
    async with Rig(embedded_settings, prices=slow) as rig:
        rig.start()
        await rig.open("slow")
        await rig.open("quick")
        await rig.turn(0, "slow")
        await rig.bus.publish(TRANSCRIPTS, line("how much are jeans", 1, "slow"))
        await rig.bus.publish(TRANSCRIPTS, line("hello", 2, "slow"))
        await rig.say("how much are jeans", 1, "quick")

        async def filled() -> bool:
            return any(isinstance(event, TurnFiller) for event in await rig.events(TURNS, "slow"))

        await rig.until(filled)
        assert len(await rig.turns("slow")) == 1
        slow.go_on.set()
        await rig.turn(2, "slow")
        assert [turn.input for turn in await rig.turns("slow")] == ["", "how much are jeans", "hello"]
        fillers = [event for event in await rig.events(TURNS, "slow") if isinstance(event, TurnFiller)]
        assert [(filler.turn, bool(filler.text)) for filler in fillers] == [(1, True)]


async def test_what_changes_something_is_announced_before_and_told_after(rig: Rig) -> None:
    await rig.open()
    await rig.say("i want to reserve jeans in boston", 1)
    turn = await rig.say("yes", 2)
    (action,) = turn.actions
    assert (action.name, action.result["reserved"] if action.result else None) == ("reserve", True)
    started, done = (event for event in await rig.events(TURNS) if isinstance(event, ActionStarted | ActionDone))
    assert isinstance(started, ActionStarted)
    assert isinstance(done, ActionDone)
    assert started.key == done.key == action.key
    assert done.done.result == action.result


async def test_a_person_takes_over_and_gives_back(rig: Rig) -> None:
    await rig.open()
    wanted = await rig.say("i want to talk to a person", 1)
    assert (wanted.action, wanted.handover["queue"]) == ("handover", "retail")
    assert wanted.wait_until == wanted.at + 60

    async def raised() -> bool:
        return any(isinstance(event, Alert) and event.escalation for event in await rig.events(CALLS))

    await rig.until(raised)
    await rig.bus.publish(TURNS, CallTakenOver(call="c", agent="amir", at=time.time()))
    taken = await rig.turn(2)
    assert (taken.event, taken.replies, taken.wait_until) == ("taken_over", (), 0.0)
    listened = await rig.say("my order is late", 3)
    assert listened.replies == ()
    await rig.bus.publish(TURNS, CallGivenBack(call="c", agent="amir", at=time.time()))
    assert (await rig.turn(4)).replies
    answered = await rig.say("how much are jeans", 5)
    assert answered.action == "prices"


async def test_a_telephone_queue_in_which_nobody_came_leaves_the_shopper_a_choice(rig: Rig) -> None:
    await rig.open()
    await rig.say("i want to talk to a person", 1)
    await rig.bus.publish(TURNS, CallGivenBack(call="c", agent="", unanswered=True, at=time.time()))
    told = await rig.turn(2)
    assert (told.event, told.session["handed_over"]) == ("nobody_came", False)
    assert "Which would you like?" in told.reply
    assert (await rig.say("how much are jeans", 3)).action == "prices"


async def test_a_rule_that_escalates_calls_for_a_person_once(bus_settings: Settings) -> None:
    async with Rig(bus_settings) as rig:
        rig.start()
        await rig.open()
        await rig.say("this is the third time i ask", 1)
        usual: dict[str, Any] = {"call": "c", "severity": "critical", "text": "x", "at_ms": 1000, "at": time.time()}
        await rig.bus.publish(CALLS, Alert(alert="c/quiet/1", rule="quiet", escalation=False, **usual))
        await rig.bus.publish(CALLS, Alert(alert="c/angry/1", rule="angry", escalation=True, **usual))
        turn = await rig.turn(2)
        assert (turn.event, turn.input, turn.handover["reason"]) == ("escalated", "", "rule angry")
        assert turn.replies[0].text.startswith("I'm passing you on")
        await rig.stop()
        rig.start()  # a successor reads the alert again
        await rig.bus.publish(TURNS, CallTakenOver(call="c", agent="amir", at=time.time()))
        assert (await rig.turn(3)).event == "taken_over"
        await rig.bus.publish(CALLS, Alert(alert="c/angry/1", rule="angry", escalation=True, **usual))
        await rig.say("hello", 4)
        assert [turn.event for turn in await rig.turns()] == ["start", "heard", "escalated", "taken_over", "heard"]


async def test_of_two_people_who_take_it_the_first_has_it(rig: Rig) -> None:
    await rig.open()
    await rig.say("i want to talk to a person", 1)
    for agent in ("amir", "bea"):
        await rig.bus.publish(TURNS, CallTakenOver(call="c", agent=agent, at=time.time()))
    assert (await rig.turn(3)).session["agent"] == "amir"
    await rig.bus.publish(TURNS, CallGivenBack(call="c", agent="bea", at=time.time()))
    assert (await rig.turn(4)).replies == ()
    await rig.bus.publish(TURNS, CallGivenBack(call="c", agent="amir", at=time.time()))
    assert (await rig.turn(5)).replies


async def test_keys_work_and_are_not_written_down(rig: Rig) -> None:
    await rig.open()
    await rig.turn(0)
    await rig.bus.publish(TURNS, KeyPressed(call="c", digit="0", at=time.time()))
    turn = await rig.turn(1)
    assert (turn.event, turn.input, turn.action) == ("key", "", "handover")


async def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_too(
    embedded_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for its answer nor for the tags of its record."""
    read = Keywords.read

    def failing(self: Keywords, text: str) -> Any:
        if "explode" in text:
            raise RuntimeError(text)
        return read(self, text)

    monkeypatch.setattr(Keywords, "read", failing)
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        turn = await rig.say("explode", 1)
        assert ("went wrong" in turn.reply, turn.tags) == (True, ())
        assert (await rig.say("how much are jeans", 2)).action == "prices"


async def test_a_line_the_engine_fails_on_is_answered_and_the_next_one_too(
    embedded_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dialog.engine import engine

    hear = engine.hear  # type: ignore[attr-defined]

    def failing(turn: Any, runner: Any, understander: Any, event: Any) -> None:
        if "explode" in event.text:
            raise RuntimeError(event.text)
        hear(turn, runner, understander, event)

    monkeypatch.setattr(engine, "hear", failing)
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        assert "went wrong" in (await rig.say("explode", 1)).reply
        assert (await rig.say("how much are jeans", 2)).action == "prices"


@pytest.mark.parametrize(
    "text", ["", "   ", "\x00\x01", "a" * 100_000, "\U0001f600" * 50, "{{7*7}} <script>", "\u202e" * 300]
)
async def test_any_line_gets_a_turn(embedded_settings: Settings, text: str) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        turn = await rig.say(text, 1)
        assert turn.input == text
        assert (await rig.say("how much are jeans", 2)).action == "prices"


async def test_junk_on_the_topics_is_put_aside(embedded_settings: Settings) -> None:
    from tenor.events import NOTES, Note, Topic

    async with Rig(embedded_settings) as rig:
        rig.start()
        for topic in (TRANSCRIPTS, CALLS, TURNS):
            strange = Topic(topic.name, Note, NOTES.retention_s)
            await rig.bus.publish(strange, Note(call="junk", note="1", author="x", text="junk", at=0))
        broken = Turn(call="c", turn=0, input="", states=(), slots={}, action="", reply="", session={"call": 5})
        await rig.open()
        await rig.turn(0)
        await rig.bus.publish(TURNS, broken)
        assert (await rig.say("how much are jeans", 1)).action == "prices"
        assert len(await rig.events(DEAD, "junk")) == 3


async def test_a_conversation_whose_session_cannot_be_read_goes_on(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        await rig.open()
        await rig.bus.publish(
            TURNS, Turn(call="c", turn=4, input="", states=(), slots={}, action="", reply="", session={"call": 5})
        )
        rig.start()
        assert (await rig.say("how much are jeans", 5)).action == "prices"


async def test_when_the_call_is_over_nothing_is_held_back(rig: Rig) -> None:
    await rig.open()
    await rig.say("how much are jeans", 1)
    await rig.end()

    async def done() -> bool:
        return not await lag(rig.bus, READS["assistant"], "assistant")

    await rig.until(done)


async def test_a_call_whose_audio_stopped_goes_on_where_it_was(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        await rig.say("will it rain tomorrow", 1)
        await rig.end(reason="audio stopped")

        async def done() -> bool:
            return not await lag(rig.bus, READS["assistant"], "assistant")

        await rig.until(done)
        await rig.stop()
        rig.start()
        await rig.open()
        assert (await rig.say("seattle", 2)).actions[0].arguments["location"] == "Seattle"


@pytest.mark.slow
async def test_who_writes_again_after_a_long_rest_is_answered(embedded_settings: Settings) -> None:
    """The line may be read before the state that says that the conversation goes on."""
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        await rig.say("will it rain tomorrow", 1)
        for number, city in enumerate(("seattle", "and in boston", "and in omaha"), 2):
            await rig.end(reason="audio stopped")

            async def done() -> bool:
                return not await lag(rig.bus, READS["assistant"], "assistant")

            await rig.until(done)
            await rig.open()
            assert (await rig.say(city, number)).actions[0].arguments["location"] == city.split()[-1].title()


async def test_a_shopper_who_only_shows_that_they_listen_is_not_answered(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open(medium="voice")
        greeting = await rig.turn(0)
        await rig.bus.publish(TRANSCRIPTS, line("Mhm, okay.", 1))
        await rig.bus.publish(TRANSCRIPTS, line("will it rain in boston tomorrow", 2))
        assert (await rig.turn(1)).input == "will it rain in boston tomorrow"
        await rig.bus.publish(TURNS, TurnSpoken(call="c", turn=1, text="", at=greeting.at))
        await asyncio.sleep(0.3)
        await rig.bus.publish(TRANSCRIPTS, line("okay", 3))
        assert (await rig.turn(2)).input == "okay", "once it is silent, it is a line"


async def test_okay_answers_a_question_of_yes_or_no_even_while_it_is_asked(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open(medium="voice")
        await rig.turn(0)
        await rig.bus.publish(TRANSCRIPTS, line("reserve a laptop at the best buy in boston", 1))
        asked = await rig.turn(1)
        assert asked.session["pending"]["kind"] == "confirm"
        await rig.bus.publish(TRANSCRIPTS, line("okay", 2))
        assert [action.name for action in (await rig.turn(2)).actions] == ["reserve"]


# -- silence, on a clock of the test's own


@pytest.mark.slow
async def test_silence_on_the_telephone_is_a_turn_and_who_writes_is_not_hurried(embedded_settings: Settings) -> None:
    ahead = [0.0]
    async with Rig(embedded_settings) as rig:
        worker = rig.workers.make(rig.bus, clock=lambda: time.time() + ahead[0])
        task = asyncio.create_task(worker.run())
        await rig.open("chat")
        await rig.open("voice", medium="voice")
        await rig.turn(0, "chat")
        greeting = await rig.turn(0, "voice")
        assert greeting.wait_until > greeting.at + 8
        await rig.bus.publish(TURNS, TurnSpoken(call="voice", turn=0, text=greeting.reply, at=greeting.at))
        await asyncio.sleep(0.3)
        ahead[0] = 9.0
        silent = await rig.turn(1, "voice")
        assert (silent.event, silent.input, bool(silent.reply)) == ("silence", "", True)
        ahead[0] = 60.0
        await rig.turn(3, "voice")
        assert len(await rig.turns("chat")) == 1
        assert await rig.events(TRANSCRIPTS, "voice") == []  # what plays it tells it
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_microphone_that_is_switched_on_and_off_within_a_conversation(embedded_settings: Settings) -> None:
    ahead = [0.0]
    async with Rig(embedded_settings) as rig:
        worker = rig.workers.make(rig.bus, clock=lambda: time.time() + ahead[0])
        task = asyncio.create_task(worker.run())
        await rig.open()
        assert (await rig.turn(0)).written
        told = len(await rig.events(TRANSCRIPTS))
        await rig.open(medium="voice")
        await asyncio.sleep(0.3)
        spoken = await rig.say("will it rain in boston tomorrow", 1)
        assert (spoken.written, spoken.wait_until > spoken.at) == (False, True)
        assert len(await rig.events(TRANSCRIPTS)) == told + 1, "what plays the reply tells it"
        await rig.bus.publish(TRANSCRIPTS, line("okay", 2, written=True))
        assert (await rig.turn(2)).input == "okay", "what is typed is never only a sign that somebody listens"
        await rig.open()
        await asyncio.sleep(0.3)
        ahead[0] = 600.0
        await asyncio.sleep(0.5)
        assert len(await rig.turns()) == 3, "who writes is not hurried"
        typed = await rig.say("and in seattle", 3)
        assert typed.written
        assert typed.actions[0].arguments["location"] == "Seattle"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.slow
async def test_nobody_takes_the_call_within_a_minute(embedded_settings: Settings) -> None:
    ahead = [0.0]
    async with Rig(embedded_settings) as rig:
        task = asyncio.create_task(rig.workers.make(rig.bus, clock=lambda: time.time() + ahead[0]).run())
        await rig.open()
        await rig.say("a person please", 1)
        waiting = await rig.say("hello?", 2)
        assert waiting.wait_until
        ahead[0] = 61.0
        told = await rig.turn(3)
        assert (told.event, bool(told.reply), told.wait_until) == ("nobody_came", True, 0.0)
        ahead[0] = 0.0
        assert (await rig.say("how much are jeans", 4)).action == "prices"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# -- two who think they own a call


async def test_of_two_turns_with_one_number_the_first_counts_and_no_line_is_lost(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open()
        first = await rig.say("will it rain tomorrow", 1)
        await rig.bus.publish(TURNS, first)  # a worker that was frozen wakes and publishes it again
        second = await rig.say("seattle", 2)
        assert second.actions[0].arguments["location"] == "Seattle"
        assert [turn.turn for turn in await rig.turns()] == [0, 1, 1, 2]


class Uncertain:
    """Dies between doing and saying so, and cannot be asked."""

    source = "elsewhere"

    async def run(self, call: ActionCall) -> ActionResult:
        raise ActionFailed("no answer in time", uncertain=True)


async def test_an_action_that_nobody_can_tell_of_is_told_as_uncertain(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings, reserve=Uncertain()) as rig:
        rig.start()
        await rig.open()
        await rig.say("i want to reserve jeans in boston", 1)
        turn = await rig.say("yes", 2)
        assert turn.actions[0].uncertain
        assert [one.name for one in turn.actions] == ["reserve", "handover"]


# -- flows that change while people talk


async def test_a_running_conversation_finishes_on_the_flows_it_began_with(
    embedded_settings: Settings, tmp_path: Path
) -> None:
    flows = tmp_path / "flows-of-ours"
    flows.mkdir()
    file = flows / "main_flow.yml"

    def write(answer: str) -> None:
        file.write_text(
            f"""name: Ours
intent_transitions: {{price_check: tell, nomatch.none: tell}}
states:
  init: {{type: message_text, properties: {{text: "Hello."}}}}
  input_intent: {{type: input_context, properties: {{nlp_type: jarvis, entities: {{intent: dontcare}}}}}}
  tell: {{type: message_text, properties: {{text: "{answer}"}}, transitions: {{next_state: input_intent}}}}
"""
        )

    write("The old answer.")
    async with Rig(embedded_settings, flows) as rig:
        rig.start()
        await rig.open("old")
        await rig.turn(0, "old")
        await rig.stop()
        write("The new and longer answer.")
        rig.workers = Worker(rig.settings.home, flows)  # another process, which has never seen the old files
        rig.start()
        await rig.open("new")
        assert (await rig.say("how much are jeans", 1, "old")).reply == "The old answer."
        assert (await rig.say("how much are jeans", 1, "new")).reply == "The new and longer answer."
