"""Conversations are played on virtual time, and a difference is told as an author can read it."""

from __future__ import annotations

import time
from pathlib import Path

from dialog.testing.report import as_json, told
from tests.dialog.testing.assistants import differences, play


def test_a_conversation_as_expected_passes() -> None:
    result = play(
        "warm:\n"
        "  - expect: {reply: '/welcome/', ended: no}\n"
        "  - say: how warm will it get\n"
        "  - expect: {asks: location, calls: none, intent: weather.temperature}\n"
        "  - say: tucson\n"
        "  - expect: {calls: {weather: {location: Tucson, measure: temperature, when: none}}, reply: /Tucson/}\n"
        "  - expect: {slots: {location: Tucson}, state: main_flow.input_intent, handover: no}\n"
    )
    assert result.failed == ()
    assert result.coverage.states["weather_flow.output_weather"]
    assert result.coverage.ways[("<weather.temperature>", "main_flow.temperature")]
    assert result.coverage.ways[("weather_flow.weather_state", "weather_flow.output_weather")]
    assert "retail_flow.price_state" in result.coverage.missing_states()


def test_a_difference_shows_the_conversation_what_was_expected_and_what_came() -> None:
    result = play(
        "warm:\n  - say: how warm is it in boston\n  - expect: {calls: {weather: {location: Omaha}}, asks: item}\n"
    )
    lines = list(told(result))
    assert lines[0] == "FAILED  tests.yml:1: warm"
    assert any(line.endswith("you        how warm is it in boston") for line in lines)
    assert any("assistant  In Boston" in line for line in lines)
    assert "  line 3:" in lines
    assert "    expected  calls: {weather: {location: Omaha}}" in lines
    assert "    got       calls: weather {location: Boston, measure: temperature}" in lines
    assert "    got       asks: none" in lines
    assert lines[-1].startswith("1 of 1 conversations failed")
    document = as_json(result)
    assert (document["passed"], document["failed"]) == (0, 1)
    assert document["conversations"][0]["mismatches"][0]["line"] == 3


def test_each_kind_of_expectation_can_fail() -> None:
    for expectation in (
        "reply: none", "reply: /Omaha/", "reply: In Boston", "reply_not: /Boston/", "asks: location", "calls: none",
        "calls: prices", "calls: [weather, weather]", "calls: {weather: {location: none}}",
        "calls: {weather: {when: tomorrow}}", "slots: {location: Omaha}", "slots: {item: milk}", "intent: price_check",
        "state: main_flow.init", "ended: yes", "fails: weather", "handover: yes",
    ):  # fmt: skip
        text = f"a:\n  - say: how warm is it in boston\n  - expect: {{{expectation}}}\n"
        assert len(differences(text)) == 1, expectation


def test_an_hour_takes_no_time() -> None:
    began = time.perf_counter()
    result = play(
        "at: 2026-11-18T10:00\nchannel: text\n"
        "slow:\n  - say: weather\n  - wait: 20 min\n  - expect: {reply: /location/}\n  - wait: 9 h\n  - say: hello\n"
        "  - expect: {asks: resume}\n"
    )
    assert result.failed == ()
    assert time.perf_counter() - began < 5


def test_slow_actions_get_a_filler_and_a_timeout_at_their_times() -> None:
    slow = "a:\n  - say: weather in tucson\n    while: {weather: {takes: 5 s}}\n"
    assert not differences(slow + "  - expect: [{reply: /moment/, at: 1 s}, {fails: weather, at: 3 s}]\n")
    [(line, expected, got)] = differences(slow + "  - expect: {reply: /moment/, at: 2 s}\n")
    assert (line, expected) == (4, "reply: /moment/")
    assert "(1 s)" in got
    assert "(3 s)" in got


def test_failures_are_tried_again_where_that_is_safe() -> None:
    once = "a:\n  - say: weather in tucson\n    while: {weather: {fails: 2}}\n"
    assert not differences(
        once + "  - expect: {calls: weather, reply: /In Tucson/, at: 300 ms}\n".replace("calls: weather, ", "")
    )
    always = "a:\n  - say: weather in tucson\n    while: {weather: {fails: always}}\n"
    assert not differences(always + "  - expect: [{calls: weather}, {fails: weather, at: 300 ms}]\n")
    reserve = "a:\n  - say: reserve a tent in denver\n  - say: 'yes'\n    while: {reserve: {fails: 1}}\n"
    assert not differences(reserve + "  - expect: [{calls: reserve}, {fails: reserve, at: 0}]\n")


def test_what_a_shopper_says_meanwhile_is_heard() -> None:
    assert not differences(
        "a:\n"
        "  - say: weather in tucson\n"
        "    while: {weather: {takes: 2 s}}\n"
        "  - wait: 500 ms\n"
        "  - expect: {reply: none, calls: weather}\n"
        "  - say: how much is oat milk\n"
        "  - expect: {calls: prices, reply_not: /Tucson/}\n"
        "  - wait: 5 s\n"
        "  - expect: {reply: none}\n"
    )


def test_how_actions_behave_lasts_until_it_is_said_otherwise() -> None:
    assert not differences(
        "a:\n"
        "  - while: {weather: {fails: always}}\n"
        "  - say: weather in tucson\n"
        "  - expect: {fails: weather}\n"
        "  - say: weather in omaha\n"
        "  - expect: {fails: weather}\n"
        "  - while: {}\n"
        "  - say: weather in omaha\n"
        "  - expect: {reply: /In Omaha/}\n"
    )
    assert not differences(
        "a:\n"
        "  - say: weather in tucson\n"
        "    while: {weather: {fails: always}}\n"
        "  - say: weather in omaha\n"
        "  - expect: {reply: /In Omaha/}\n"
    )


def test_silence_is_noticed_in_voice_at_its_time() -> None:
    assert not differences("a:\n  - say: weather\n  - wait: 8 s\n  - expect: {reply: /city/, at: 8 s}\n")
    assert not differences("a:\n  - say: weather\n  - wait: 7 s\n  - expect: {reply: /location/, at: 0}\n")
    [(line, _, got)] = differences("a:\n  - say: bye\n  - silence\n  - expect: {ended: yes}\n")
    assert line == 3
    assert "silence is not noticed" in got


def test_a_scripted_result_is_what_the_assistant_gets() -> None:
    assert not differences(
        "a:\n"
        "  - say: get me a person\n"
        "    while: {handover: {result: {taken: true}}}\n"
        "  - expect: {handover: yes}\n"
        "  - person: takes over\n"
        "  - say: hello\n"
        "  - expect: {reply: none}\n"
        "  - person: gives back\n"
        "  - expect: {reply: /back/}\n"
    )


def test_a_result_of_the_wrong_shape_fails_the_test_and_not_the_run() -> None:
    result = play(
        "a:\n"
        "  - say: weather in tucson\n"
        "    while: {weather: {result: {available: true, days: [1]}}}\n"
        "  - expect: {reply: /Tucson/}\n"
        "b:\n"
        "  - say: weather in tucson\n"
        "  - expect: {reply: /Tucson/}\n"
    )
    assert [one.passed for one in result.outcomes] == [False, True]


def test_two_runs_say_the_same() -> None:
    text = "a:\n  - say: blubb\n  - say: bla bla\n  - say: bye\n  - expect: {ended: yes}\n"
    assert play(text).outcomes[0].transcript == play(text).outcomes[0].transcript


def test_the_example_of_the_documentation_passes() -> None:
    page = Path(__file__).parents[3] / "docs" / "assistant-tests.md"
    example = page.read_text("utf-8").partition("```yaml\n")[2].partition("```")[0]
    result = play(example)
    assert len(result.outcomes) == 1
    assert result.failed == (), "\n".join(told(result))
