"""Every kind of mistake in an assistant is told, at its place, with what was probably meant."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from dialog.engine.states.base import state_type as implementation
from dialog.flow.loading import STARTER, CheckReport, check_files, check_texts
from dialog.flow.reading.reader import TOP_KEYS
from dialog.flow.reading.state_reader import STATE_KEYS
from dialog.flow.state_types import CUSTOM, PAPER_TYPES, STATE_TYPES

HERE = Path(__file__).parent
HEAD = "intent_transitions: {nomatch.none: ask}\nstates:\n"
ASK = "  ask: {type: input_context}\n"


def _check(text: str, **others: str) -> CheckReport:
    return check_texts({"main_flow.yml": text, **{f"{name}.yml": other for name, other in others.items()}})


def _told(report: CheckReport) -> list[str]:
    return [str(one) for one in (*report.faults, *report.warnings)]


def test_a_small_assistant_has_no_mistakes() -> None:
    report = _check(HEAD + "  hello: {type: message_text, properties: {text: Hello}}\n" + ASK)
    assert _told(report) == []
    assert report.assistant is not None


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (
            "  a: {type: message_text, properties: {text: Hi}, transitions: {next_state: asq}}\n",
            r"^main_flow\.yml:3:77: there is no state 'asq'; did you mean 'ask'\?",
        ),
        (
            "  a: {type: change_context, properties: {update_keys: {x: y}}, transitions: {flow: retale_flow}}\n",
            r"there is no flow 'retale_flow'; there are: main_flow",
        ),
        (
            "  a: {type: mesage_text, properties: {text: Hi}}\n",
            r":3:13: there is no type of states 'mesage_text'; did you mean 'message_text'",
        ),
        ("  a: {properties: {text: Hi}}\n", r":3:3: state 'a' has no `type`"),
        ("  a: {type: message_text}\n", r":3:3: state 'a' has no `text`"),
        (
            "  a: {type: message_text, properties: {txt: Hi}}\n",
            r"there is no property of a message_text state 'txt'; did you mean 'text'",
        ),
        ("  a: {type: message_text, properties: {text: [Hi]}}\n", r"`text` is a text, not a list"),
        ("  a: {type: message_text, properties: {text: ''}}\n", r"`text` is empty"),
        ("  a: {type: message_text, properties: [text]}\n", r"`properties` is a mapping"),
        ("  a: message_text\n", r"state 'a' is a mapping"),
        ("  a: {type: message_text_random, properties: {responses: []}}\n", r"`responses` is an empty list"),
        (
            "  a: {type: message_text, properties: {text: Hi, interruptible: perhaps}}\n",
            r"`interruptible` is yes or no",
        ),
        ("  a: {type: message_text, properties: {text: Hi}, delay: soon}\n", r"`delay` is a time"),
        ("  a: {type: message_text, properties: {text: Hi}, delay: 3600}\n", r"`delay` is from 0 to 60 s"),
        (
            "  a: {type: message_text, properties: {text: Hi, delay: 1}, delay: 2}\n",
            r"`delay` is 2000 ms here and 1000 ms under `properties`",
        ),
        (
            "  a: {type: message_text, properties: {text: '{{locaton}}'}}\n",
            r":3:46: nothing sets 'locaton'; did you mean 'location'",
        ),
        ("  a: {type: message_text, properties: {text: '{{ 9**9 }}'}}\n", r"`text`: \*\* is not allowed in a template"),
        ("  a: {type: message_text, properties: {text: '{{ x'}}\n", r"`text`: not a template"),
        (
            "  a: {type: message_text, properties: {text: Hi}, transitions: {nxt_state: ask}}\n",
            r"there is no transition of a message_text state 'nxt_state'; did you mean 'next_state'",
        ),
        (
            "  a: {type: message_text, properties: {text: Hi}, next_state: ask}\n",
            r"`next_state` stands beside `transitions`",
        ),
        ("  a: {type: message_text, text: Hi}\n", r"`text` stands beside `properties`"),
        (
            "  a: {type: message_text, properties: {text: Hi, transitions: {next_state: ask}}}\n",
            r"`transitions` stands inside of `properties`",
        ),
        ("  a: {type: message_text, properties: {text: Hi}, colour: red}\n", r"there is no key of a state 'colour'"),
        (
            "  a: {type: message_text, properties: {text: Hi}, b: {type: end}}\n",
            r"'b' looks like a state that is indented too far",
        ),
        ("  a: {type: reset, properties: {text: Hi}}\n", r"a reset state has no properties"),
        (
            "  a: {type: input_user, properties: {entities: {slot: loction}}, transitions: {match: ask}}\n",
            r"there is no slot 'loction'; did you mean 'location'",
        ),
        ("  a: {type: input_user, properties: {entities: {}}}\n", r"`entities` has no `slot`"),
        ("  a: {type: conditional_exists, properties: {key: {{location}}}}\n", r"key` needs quotes"),
        ("  a: {type: conditional_exists, properties: {key: '{{a}} and {{b}}'}}\n", r"`key` is one variable"),
        (
            "  a: {type: conditional_exists, properties: {key: '{{weathr_status}}'}}\n",
            r"nothing sets 'weathr_status'; did you mean 'weather_status'",
        ),
        ("  a: {type: choose, transitions: {next_state: ask}}\n", r"a choose state has a list of transitions"),
        ("  a: {type: choose, transitions: [{when: 'x = 1', to: ask}, {to: ask}]}\n", r"equal is written =="),
        (
            "  a: {type: choose, transitions: [{when: 'open(1)', to: ask}, {to: ask}]}\n",
            r"is not allowed in a condition",
        ),
        ("  a: {type: choose, transitions: [{to: ask}, {when: intent, to: ask}]}\n", r"always taken"),
        ("  a: {type: choose, transitions: [{when: intent, to: ask}]}\n", r"what if none holds"),
        (
            "  a: {type: choose, transitions: [{when: 'results > 1', to: ask}, {to: nowhere}]}\n",
            r"there is no state 'nowhere'",
        ),
        (
            "  a: {type: task, properties: {action: wether}, transitions: {done: ask}}\n",
            r"there is no action 'wether'; did you mean 'weather'",
        ),
        ("  a: {type: call, transitions: {next_state: ask}}\n", r"state 'a' is a call and has no `flow`"),
        ("  a: {type: 'nowhere.to_be:Found'}\n", r"there is no module 'nowhere.to_be'"),
        ("  a: {type: 'dialog.flow.model:Found'}\n", r"there is no 'Found' in module 'dialog.flow.model'"),
        ("  a: {type: 'a:b:c'}\n", r"there is no type of states 'a:b:c'"),
        ("  was said before: {type: end}\n", r"looks like text that was wrapped"),
        ("  transitions: {next_state: ask}\n", r"`transitions` stands outside of any state"),
        ("  a b: c\n", r"looks like text that was wrapped"),
    ],
)
def test_a_mistake_in_a_state(states: str, message: str) -> None:
    report = _check(HEAD + states + ASK)
    assert report.assistant is None
    assert any(re.search(message, line) for line in _told(report)), _told(report)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "intent_transitions: {price_chek: ask}\n",
            r":1:22: there is no intent 'price_chek'; did you mean 'price_check'",
        ),
        (
            "intent_transitions: {price_check: aks}\n",
            r"intent 'price_check': there is no state 'aks'; did you mean 'ask'",
        ),
        ("intent_transitions: [ask]\n", r"`intent_transitions` is a mapping"),
        (
            "intent_transitions:\n  price_check: ask # which one\nof them: later\n",
            r"'of them' looks like text that was wrapped",
        ),
        ("aliases: {unknown: nomach.none}\n", r"there is no intent 'nomach.none'; did you mean 'nomatch.none'"),
        ("intents: {loyalty.points: {like: [how many points]}}\n", r"intent 'loyalty.points' has no way"),
        ("intents: {loyalty.points: {}}\n", r"has no examples"),
        ("start: aks\n", r"there is no state 'aks'; did you mean 'ask'"),
        ("stats: {}\n", r"there is no key 'stats'; did you mean 'states'"),
        ("hello: {type: message_text}\n", r"'hello' looks like a state that lost its indentation"),
        ("slots: {city: {ask: Where}}\n", r"slot 'city' has no `type`"),
        ("slots: {city: {type: plaze}}\n", r"there is no type of slots 'plaze'; did you mean 'place'"),
        ("slots: {city: {type: place, keep: forever}}\n", r"there is no `keep` 'forever'"),
        ("slots: {city: {type: place, confirm: below 7}}\n", r"`confirm` of a slot is `below 0.6`"),
        ("slots: {city: {type: place, depends_on: [sotre]}}\n", r"there is no slot 'sotre'"),
        ("slots: {city: {type: place, depends_on: [city]}}\n", r"depends on itself"),
        ("slots: {city: {type: place, labels: [loc]}}\n", r"there is no label 'loc'"),
        ("slots: {pick: {type: choice}}\n", r"has no `choices`"),
        ("slots: {a: {type: text}, a: {type: text}}\n", r"slot 'a' is declared twice"),
        ("slots: {city: {type: place, aks: Where}}\n", r"there is no key of a slot 'aks'; did you mean 'ask'"),
        ("actions: {weather: {needs: [town]}}\n", r"there is no slot 'town'"),
        ("actions: {fly: {}}\n", r"`call` is package.module:Class or an action that ships, not 'fly'"),
        ("actions: {weather: {timeout: 3}}\n", r"`timeout` is a time such as"),
        ("actions: {weather: {retries: 99}}\n", r"`retries` is a whole number from 0 to 10"),
        (
            "actions: {reserve: {changes: order}}\n",
            r"action 'reserve' changes something \(order\) and has no `confirm`",
        ),
        ("actions: {reserve: {key: [item]}}\n", r"`key` names 'item', which the action neither needs nor uses"),
        ("actions: {weather: {filler: {after: 1 s}}}\n", r"`filler` has no `say`"),
        ("guard: {medical: {like: [pills]}}\n", r"guarded topic 'medical' has no `say`"),
        ("actions: {places: {needs: [town or city]}}\n", r"there is no slot 'town'"),
        ("patterns: {failures: 0}\n", r"`failures` is a whole number from 1 to 10"),
        ("patterns: {silence: long}\n", r"`silence` is a time"),
        ("patterns: {digress_above: 170 %}\n", r"`digress_above` is a share"),
        ("patterns: {replies: {goodby: Bye}}\n", r"there is no reply 'goodby'; did you mean 'goodbye'"),
        ("patterns: {handover: {mood: -0.5}}\n", r"`mood` of `handover` is `below -0.5`"),
        ("patterns: {handover: {mood: below nothing}}\n", r"`mood` of `handover` is `below -0.5`"),
        ("patterns: {handover: {mood: below -7}}\n", r"`mood` of `handover` is `below -0.5`"),
        ("patterns: {handover: {que: a}}\n", r"there is no key of `handover` 'que'; did you mean 'queue'"),
        ("name: [a]\n", r"`name` is a text"),
    ],
)
def test_a_mistake_outside_of_the_states(section: str, message: str) -> None:
    head = HEAD if not section.startswith("intent_transitions") else "states:\n"
    report = _check(section + head + ASK)
    assert report.assistant is None
    assert any(re.search(message, line) for line in _told(report)), _told(report)


def test_a_slot_that_a_task_must_ask_for_has_a_question() -> None:
    text = (
        "slots: {location: {type: place}}\nactions: {weather: {needs: [location]}}\n"
        + HEAD
        + "  go: {type: task, properties: {action: weather}, transitions: {done: ask, failed: ask}}\n"
        + ASK
    )
    assert _told(_check(text)) == ["main_flow.yml:1:9: slot 'location' has no `ask`, and action 'weather' needs it"]
    assert _told(_check(text.replace("type: place", "type: place, ask: Where"))) == []


def test_what_goes_round_without_input_is_a_fault_and_what_may_is_a_warning() -> None:
    endless = (
        "  a: {type: reset, transitions: {next_state: b}}\n"
        "  b: {type: conditional_exists, properties: {key: location}, transitions: {exists: a, notexists: a}}\n"
    )
    report = _check(HEAD + endless + ASK)
    assert "main_flow.yml:3:3: goes round without ever waiting for an input: a -> b -> a" in _told(report)
    report = _check(HEAD + endless.replace("notexists: a", "notexists: ask") + ASK)
    assert report.assistant is not None
    assert _told(report) == ["main_flow.yml:3:3: warning: may go round without waiting for an input: a -> b -> a"]


def test_a_state_after_which_nothing_comes_is_a_fault() -> None:
    report = _check(HEAD + ASK + "  bye: {type: message_text, properties: {text: Bye}}\n")
    assert any("state 'bye' leads nowhere" in line for line in _told(report))
    report = _check(
        HEAD.replace("ask}", "ask, price_check: bye}") + ASK + "  bye: {type: end, properties: {text: Bye}}\n"
    )
    assert _told(report) == []


def test_what_is_not_answered_is_told() -> None:
    assert any("routes intents" in line for line in _told(_check("states:\n" + ASK)))
    assert any(
        "`nomatch.none` has no way" in line for line in _told(_check(HEAD.replace("nomatch.none", "price_check") + ASK))
    )


def test_declarations_of_all_files_belong_together_and_none_is_made_twice() -> None:
    shared = "slots: {location: {type: place}}\nguard: {law: {like: [sue], say: No.}}\n"
    assert _told(_check(HEAD + ASK, shared=shared)) == []
    told = _told(_check(shared + HEAD + ASK, shared=shared + "aliases: {unknown: nomatch.none}\n"))
    assert told == [
        "shared.yml:1:9: slot 'location' is declared twice; the first is in main_flow.yml",
        "shared.yml:2:9: topic 'law' is declared twice; the first is in main_flow.yml",
    ]


def test_states_of_other_flows_are_found_in_main_or_by_their_full_name() -> None:
    main = HEAD + "  in: {type: change_context, properties: {update_keys: {a: b}}, transitions: {flow: Side}}\n" + ASK
    side = "name: Side\nstart: two\nstates:\n  one: {type: end}\n  two: {type: reset, transitions: {next_state: ask}}\n"
    report = _check(main, side_flow=side)
    assert _told(report) == ["side_flow.yml:4:3: warning: no way leads to state 'one'"]
    assert report.assistant is not None
    assert report.assistant.state("main_flow.in").transitions == {"flow": "side_flow.two"}
    assert report.assistant.state("side_flow.two").transitions == {"next_state": "main_flow.ask"}
    assert _told(_check(main.replace("flow: Side", "next_state: two"), side_flow=side))[0].endswith(
        "there is no state 'two'; it is in another flow: side_flow.two"
    )
    assert not _check(main.replace("flow: Side", "next_state: side_flow.two"), side_flow=side).faults


def test_a_file_that_cannot_be_read_does_not_make_the_others_wrong() -> None:
    main = HEAD + "  in: {type: change_context, properties: {update_keys: {a: b}}, transitions: {flow: side}}\n" + ASK
    told = _told(_check(main, side="states: {a: [}\n"))
    assert len(told) == 1
    assert told[0].startswith("side.yml:1:")


def test_the_papers_structure_as_printed_fails_with_each_damage_named() -> None:
    report = check_files(HERE / "printed")
    told = [line.removeprefix(f"{HERE}/printed/") for line in _told(report)]
    for message in (
        "main_flow.yml:19:34: intent 'navigation.startnavigationpoi': there is no state 'retail'",  # Y1
        "main_flow.yml:21:22: intent 'navigation.geteta': there is no state 'retail'",
        "main_flow.yml:22:29: intent 'navigation.showdirection': there is no state 'retail'",
        "retail_flow.yml:37:17: there is no state 'check_retail_jarvis_error'; did you mean 'check_rerail_jarvis",  # Y2
        "main_flow.yml:20:1: 'was said before. Left for later.' looks like the rest of the comment above",  # Y21
        "main_flow.yml:31:1: 'input_intent' looks like a state that lost its indentation",  # Y22
        "main_flow.yml:78:1: `properties` stands beside the states: it looks like a part of state 'retail_price_check'",
        "retail_flow.yml:8:3: `transitions` stands beside the states: it looks like a part of state 'store_location'",
        "retail_flow.yml:48:1: 'output_retail_notlocation' looks like a state that lost its indentation",  # Y23
        "weather_flow.yml:22:1: 'ask_weather_location' looks like a state that lost its indentation",  # Y24
    ):
        assert any(line.startswith(message) for line in told), message
    assert sum("looks like a state" in line for line in told) == 18 + 3 + 6
    assert [re.findall(r"'(.*)'", str(one))[0] for one in report.warnings] == [  # Y4 and Y3
        "dont_get_the_intent",
        "end_state",
        "output_retail_acknowledge",
        "output_retail_notlocation",
        "check_rerail_jarvis_error",
        "show_retail_jarvis_api_error",
        "output_weather_acknowledge",
    ]


def test_the_papers_structure_loads_once_it_is_mended() -> None:
    report = check_files(HERE / "mended")
    assistant = report.assistant
    assert assistant is not None, _told(report)
    assert [len(flow.states) for flow in assistant.flows.values()] == [19, 1, 9, 9]
    assert list(assistant.flows) == ["main_flow", "error_flow", "retail_flow", "weather_flow"]
    assert len(assistant.intent_transitions) == 20
    assert {state.type for flow in assistant.flows.values() for state in flow.states.values()} == set(PAPER_TYPES)
    assert len(report.warnings) == 4
    init = assistant.state("main_flow.init")
    assert init.transitions == {"next_state": "main_flow.input_intent"}
    assert init.properties["text"].source.endswith("What shall I look up for you?")  # wrapped within quotes
    assert assistant.state("main_flow.input_intent").transitions == {}
    assert assistant.state("main_flow.rain").transitions == {"flow": "weather_flow.check_weather_location"}
    assert assistant.state("weather_flow.output_weather").transitions == {"next_state": "main_flow.input_intent"}
    asked = assistant.state("retail_flow.input_retail_location")
    assert asked.properties == {"nlp_type": "jarvis", "entities": {"slot": "location", "require_match": True}}
    assert assistant.state("weather_flow.check_jarvis_error").properties == {"key": "jarvis_error"}
    assert len(assistant.state("main_flow.dont_get_the_intent").properties["responses"]) == 5
    assert assistant.aliases == {"find_the_store": "store_location", "unknown": "nomatch.none"}


def test_a_thousand_states_are_checked_within_a_second_even_if_all_are_wrong() -> None:
    def assistant(to: str) -> str:
        states = (
            f"  state_{i}:\n    type: message_text\n    properties:\n      text: Number {i}\n"
            f"    transitions:\n      next_state: {to.format(i + 1)}\n"
            for i in range(999)
        )
        return HEAD.replace(": ask", ": state_0") + "".join(states) + "  state_999: {type: input_context}\n"

    began = time.process_time()
    assert _told(_check(assistant("state_{}"))) == []
    assert time.process_time() - began < 1
    began = time.process_time()
    assert len(_check(assistant("stat_{}")).faults) == 999
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "[]",
        "a",
        "{",
        "states:\n",
        "states: []",
        "\t",
        "a: &b c\nd: *b",
        "states: {x: !!python/object:os.system {}}",
        "{" * 2000,
        "states: {a: {type: end}}\n---\nb: c",
        "\x00",
        "- - -",
        "states: {'': {}}",
        "states: {? [a] : b}",
        "name: x",
    ],
)
def test_files_that_are_no_assistant_are_told_and_nothing_breaks(text: str) -> None:
    assert _check(text).faults


def test_the_reader_knows_what_the_table_of_state_types_says() -> None:
    assert PAPER_TYPES == (
        "message_text", "message_text_random", "input_context", "input_user", "change_context", "conditional_exists",
        "reset", "Retail", "Weather",
    )  # fmt: skip
    for kind in STATE_TYPES.values():
        assert implementation(kind.name)
        assert all(key in kind.transitions for keys in kind.exits for key in keys)
        assert kind.about
        for name, declared in kind.properties.items():
            values = {
                "templates": "[a]",
                "templates by name": "{a: b}",
                "slot entity": "{slot: location}",
                "intent entity": "{intent: dontcare}",
                "flag": "yes",
                "delay": "0",
                "action": "weather",
                "variable": "location",
            }
            needed = {one: other for one, other in kind.properties.items() if other.required or one == name}
            properties = ", ".join(f"{one}: {values.get(other.kind, 'a')}" for one, other in needed.items())
            text = HEAD + f"  s: {{type: {kind.name}, properties: {{{properties}}}}}\n" + ASK
            messages = [line for line in _told(_check(text)) if f"`{name}`" in line or f"'{name}'" in line]
            assert not messages, (declared, messages)
    assert CUSTOM.name not in STATE_TYPES
    assert not set(STATE_KEYS) & set(TOP_KEYS)


def test_a_file_in_the_middle_of_being_edited_is_told_and_nothing_breaks() -> None:
    """Lines moved, cut and filled with what YAML and templates find hard: the reader goes by what is left."""
    draw = random.Random(7)
    source = (STARTER / "main_flow.yml").read_text("utf-8")
    pieces = [
        "{",
        "}",
        "[",
        ": ",
        "- ",
        '"',
        "{{",
        "{%",
        "\t",
        "&a ",
        "*a",
        "!!x ",
        "? ",
        "\0",
        "🙂",
        "transitions:",
        "\n",
    ]
    told = 0
    for _ in range(60):
        lines = source.split("\n")
        for _ in range(draw.randint(1, 4)):
            at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
            match draw.randrange(3):
                case 0:
                    lines[at] = " " * draw.randint(0, 6) + lines[at].lstrip()
                case 1:
                    lines[at], lines[other] = lines[other], lines[at]
                case _:
                    cut = draw.randrange(len(lines[at]) + 1)
                    lines[at] = lines[at][:cut] + draw.choice(pieces) + lines[at][cut + draw.randint(0, 9) :]
        report = _check("\n".join(lines))
        assert (report.assistant is None) == bool(report.faults)
        told += bool(report.faults)
    assert told > 30
