"""The engine as a pure function: sessions, late and failing actions, silence, keys, a person who takes over."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from dialog.engine import Engine
from dialog.engine.engine import Step
from dialog.engine.events import (
    Call,
    Done,
    Effect,
    End,
    Escalated,
    Failed,
    GivenBack,
    HandOver,
    Heard,
    Key,
    Say,
    Silence,
    Spoken,
    TakenOver,
    Wait,
)
from dialog.engine.session import Session
from dialog.flow.loading import load
from dialog.understanding.keywords import Keywords
from dialog.understanding.types import Reading
from dialog.values.registry import parser
from tests.dialog.engine.conftest import NOW

MENDED = Path(__file__).parent.parent / "flow" / "mended"
RAIN = {"available": True, "days": [{"date": "2026-11-18", "high_f": 50, "low_f": 40, "condition": "rainy"}]}


def heard(engine: Engine, session: Session, text: str, now: datetime = NOW) -> Step:
    return engine.step(session, Heard(text), now)


def only_call(effects: list[Effect]) -> Call:
    (call,) = [effect for effect in effects if isinstance(effect, Call)]
    return call


def texts(step: Step) -> list[str]:
    return [effect.text for effect in step.effects if isinstance(effect, Say)]


def test_the_same_step_twice_gives_the_same(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    before = msgspec.json.encode(session)
    first, second = heard(engine, session, "weather in boston"), heard(engine, session, "weather in boston")
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    assert msgspec.json.encode(session) == before


def test_a_session_survives_storage_in_the_middle_of_a_question(engine: Engine) -> None:
    session = heard(engine, engine.start("a", NOW).session, "what's the weather").session
    stored = msgspec.json.encode(session)
    assert len(stored) < 4_000
    read_back = msgspec.json.decode(stored, type=Session)
    assert only_call(heard(engine, read_back, "boston").effects).arguments["location"]["name"] == "Boston"


def test_two_shoppers_never_see_each_others_values(engine: Engine) -> None:
    one, two = engine.start("a", NOW).session, engine.start("b", NOW).session
    one = heard(engine, one, "weather in boston").session
    two = heard(engine, two, "what's the weather").session
    one = heard(engine, one, "and tomorrow").session
    assert "location" not in (two.task.slots if two.task else {})
    assert two.recall == {}


def test_a_long_conversation_stays_small(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    lines = (
        "weather in boston",
        "how much are jeans",
        "where can i get sushi in denver",
        "asdf",
        "do you have milk",
        "help",
    )
    for number in range(120):
        step = heard(engine, session, lines[number % len(lines)])
        session = step.session
        for effect in step.effects:
            if isinstance(effect, Call):
                result = {
                    "items": [{"name": "x" * 50, "price": 1.0, "quantity": 3, "store": "s"}] * 200,
                    "available": True,
                }
                session = engine.step(session, Done(effect.id, result), NOW).session
    assert len(msgspec.json.encode(session)) < 20_000


def test_an_action_that_changes_something_has_the_same_key_for_the_same_wish(engine: Engine) -> None:
    session = heard(engine, engine.start("a", NOW).session, "reserve two pairs of jeans in boston").session
    keys = {only_call(heard(engine, session, "yes").effects).key for _ in range(2)}
    assert len(keys) == 1
    other = engine.start("b", NOW).session
    other = heard(engine, other, "reserve two pairs of jeans in boston").session
    assert only_call(heard(engine, other, "yes").effects).key not in keys


def test_a_slow_action_has_a_filler_and_a_deadline(engine: Engine) -> None:
    call = only_call(heard(engine, engine.start("a", NOW).session, "weather in boston").effects)
    assert call.filler
    assert call.filler_ms == 1000
    assert call.deadline_ms == 3000


def test_a_failing_action_is_told_without_internals(engine: Engine) -> None:
    step = heard(engine, engine.start("a", NOW).session, "weather in boston")
    step = engine.step(step.session, Failed(only_call(step.effects).id, "HTTP 503 from api.example.com"), NOW)
    assert texts(step)
    assert "503" not in " ".join(texts(step))
    assert only_call(heard(engine, step.session, "weather in boston").effects)


def test_an_uncertain_reservation_goes_to_a_person(engine: Engine) -> None:
    session = heard(engine, engine.start("a", NOW).session, "reserve jeans in boston").session
    step = heard(engine, session, "yes")
    step = engine.step(step.session, Failed(only_call(step.effects).id, "timeout", uncertain=True), NOW)
    assert only_call(step.effects).action == "handover"


def test_a_late_result_is_kept_and_not_spoken(engine: Engine) -> None:
    first = heard(engine, engine.start("a", NOW).session, "weather in boston")
    second = heard(engine, first.session, "where can i get sushi")
    late = engine.step(second.session, Done(only_call(first.effects).id, RAIN), NOW)
    assert texts(late) == []
    assert late.session.pending is not None
    assert late.session.late


def test_a_result_for_an_unknown_call_is_ignored(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    assert texts(engine.step(session, Done("99.1", RAIN), NOW)) == []


def test_silence_asks_again_and_then_ends(engine: Engine) -> None:
    step = heard(engine, engine.start("a", NOW).session, "what's the weather")
    assert [effect.until for effect in step.effects if isinstance(effect, Wait)] == [NOW + timedelta(seconds=8)]
    prompts = []
    for _ in range(3):
        step = engine.step(step.session, Silence(), NOW)
        prompts += texts(step)
    assert len(set(prompts)) == 3
    assert "person" in prompts[-1]
    for _ in range(2):
        step = engine.step(step.session, Silence(), NOW)
    assert any(isinstance(effect, End) for effect in step.effects)


def test_silence_without_a_question_ends_with_goodbye(engine: Engine) -> None:
    step = engine.start("a", NOW)
    for _ in range(3):
        step = engine.step(step.session, Silence(), NOW)
    assert step.session.ended


def test_key_zero_calls_a_person_and_other_digits_choose(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    assert only_call(engine.step(session, Key("0"), NOW).effects).action == "handover"
    session = heard(engine, session, "weather in portland").session
    place = only_call(engine.step(session, Key("2"), NOW).effects).arguments["location"]
    assert place["state"] == "ME"


def test_after_half_an_hour_the_question_is_whether_to_go_on(engine: Engine) -> None:
    session = heard(engine, engine.start("a", NOW).session, "what's the weather").session
    later = NOW + timedelta(minutes=31)
    step = heard(engine, session, "hello?", later)
    assert "go on" in texts(step)[0]
    step = heard(engine, step.session, "yes", later)
    assert only_call(heard(engine, step.session, "boston", later).effects)


def test_a_person_who_takes_over_is_not_interrupted_and_gives_back_in_the_middle(engine: Engine) -> None:
    step = heard(engine, engine.start("a", NOW).session, "what's the weather")
    step = heard(engine, step.session, "a human please")
    step = engine.step(step.session, Done(only_call(step.effects).id, {"taken": True}), NOW)
    assert any(isinstance(effect, HandOver) for effect in step.effects)
    step = engine.step(step.session, TakenOver("ann"), NOW)
    step = heard(engine, step.session, "my order is late")
    assert step.effects == []
    step = engine.step(step.session, GivenBack(), NOW)
    assert texts(step)[-1].endswith("?")
    assert only_call(heard(engine, step.session, "boston").effects)


def test_of_two_people_the_first_has_it_and_only_they_give_it_back(engine: Engine) -> None:
    step = engine.step(engine.start("a", NOW).session, TakenOver("ann"), NOW)
    for event in (TakenOver("ben"), GivenBack("ben")):
        step = engine.step(step.session, event, NOW)
        assert (step.session.handed_over, step.session.agent, step.effects) == (True, "ann", [])
    step = engine.step(step.session, GivenBack("ann"), NOW)
    assert (step.session.handed_over, step.session.agent) == (False, "")
    assert texts(step)
    again = engine.step(step.session, GivenBack("ann"), NOW)
    assert texts(again) == [], "sent twice, it is said once"


def test_a_rule_calls_for_a_person_unless_one_is_there(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    step = engine.step(session, Escalated("a/angry/1", "angry"), NOW)
    call = only_call(step.effects)
    assert (call.action, call.arguments["reason"]) == ("handover", "rule angry")
    taken = engine.step(session, TakenOver("ann"), NOW).session
    step = engine.step(taken, Escalated("a/angry/1", "angry"), NOW)
    assert step.effects == []
    assert step.session.alerts == ["a/angry/1"]


class Moody(Keywords):
    """Lines with these words sound bad."""

    def read(self, text: str) -> Reading:
        reading = super().read(text)
        return msgspec.structs.replace(reading, sentiment="negative" if "awful" in text else "neutral")


def moody(engine: Engine, below: float | None) -> Engine:
    patterns = replace(engine.assistant.patterns, handover_mood=below)
    return Engine(replace(engine.assistant, patterns=patterns), Moody(), engine._parsers)


def test_a_mood_that_stays_bad_calls_for_a_person_once(engine: Engine) -> None:
    engine = moody(engine, -0.5)
    step = heard(engine, engine.start("a", NOW).session, "how much are jeans this is awful")
    assert [effect.action for effect in step.effects if isinstance(effect, Call)] == ["prices"], "one line is no mood"
    step = heard(engine, step.session, "how much is milk this is awful")
    calls = [effect for effect in step.effects if isinstance(effect, Call)]
    assert [call.action for call in calls] == ["prices", "handover"], "the question is answered, too"
    assert calls[1].arguments["reason"] == "mood"
    step = heard(engine, step.session, "how much is a laptop this is awful")
    assert "handover" not in [effect.action for effect in step.effects if isinstance(effect, Call)]


def test_without_a_mood_in_the_flow_nobody_is_called(engine: Engine) -> None:
    engine = moody(engine, None)
    step = engine.start("a", NOW)
    for _ in range(4):
        step = heard(engine, step.session, "how much are jeans this is awful")
        assert "handover" not in [effect.action for effect in step.effects if isinstance(effect, Call)]


def test_what_was_heard_of_a_reply_is_kept(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    assert engine.step(session, Spoken("Hi, welcome"), NOW).session.heard == "Hi, welcome"


def test_the_papers_own_files_run() -> None:
    flow = load(MENDED)
    kinds = ("place", "when", "item", "store", "sort", "quantity", "size", "color")
    engine = Engine(flow, Keywords(), {kind: parser(kind) for kind in kinds})
    step = heard(engine, engine.start("a", NOW).session, "will it rain tomorrow")
    assert step.session.state == "weather_flow.input_weather_location"
    step = heard(engine, step.session, "in los angeles please")
    call = only_call(step.effects)
    assert (call.action, call.arguments["measure"]) == ("weather", "rain")
    step = engine.step(step.session, Done(call.id, RAIN), NOW)
    assert step.session.context["weather_status"] == texts(step)[0]
    assert step.session.state == "main_flow.input_intent"
    step = heard(engine, step.session, "how much are jeans")
    assert step.session.state == "retail_flow.input_retail_location"
    step = heard(engine, step.session, "denver")
    assert only_call(step.effects).action == "prices"


LOOPING = """
name: main
intent_transitions: {store_location: a}
states:
  hi: {type: message_text, properties: {text: Hello.}}
  listen: {type: input_context}
  a: {type: choose, transitions: [{when: "location", to: listen}, {to: b}]}
  b: {type: choose, transitions: [{when: "location", to: listen}, {to: a}]}
"""


def test_a_flow_that_loops_is_stopped_and_told(tmp_path: Path) -> None:
    (tmp_path / "main_flow.yml").write_text(LOOPING)
    engine = Engine(load(tmp_path), Keywords(), {"place": parser("place")})
    step = heard(engine, engine.start("a", NOW).session, "where is the pharmacy")
    assert any(entry.rule == "loop without input" for entry in step.trace)
    assert texts(step)


CUSTOM = """
name: main
intent_transitions: {store_location: points}
states:
  hi: {type: message_text, properties: {text: Hello.}}
  listen: {type: input_context}
  points:
    type: "tests.dialog.engine.custom_state:Points"
    transitions: {next_state: listen}
"""


def test_a_state_type_of_ones_own_runs(tmp_path: Path) -> None:
    (tmp_path / "main_flow.yml").write_text(CUSTOM)
    engine = Engine(load(tmp_path), Keywords(), {"place": parser("place")})
    assert texts(heard(engine, engine.start("a", NOW).session, "where is the pharmacy")) == ["You have 12 points."]


def test_a_turn_of_the_engine_alone_is_quick(engine: Engine) -> None:
    session = engine.start("a", NOW).session
    began, count = time.perf_counter(), 100
    for _ in range(count):
        heard(engine, session, "what's the weather")
    assert (time.perf_counter() - began) / count < 0.02
