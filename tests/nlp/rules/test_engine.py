"""What each kind of rule fires on, and when."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from nlp.rules import KnownNames, RuleSet, read
from tenor.events import Alert, CallMetrics, Sentence
from tenor.taxonomy import intents
from tests.nlp.rules.calls import CALL, STARTED, fired, info, metrics, rules, said


def watch(rules: RuleSet, *events: Sentence | CallMetrics | float, **known: Any) -> list[Alert]:
    """What comes of sentences, metrics, and seconds up to which all was heard."""
    engine = rules.engine_for(info(**known), CALL)
    alerts = []
    for event in events:
        if isinstance(event, Sentence):
            alerts += engine.sentence(event)
        elif isinstance(event, CallMetrics):
            alerts += engine.metrics(event)
        else:
            alerts += engine.silence(round(event * 1000))
    return alerts


def test_an_alert_says_what_where_and_when(tmp_path: Path) -> None:
    ruleset = rules(
        tmp_path,
        """
        cancels:
          when: {says: [cancel my account, close my account], who: caller}
          severity: critical
          raise: escalation
          say: 'At {at} the {who} said "{phrase}"'
        """,
    )
    (alert,) = watch(ruleset, said("Hello.", 1), said("I'd like to CLOSE my account, please.", 65))
    assert alert == Alert(
        call=CALL,
        alert=f"{CALL}/cancels/65000",
        rule="cancels",
        severity="critical",
        text='At 1:05 the caller said "close my account"',
        at_ms=65_000,
        at=STARTED + 65,
        escalation=True,
        sentence=f"{CALL}/0/65000",
    )


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("don't want", "I DON\u2019T want that!", True),
        ("dont want", "I don't want that", True),
        ("cancel my account", "cancel my ... account", True),
        ("cancel my account", "cancel the account", False),
        ("cancel my account", "my account, cancel", False),
        ("cancel * account", "cancel account", True),
        ("cancel * account", "cancel one two three four five account", True),
        ("cancel * account", "cancel one two three four five six account", False),
        ("cancel*", "a Cancellation was made", True),
        ("cancel", "a cancellation was made", False),
        ("cancel* * contract*", "I cancelled both of the contracts", True),
        ("a * b", "a a a a a a a b", True),
        ("a b a c", "a b a b a c", True),
        ("stra\u00dfe", "in the STRASSE", True),
        ("nine-thirty", "at nine thirty", True),
    ],
)
def test_phrases(tmp_path: Path, phrase: str, text: str, found: bool) -> None:
    ruleset = rules(tmp_path, f'r:\n  when: {{says: "{phrase}"}}\n')
    assert bool(watch(ruleset, said(text))) is found


def test_several_words_about_a_sentence_are_about_the_same_one(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {says: refund, feels: negative, intent: refund, who: caller, sure: 70 %}}")
    near = [
        said("a refund", 0, sentiment="negative", intent="cancel"),
        said("a refund", 5, sentiment="neutral", intent="refund"),
        said("money back", 10, sentiment="negative", intent="refund"),
        said("a refund", 15, sentiment="negative", intent="refund", intent_score=0.5),
        said("a refund", 20, "agent", sentiment="negative", intent="refund"),
    ]
    assert not watch(ruleset, *near)
    assert fired(watch(ruleset, *near, said("a refund", 25, sentiment="negative", intent="refund"))) == [("r", 25_000)]


def test_in_a_row_counts_one_side_only(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, 'r: {when: {caller: negative, in a row: 3}, say: "{count} in a row"}')
    bad: Any = {"sentiment": "negative"}
    assert not watch(ruleset, said("a", 0, **bad), said("b", 5, **bad), said("c", 10), said("d", 15, **bad))
    alerts = watch(ruleset, said("a", 0, **bad), said("x", 3, "agent"), said("b", 5, **bad), said("c", 10, **bad))
    assert [alert.text for alert in alerts] == ["3 in a row"]
    assert alerts[0].at_ms == 10_000


def test_times_within_a_while(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {agent: negative, times: 2, within: 1 min}}")
    bad: Any = {"sentiment": "negative"}
    assert not watch(ruleset, said("a", 0, "agent", **bad), said("b", 70, "agent", **bad))
    agent = [said("a", 0, "agent", **bad), said("ok", 20, "agent"), said("b", 50, "agent", **bad)]
    assert fired(watch(ruleset, *agent)) == [("r", 50_000)]


def test_again_after_a_pause_and_only_with_something_new(tmp_path: Path) -> None:
    text = "r: {when: {says: refund}, again after: 30 s}"
    sentences = [said("refund", at) for at in (0, 10, 29, 30, 45, 60)]
    assert fired(watch(rules(tmp_path, text), *sentences, 500)) == [("r", 0), ("r", 30_000), ("r", 60_000)]
    once = rules(tmp_path, "r: {when: {says: refund}}")
    assert fired(watch(once, *sentences)) == [("r", 0)]


def test_silence_is_where_it_has_lasted_long_enough(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, 'r: {when: {silence: 20 s}, again after: 1 s, say: "{seconds} s"}')
    alerts = watch(ruleset, said("hello", 0), 21.9, 22.0, 23.0, 30.0, said("hm", 35), 54, 58, 60)
    assert fired(alerts) == [("r", 22_000), ("r", 57_000)]
    assert alerts[0].text == "20 s"
    assert not watch(ruleset, said("hello", 0), 60, medium="chat")


def test_a_silence_is_found_though_nobody_told_of_it_meanwhile(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {silence: 20 s}, again after: 1 s}")
    hello, late, later = said("hello", 0), said("hm", 35), said("well", 80, "agent")
    often: list[Sentence | float] = [hello, 1, 22, 30, late, 36, 50, later, 70, 82]
    for told in ([hello, late, later, 82.0], often, [hello, late, 36.0, later, 82.0]):
        assert fired(watch(ruleset, *told)) == [("r", 22_000), ("r", 57_000)]
    long = said("what was said meanwhile", 3, "agent", lasts_s=40)
    assert fired(watch(ruleset, hello, 1, late, long, 43, later, 82)) == [("r", 63_000)]


def test_a_rule_for_a_part_of_the_call(tmp_path: Path) -> None:
    text = """
        early: {when: {says: hello, in the first: 10 s}}
        late: {when: {says: hello, after: 1 min}}
        quiet: {when: {silence: 5 s, in the first: 10 s}}
    """
    sentences = [said("hello", 11), said("hello", 61)]
    assert fired(watch(rules(tmp_path, text), *sentences)) == [("late", 61_000)]
    assert fired(watch(rules(tmp_path, text), 5, *sentences)) == [("quiet", 5000), ("late", 61_000)]
    assert not watch(rules(tmp_path, text), said("yes", 4), said("hello", 11), 20)


@pytest.mark.parametrize(
    ("when", "values", "text"),
    [
        ("{metric: talk_share.agent, above: 80 %, after: 2 min}", {"talk_share__agent": 0.834}, "83 % over 80 %"),
        ("{metric: words_per_minute.agent, above: 180}", {"words_per_minute__agent": 201.5}, "201.5 over 180"),
        ("{metric: mood_now.caller, below: -0.3}", {"mood_now__caller": -0.51}, "-0.51 over -0.3"),
        ("{metric: longest_monologue_s.agent, above: 1.5 min}", {"longest_monologue_s__agent": 91.0}, "91 s over 90 s"),
        ("{overlap: 10 s}", {"overlap_s": 10.2}, "10 s over 10 s"),
        ("{metric: loudness.caller, above: -12 dB}", {"loudness__caller": -8.0}, "-8 over -12"),
    ],
)
def test_metrics(tmp_path: Path, when: str, values: dict[str, float], text: str) -> None:
    ruleset = rules(tmp_path, f'r: {{when: {when}, say: "{{value}} over {{limit}}"}}')
    alerts = watch(ruleset, metrics(119), metrics(150, **values), metrics(160, **values))
    assert [(alert.at_ms, alert.text) for alert in alerts] == [(150_000, text)]


def test_a_metric_counts_only_after_a_while(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {metric: talk_share.agent, above: 80 %, after: 2 min}}")
    assert not watch(ruleset, metrics(60, talk_share__agent=1.0), metrics(121, talk_share__agent=0.8))


def test_the_task_of_the_call(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, 'r: {when: {task: [cancel, refund], sure: 60 %}, say: "about {task}"}')
    assert not watch(ruleset, metrics(1, task="cancel", task_score=0.5), metrics(2, task="payment", task_score=1.0))
    assert [a.text for a in watch(ruleset, metrics(3, task="cancel", task_score=0.7))] == ["about cancel"]


MUST = "r: {when: {not said: [call is recorded, recording this call], who: agent, by: 30 s}}"


def test_what_must_be_said_and_was(tmp_path: Path) -> None:
    greeting = said("This call is recorded.", 25, "agent", lasts_s=10)
    # Another side's sentence, or time passing, comes first: the agent may still be speaking.
    assert not watch(rules(tmp_path, MUST), said("Hi", 31), 40, greeting, said("Well", 60, "agent"), 300)


def test_what_must_be_said_and_was_not(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, MUST)
    assert fired(watch(ruleset, said("Hi", 31, "agent"))) == [("r", 30_000)]
    assert fired(watch(ruleset, said("This call is recorded", 31, "agent"))) == [("r", 30_000)]
    assert fired(watch(ruleset, said("This call is recorded", 3, "caller"), 54, 56)) == [("r", 30_000)]
    assert fired(watch(ruleset, metrics(32, final=True))) == [("r", 30_000)]
    assert not watch(ruleset, metrics(28, final=True)), "the call was over before the time was"


def test_what_must_be_said_in_the_first_sentences(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {not said: my name is, who: agent, by: 2 sentences}}")
    first = [said("Hello", 0, "agent"), said("How are you", 5, "agent")]
    assert not watch(ruleset, *first), "the second may still be continued"
    assert fired(watch(ruleset, *first, said("Well", 9, "agent"))) == [("r", 5000)]
    assert fired(watch(ruleset, *first, metrics(60, final=True), medium="chat")) == [("r", 5000)]
    continued = said("How are you, my name is Kim", 5, "agent", revision=1)
    assert not watch(ruleset, *first, continued, said("Well", 9, "agent"))


def test_all_any_and_not(tmp_path: Path) -> None:
    ruleset = rules(
        tmp_path,
        """
        r:
          when:
            all:
              - any: [{intent: cancel}, {says: leave you}]
              - {silence: 10 s}
              - not: {says: [sorry, apologise], who: agent}
        """,
    )
    leaving = said("I will leave you", 10)
    assert not watch(ruleset, 60)
    assert not watch(ruleset, leaving, 21.9)
    assert fired(watch(ruleset, leaving, 22)) == [("r", 22_000)]
    assert not watch(ruleset, leaving, said("I am sorry", 13, "agent"), 60)


def test_within_lets_go_again(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {all: [{says: refund, within: 30 s}, {silence: 10 s}]}}")
    talk = [said("hm", at) for at in (8, 14)]
    assert fired(watch(ruleset, said("refund", 0), *talk, said("hm", 20), 60)) == [("r", 32_000)], "28 s after them"
    assert not watch(ruleset, said("refund", 0), *talk, said("hm", 23), 60)
    assert not watch(ruleset, said("hm", 20), said("refund", 25), 29), "the silence was before the words"


def test_only_for_some_calls(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {says: hi}, only for: {queue: [sales, billing], medium: voice}}")
    assert watch(ruleset, said("hi"), queue="billing")
    assert not watch(ruleset, said("hi"), queue="support")
    assert not watch(ruleset, said("hi"), queue="sales", medium="chat")
    assert not ruleset.engine_for(None, CALL).sentence(said("hi"))


def test_a_book_of_complaints_is_watched_in_the_time_it_takes_to_read(tmp_path: Path) -> None:
    """Twenty thousand sentences, every second one a hit: nothing looks back at all of them for each."""
    ruleset = rules(
        tmp_path,
        """
        row: {when: {caller: negative, in a row: 3}, again after: 1 min}
        often: {when: {caller: negative, times: 3, within: 1 min}, again after: 1 min}
        """,
    )
    feelings = ("negative", "negative", "negative", "neutral", "neutral", "neutral")
    began = time.process_time()
    alerts = watch(ruleset, *(said("late", at, sentiment=feelings[at % 6]) for at in range(20_000)), medium="chat")
    assert time.process_time() - began < 5
    assert [alert.at_ms for alert in alerts if alert.rule == "row"] == list(range(2000, 20_000_000, 60_000))


def test_a_sentence_about_several_aspects_is_about_each(tmp_path: Path) -> None:
    ruleset = rules(
        tmp_path, 'one: {when: {label: {aspect: delivery}}}\nboth: {when: {label: {aspect: "price,delivery"}}}'
    )

    def rules_fired(told: str) -> list[str]:
        return [alert.rule for alert in watch(ruleset, said("late", 1, labels={"aspect": told}))]

    assert rules_fired("delivery") == rules_fired("delivery,product") == ["one"]
    assert rules_fired("delivery,price") == ["one", "both"]
    assert rules_fired("product") == []


def test_labels_of_other_classifiers(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {label: {topic: [delivery, returns]}, feels: negative}}")
    assert not watch(ruleset, said("late", 1, labels={"topic": "delivery"}))
    assert watch(ruleset, said("late", 1, labels={"topic": "delivery"}, sentiment="negative"))


def test_expressions(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, r"r: {when: {matches: '\border (number )?[a-z]{2}-?\d{3,}\b'}}")
    assert watch(ruleset, said("It is Order number AB-12345."))
    assert not watch(ruleset, said("It is Order AB-12."))


def test_a_revision_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {says: [cancel my account, close my account]}, again after: 1 s}")
    first = said("I want to cancel my", 5)
    whole = said("I want to cancel my account", 5, revision=1, lasts_s=4)
    longer = said("I want to cancel my account today", 5, revision=2, lasts_s=9)
    assert fired(watch(ruleset, first, whole, longer, whole, first, 30)) == [("r", 5000)]


def test_a_revision_can_take_back_what_counted(tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "r: {when: {caller: negative, in a row: 2}}")
    first = said("That's bad", 0, sentiment="negative")
    better = said("That's bad luck but fine", 0, sentiment="neutral", revision=1)
    second = said("No", 5, sentiment="negative")
    assert not watch(ruleset, first, better, second)
    assert fired(watch(ruleset, first, second)) == [("r", 5000)]


def test_the_rules_that_ship_are_in_order() -> None:
    sentiments = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}
    ruleset = read(None, KnownNames(intents=intents.read().names, sentiments=sentiments, webhooks=()))
    assert any(rule.escalation for rule in ruleset)


def test_the_rules_that_ship_fit_any_scale() -> None:
    """`negative` is every label worth less than nothing, and as sure as they are together."""
    scale = {"furious": -1.0, "let down": -0.5, "fine": 0.0, "happy": 1.0}
    ruleset = read(None, KnownNames(sentiments=scale))
    scores = {"furious": 0.4, "let down": 0.3, "fine": 0.2, "happy": 0.1}
    upset = [said("Really", at, sentiment="furious", sentiment_scores=scores) for at in (0, 10, 20)]
    assert {alert.rule for alert in watch(ruleset, *upset)} == {"caller-upset"}
    unsure = {**scores, "furious": 0.3, "let down": 0.2, "fine": 0.4}
    assert not watch(ruleset, *(said("Really", at, sentiment="furious", sentiment_scores=unsure) for at in (0, 10, 20)))


def test_a_dispute_escalates_by_the_rules_that_ship() -> None:
    angry: Any = {"sentiment": "negative", "intent": "billing_dispute"}
    alerts = watch(read(None), *(said("This bill is wrong", at, **angry) for at in (0, 10, 20)))
    assert {alert.rule for alert in alerts if alert.escalation} == {"dispute", "caller-upset"}
    calm = watch(read(None), *(said("This bill is wrong", at, intent="billing_dispute") for at in (0, 10, 20)))
    assert not [alert for alert in calm if alert.escalation]
