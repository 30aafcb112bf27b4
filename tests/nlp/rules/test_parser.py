"""A rule file with mistakes: every one of them is told, with its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.rules import KnownNames, read
from nlp.rules.known_names import known
from tenor.settings import Settings
from tenor.yaml.nodes import Faulty

KNOWN = KnownNames(
    intents=("cancel", "refund", "payment"), sentiments={"negative": -1.0, "neutral": 0.0}, webhooks=("crm",)
)

MISTAKES = """\
upset caller:
  when: {caller: negativ, in a row: three}
  raise: panic
typo:
  whem: {says: hello}
  severity: urgent
empty:
no-when:
  say: hello
mixed:
  when: {silence: 20 s, says: hello}
  webhook: crn
units:
  when: {silence: 20}
  again after: never
  only for: {queues: [a], medium: phone}
metrics:
  when: {metric: talk_shar.agent, above: 80 %}
metrics-2:
  when: {metric: talk_share.agent, above: 80 s}
metrics-3:
  when: {metric: talk_share}
metrics-4:
  when: {metric: silence_s}
braces:
  when: {says: hello}
  say: "{pharse} {"
star:
  when: {says: ["*", "a * * b", cancel]}
regex:
  when:
    any:
      - {matches: '(a'}
      - {matches: '(?=a)b'}
      - {matches: 'x*'}
      - {intent: refnd}
never:
  when: {not: {says: hello}}
must:
  when: {not said: hello}
both:
  when: {caller: negative, who: agent}
counted:
  when: {says: hello, in a row: 2, times: 3}
typo:
  when: {sais: again}
beside:
  when: {silence: 3 s, who: agent}
nothing:
  when: {}
list:
  when: {all: {says: hello}}
other-way-round:
  when: {intent: refund, silence: 3 s, above: 3}
"""

EXPECTED = [
    (1, 1, "'upset caller' is no name for a rule"),
    (2, 18, "there is no sentiment 'negativ'; did you mean 'negative'?"),
    (2, 37, "`in a row` is a whole number from 1 to 1000, not 'three'"),
    (3, 10, "there is no raise 'panic'; there are: alert, escalation"),
    (4, 1, "rule 'typo' has no `when`"),
    (5, 3, "there is no key of a rule 'whem'; did you mean 'when'?"),
    (6, 13, "there is no severity 'urgent'; there are: info, warning, critical"),
    (7, 7, "rule 'empty' is a mapping (name: value), not nothing"),
    (8, 1, "rule 'no-when' has no `when`"),
    (11, 25, "'says' and 'silence' are two conditions; put them under `all:` or `any:`"),
    (12, 12, "there is no webhook 'crn' in the settings; did you mean 'crm'?"),
    (14, 19, "`silence` is a time such as 20 s or 2 min, not '20'"),
    (15, 16, "`again after` is a time such as 20 s or 2 min, not 'never'"),
    (16, 14, "there is no kind of calls 'queues'; did you mean 'queue'?"),
    (16, 35, "there is no medium 'phone'; there are: voice, chat, email"),
    (18, 18, "there is no metric 'talk_shar.agent'; did you mean 'talk_share.agent'?"),
    (20, 43, "a limit of talk_share.agent is written like 80 %, not '80 s'"),
    (22, 18, "there is no metric 'talk_share'; add the side: talk_share.caller or talk_share.agent"),
    (24, 9, "`metric` needs `above` or `below`"),
    (27, 8, "`say` has a { or } without its partner"),
    (27, 8, "{pharse} is not known here; did you mean 'phrase'?"),
    (29, 17, "the phrase '*' has no words in it"),
    (29, 22, "the phrase 'a * * b' has two * side by side"),
    (33, 19, "the expression '(a' has a ( that is not closed"),
    (34, 19, "the expression '(?=a)b' uses (?...): only plain brackets and (?:...) are known here"),
    (35, 19, "the expression 'x*' matches every sentence, since it matches nothing at all"),
    (36, 18, "there is no intent 'refnd'; did you mean 'refund'?"),
    (38, 9, "would hold as soon as a call begins: it needs something that happens, too"),
    (40, 9, "`not said` needs `by`: how long there is, such as 30 s or 3 sentences"),
    (42, 18, "`caller: ...` already says who and what they feel"),
    (44, 43, "either `in a row` or `times`"),
    (45, 1, "'typo' is here twice; first in line 4"),
    (46, 10, "there is no condition 'sais'; did you mean 'says'?"),
    (48, 24, "'who' means nothing beside 'silence'"),
    (50, 9, "says nothing to wait for: says, intent, feels, silence, metric, ..."),
    (52, 15, "`all` is a list of conditions"),
    (54, 26, "'silence' and 'intent' are two conditions; put them under `all:` or `any:`"),
    (54, 40, "'above' means nothing beside 'intent'"),
]


def test_every_mistake_is_told_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(MISTAKES)
    with pytest.raises(Faulty) as caught:
        read(path, KNOWN)
    found = [(fault.line, fault.column, fault.message) for fault in caught.value.faults]
    assert [place[:2] for place in found] == [place[:2] for place in EXPECTED]
    for (_, _, message), (_, _, expected) in zip(found, EXPECTED, strict=True):
        assert message.startswith(expected)
    assert f"{path}:2:18: there is no sentiment" in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "line", "column", "message"),
    [
        (b"", 1, 1, "empty"),
        (b"- a\n", 1, 1, "a mapping is expected"),
        (b"a: [b\n", 2, 1, "not valid YAML"),
        (b"a:\n  b: caf\xe9\n", 2, 9, "not UTF-8 text"),
        (b"a: \x07\n", 1, 4, "a character that YAML does not allow: U+0007"),
        (b"a: " + b"[" * 100, 1, 53, "nested deeper than 50 levels"),
        (b"a: &x [1]\nb: [*x, *x]\n", 1, 4, "anchors (&x) are not read here"),
        (b"a: !!python/object/apply:os.system [ls]\n", 1, 4, "tags ("),
        (b"#" * (2 << 20), 1, 1, "larger than 1 MB"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, raw: bytes, line: int, column: int, message: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_bytes(raw)
    with pytest.raises(Faulty) as caught:
        read(path)
    found = caught.value.faults
    assert any((fault.line, fault.column) == (line, column) and fault.message.startswith(message) for fault in found)


def test_yes_and_no_are_words(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("on: {when: {says: [yes, no, off, 3.10, null]}}\n")
    (rule,) = read(path)
    assert rule.name == "on"


def test_a_rule_without_words_of_its_own_has_some(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("a: {when: {all: [{says: hello, who: caller}, {silence: 3 s}]}}\nb: {when: {task: cancel}}\n")
    assert [rule.say for rule in read(path)] == [
        '{who} said "{phrase}"; {seconds} s of silence',
        "The call is about: {task}",
    ]


def test_names_that_nothing_is_called_by_are_told_where_they_stand(tmp_path: Path) -> None:
    """Each of these rules could never fire."""
    file = tmp_path / "rules.yaml"
    file.write_text(
        """\
a: {when: {says: hi, who: custmer}}
b: {when: {metric: talk_share.agnet, above: 80 %}}
c: {when: {task: greeting}}
d: {when: {label: {topc: delivery}}}
e: {when: {says: hi, sure: 70 %}}
f: {when: {says: hi, who: supervisor}}
g: {when: {task: refunds}}
"""
    )
    settings = Settings.model_validate(
        {"language": {"classifiers": {"topic": "ours:Topics"}}, "ingest": {"roles": ["caller", "supervisor"]}}
    )
    with pytest.raises(Faulty) as caught:
        read(file, known(settings))
    assert [(fault.line, fault.column, fault.message) for fault in caught.value.faults] == [
        (1, 27, "there is no side 'custmer'; there are: caller, agent, supervisor, anyone"),
        (2, 20, "there is no side 'agnet'; did you mean 'agent'?"),
        (3, 18, "no call is about 'greeting': it is an intent without `task: true`"),
        (4, 20, "there is no classifier 'topc'; did you mean 'topic'?"),
        (5, 28, "`sure` is about an intent or a sentiment, and there is neither"),
        (7, 18, "there is no task 'refunds'; did you mean 'refund'?"),
    ]


def test_a_search_in_a_rule_is_checked_like_one_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        """\
a: {when: {search: "(role:caller intent:cancel) then (role:agent sorry)"}}
b: {when: {search: "(rol:caller) thn (sorry)"}}
c: {when: {search: "queue:billing (intent:cancle)"}}
d: {when: {all: [{says: hi}, {not: {search: "(a) then not (b)"}}]}}
e: {when: {search: "(a)", within: 3 s}}
f: {when: {search: "(a)"}, say: "{phrase}"}
g: {when: {search: "(aspect:prise)"}}
h: {when: {label: {aspect: [price, "delivery,price", prise]}}}
"""
    )
    with pytest.raises(Faulty) as caught:
        read(file, KnownNames(intents=("cancel",), sides=("caller", "agent"), aspects=("price", "delivery")))
    assert [(fault.line, fault.column, fault.message) for fault in caught.value.faults] == [
        (2, 20, "in the search, column 14: 'thn' joins no sentences; did you mean 'then'?"),
        (2, 20, "in the search, column 2: a search has no 'rol'; did you mean 'role'?"),
        (3, 20, "in the search, column 16: there is no intent 'cancle'; did you mean 'cancel'?"),
        (3, 20, "in the search, column 1: 'queue' is about the call and not a sentence: write it under `only for`"),
        (4, 36, "a search with `not` is known when the call is over: it cannot be under `not:`"),
        (5, 27, "'within' means nothing beside 'search'"),
        (6, 33, "{phrase} is not known here; there are: at, intent, sentiment, who"),
        (7, 20, "in the search, column 2: there is no aspect 'prise'; did you mean 'price'?"),
        (8, 54, "there is no aspect 'prise'; did you mean 'price'?"),
    ]


@pytest.mark.parametrize(
    "condition",
    [
        f"{{caller: negative, in a row: 1{'0' * 8}{'9' * 5000}}}",
        f"{{caller: negative, in a row: 000000002{'9' * 5000}}}",
        f"{{caller: negative, in a row: 000000002{'9' * 50}}}",
        f"{{silence: {'9' * 400} s}}",
        f"{{metric: talk_share.agent, above: {'9' * 400} %}}",
    ],
)
def test_numbers_of_any_length_are_told_as_mistakes(tmp_path: Path, condition: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(f"r:\n  when: {condition}\n")
    with pytest.raises(Faulty):
        read(path, KNOWN)
