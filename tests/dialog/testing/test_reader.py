"""A file of conversation tests is read whole, and every mistake in it is told with its line and column."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from dialog.testing.conversation import BargeIn, Person, PressKey, Say, StaySilent, Wait
from dialog.testing.reader import ALWAYS, read_conversations
from tests.dialog.testing.assistants import engine_of, faults, read

EVERYTHING = """\
at: 2026-02-03T04:05
channel: voice
a conversation:
  - say: how warm will it get
  - expect: {asks: location, calls: none, reply: /city|location/, intent: weather.temperature}
  - wait: 8 s
  - silence
  - silence: 2
  - key: 0
  - person: takes over
  - person: gives back
  - while: {weather: {takes: 5 s, fails: 2}, handover: {result: {taken: true, count: 3, names: [a, b]}}}
  - say: tucson
    while: {weather: {fails: always, uncertain: yes}}
    expect: [{reply: /moment/, at: 1 s}, {fails: weather, at: 3 s}]
  - barge_in: {after: 2 words, say: "no omaha"}
    expect:
      calls: [{weather: {location: Omaha, when: {from: 2026-02-04}, measure: none}}, handover]
      slots: {location: Omaha}
      state: weather_flow.output_weather
      ended: no
      handover: no
      reply_not: [/Tucson/i, "All right."]
"""


def test_every_kind_of_step_is_read() -> None:
    [conversation], wrong = read(EVERYTHING)
    assert not wrong
    assert conversation.name == "a conversation"
    assert conversation.at == datetime(2026, 2, 3, 4, 5)
    deeds = [step.deed for step in conversation.steps]
    assert deeds == [
        Say("how warm will it get"), None, Wait(8000), StaySilent(1), StaySilent(2), PressKey("0"), Person(True),
        Person(False), None, Say("tucson"), BargeIn("no omaha", 2),
    ]  # fmt: skip
    lasting = conversation.steps[8].behaviours or {}
    assert (lasting["weather"].takes_ms, lasting["weather"].fails) == (5000, 2)
    assert lasting["handover"].result == {"taken": True, "count": 3, "names": ["a", "b"]}
    beside = conversation.steps[9].behaviours or {}
    assert (beside["weather"].fails, beside["weather"].uncertain) == (ALWAYS, True)
    assert [one.at_ms for one in conversation.steps[9].expectations] == [1000, 3000]
    assert conversation.steps[1].expectations[0].calls == ()


def test_all_mistakes_are_told_at_once_with_line_and_column() -> None:
    told = faults(
        "channel: telepathy\n"
        "one:\n"
        "  - sya: hello\n"
        "  - say: hello\n"
        "    key: 1\n"
        "  - expect: {asks: lokation, calls: wether, reply: /(/, at: soon}\n"
        "  - wait: long\n"
        "  - key: A\n"
        "  - while: {wether: {takes: 1 s}, weather: {sleeps: 1 s}}\n"
        "  - barge_in: {after: two words, say: no}\n"
        "  - expect: {state: nowhere, ended: perhaps, fails: oven}\n"
        "two: nothing\n"
    )
    wanted = [
        ("1:10", "there is no `channel` 'telepathy'"),
        ("3:5", "there is no step 'sya'; did you mean 'say'?"),
        ("5:5", "`say` and `key` are two steps"),
        ("6:20", "there is no question 'lokation'; did you mean 'location'?"),
        ("6:37", "there is no action 'wether'; did you mean 'weather'?"),
        ("6:52", "is no regular expression"),
        ("6:61", "`at` is a time"),
        ("7:11", "`wait` is a time"),
        ("8:10", "there is no key 'A'"),
        ("9:13", "there is no action 'wether'"),
        ("9:45", "there is no behaviour of actions 'sleeps'"),
        ("10:23", "`after` is a number of words"),
        ("11:21", "there is no state 'nowhere'"),
        ("11:37", "`ended` is yes or no"),
        ("11:53", "there is no action 'oven'"),
        ("12:1", "a conversation is a list of steps"),
    ]
    for place, message in wanted:
        assert any(one.startswith(f"tests.yml:{place}: ") and message in one for one in told), (place, message, told)
    assert len(told) == len(wanted)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("[]", "a mapping is expected"),
        ("at: 2026-11-18T10:00\n", "no conversation is in this file"),
        ("at: tomorrow\na: [{say: b}, {expect: {calls: none}}]", "`at` is a time such as"),
        ("a: []", "a list of steps"),
        ("a: [say]", "a step is a mapping"),
        ("a: [{say: [b]}, {expect: {calls: none}}]", "`say` is a text"),
        ("a: [{say: b}]", "nothing is expected"),
        ("a: [{expect: []}]", "empty list"),
        ("a: [{expect: {}}]", "`expect` is empty"),
        ("a: [{expect: {at: 1 s}}]", "it needs `reply`, `calls` or `fails`"),
        ("a: [{expect: {reply: []}}]", "empty list"),
        ("a: [{expect: {reply: ''}}]", "`reply` is empty"),
        ("a: [{barge_in: {after: 2 words}}, {expect: {calls: none}}]", "needs `say`"),
        ("channel: text\na: [silence, {expect: {calls: none}}]", "in text nobody notices silence"),
        ("a: [{expect: {calls: none}}]\na: [{expect: {calls: none}}]", "is here twice"),
        ("a: [{say: x}, {expect: {reply: /" + "x" * 600 + "/}}]", "at most 500 characters"),
        ("a: [{say: " + "x" * 250_000 + "}, {expect: {calls: none}}]", "longer than 200000 characters"),
        ("a: &x [*x]", "anchors"),
        ("a: [{key: 12}, {expect: {calls: none}}]", "there is no key '12'"),
        ("\x00", "not allow"),
    ],
)
def test_a_file_that_could_not_mean_anything_is_told_why(text: str, message: str) -> None:
    told = faults(text)
    assert any(message in one for one in told), told
    assert all(re.match(r"tests\.yml:\d+:\d+: ", one) for one in told)


def test_a_file_that_is_no_text_is_told_and_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "tests.yml"
    path.write_bytes(b"a:\n  - say: \xff\xfe\n")
    found, wrong = read_conversations(path, engine_of().assistant)
    assert not found
    assert str(wrong[0]).endswith(":2:10: not UTF-8 text")
