"""Rules tried on past calls give what they gave live; what changed is told, and written once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlmodel import select
from typer.testing import CliRunner, Result

from nlp.call import CallAnalysis
from nlp.inference.types import SentenceAnalysis
from nlp.rules import RuleSet
from nlp.rules.replay import compare, replay
from storage.db.engine import Database, open_database
from storage.queries.replay import add, ids, past_calls
from storage.tables import Alert as AlertRow
from storage.tables import Audit, Call
from storage.viewer import HOUSE
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.events import Alert, Heard, Sentence, Transcript
from tenor.settings import Settings
from tests.nlp.rules.calls import CALL, info, rules
from tests.storage.conversations import START, add_alert, add_call
from tests.tenor.cli.command import tenor

RULES = """\
cancels: {when: {says: [cancel * account], who: caller}, again after: 10 s}
upset: {when: {caller: negative, in a row: 2}, again after: 5 s}
often: {when: {feels: negative, times: 3, within: 1 min}}
quiet: {when: {silence: 8 s}, again after: 1 s}
after-words: {when: {all: [{says: account, within: 20 s}, {silence: 5 s}]}, again after: 1 s}
unsaid: {when: {not said: good morning, who: agent, by: 20 s}}
unsaid-2: {when: {not said: good morning, who: agent, by: 2 sentences}}
early: {when: {says: fine, in the first: 30 s, who: anyone}}
calm: {when: {all: [{intent: cancel}, {not: {caller: negative}}]}}
"""
FEELS = {
    "I want to cancel my account.": ("negative", "cancel"),
    "That is fine.": ("positive", "confirmation"),
    "This is bad.": ("negative", "complaint"),
    "Good morning.": ("neutral", "greeting"),
    "The account is open.": ("neutral", "balance"),
}


ABOUT = {"The account is open.": "service", "This is bad.": "product,service"}
"""Aspects of sentences, as a further classifier tells them."""


class Uttered(NamedTuple):
    channel: int
    start_ms: int
    end_ms: int
    text: str


@st.composite
def conversations(draw: st.DrawFn) -> list[Uttered]:
    uttered = []
    for channel in (0, 1):
        at = 0
        for _ in range(draw(st.integers(0, 8))):
            at += draw(st.integers(600, 15_000))
            end = at + draw(st.integers(400, 12_000))
            uttered.append(Uttered(channel, at, end, draw(st.sampled_from(sorted(FEELS)))))
            at = end
    return sorted(uttered, key=lambda one: (one.end_ms, one.channel))


def live(ruleset: RuleSet, uttered: list[Uttered], end_ms: int) -> tuple[list[Sentence], list[Alert]]:
    """The call as the language stage hears it: finals as utterances end, silence told about both channels."""
    call = CallAnalysis(CALL, info(), frozenset({"cancel"}), ruleset.engine_for(info(), CALL))
    sentences: list[Sentence] = []
    alerts: list[Alert] = []
    for one in uttered:
        role = ("caller", "agent")[one.channel]
        final = Transcript(
            call=CALL,
            channel=one.channel,
            role=role,
            utterance=f"{CALL}/{one.channel}/{one.start_ms}",
            start_ms=one.start_ms,
            end_ms=one.end_ms,
            text=one.text,
            final=True,
            heard_ms=one.end_ms,
        )
        analyses = [
            (
                draft,
                SentenceAnalysis(
                    draft.text, feeling, {feeling: 0.9}, intent, 0.9, intent_scores={intent: 0.9}, labels=labels
                ),
            )
            for draft in call.draft(final)
            for feeling, intent in [FEELS[draft.text]]
            for labels in [{"aspect": ABOUT[draft.text]} if draft.text in ABOUT else {}]
        ]
        output = call.hear(final, analyses)
        sentences += output.sentences
        alerts += output.alerts
        # The other side is silent up to now, or up to where its next words begin.
        later = (u.start_ms for u in uttered if u.channel != one.channel and u.end_ms > one.end_ms)
        heard = Heard(call=CALL, channel=1 - one.channel, heard_ms=min([one.end_ms, *later]))
        alerts += call.hear(heard, []).alerts
    for channel in (0, 1):
        alerts += call.hear(Heard(call=CALL, channel=channel, heard_ms=end_ms), []).alerts
    return sentences, alerts + call.finish().alerts


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("rules"), RULES)


@settings(max_examples=200)
@given(conversation=conversations(), pause=st.integers(0, 30_000))
def test_replay_equals_live(ruleset: RuleSet, conversation: list[Uttered], pause: int) -> None:
    end_ms = max([one.end_ms for one in conversation], default=0) + pause
    sentences, alerts = live(ruleset, conversation, end_ms)
    again = replay(ruleset, CALL, info(), sentences, end_ms)
    assert sorted(alert.alert for alert in again) == sorted(alert.alert for alert in alerts)
    assert len({alert.alert for alert in alerts}) == len(alerts)


@settings(max_examples=50)
@given(conversation=conversations())
def test_metrics_and_task_are_worked_out_again(
    tmp_path_factory: pytest.TempPathFactory, conversation: list[Uttered]
) -> None:
    text = "share: {when: {metric: talk_share.agent, above: 60 %}}\ntask: {when: {task: cancel}}\n"
    ruleset = rules(tmp_path_factory.mktemp("rules"), text)
    end_ms = max([one.end_ms for one in conversation], default=0)
    sentences, alerts = live(ruleset, conversation, end_ms)
    found = {alert.rule for alert in replay(ruleset, CALL, info(), sentences, end_ms, {"cancel"})}
    talk = [sum(one.end_ms - one.start_ms for one in conversation if one.channel == channel) for channel in (0, 1)]
    if talk[1] > 0.6 * sum(talk):
        assert "share" in found
    assert ("task" in found) is ("task" in {alert.rule for alert in alerts})


def test_what_changed() -> None:
    def alert(rule: str, at_ms: int) -> Alert:
        return Alert(call="c", alert=f"c/{rule}/{at_ms}", rule=rule, severity="info", text="", at_ms=at_ms, at=0.0)

    before = [alert("a", 1), alert("a", 2), alert("b", 5), alert("old", 1)]
    now = [alert("a", 2), alert("b", 6), alert("b", 7), alert("new", 1)]
    difference = compare(before, now)
    assert [one.alert for one in difference.same] == ["c/a/2", "c/b/6"]
    assert [one.alert for one in difference.new] == ["c/b/7", "c/new/1"]
    assert [one.alert for one in difference.gone] == ["c/a/1", "c/old/1"]


LINES = ("I want to cancel my account", "I see", "now", "Sorry")


def fill(database: Database) -> None:
    with database.begin() as session:
        add_call(session, "one", *LINES, queue="sales")
        add_call(session, "two", *LINES, started_at=START + 9, swapped=True)
        add_call(session, "three", "hello", "hello", started_at=START + 20)
        add_call(session, "live", *LINES, state="live", started_at=START + 30)
        add_alert(session, "three", "old")


def test_alerts_of_past_calls_are_written_once(database: Database, tmp_path: Path) -> None:
    fill(database)
    ruleset = rules(tmp_path, "cancels: {when: {says: cancel my account, who: caller}, raise: escalation}")
    with database.session() as session:
        assert ids(session, HOUSE) == ["one", "two", "three"], "not the one that is live"
        assert ids(session, HOUSE, since=START + 5) == ["two", "three"]
    for expected in (1, 0):
        found = [
            alert
            for past in past_calls(database, HOUSE, ["one", "two", "three"])
            for alert in replay(ruleset, past.id, past.info, past.sentences, past.end_ms)
        ]
        assert [alert.alert for alert in found] == ["one/cancels/0"], "in call two the sides were turned round"
        assert found[0].at == START
        assert add(database, found, "mia", {"rules": "rules.yaml"}) == expected
    with database.session() as session:
        assert sorted(session.exec(select(AlertRow.id))) == ["one/cancels/0", "three/old/1000"]
        call = session.get(Call, "one")
        assert call is not None
        assert (call.alerts, call.escalations) == (1, 1)
        written = session.exec(select(Audit).order_by(Audit.id)).all()  # type: ignore[arg-type]
        assert [(row.who, row.action, row.detail["alerts_added"]) for row in written] == [
            ("mia", "rules.replayed", 1),
            ("mia", "rules.replayed", 0),
        ]


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command(tmp_path: Path) -> None:
    home = tmp_path / ".tenor"
    database = open_database(Settings(home=home))
    fill(database)
    database.close()
    file = tmp_path / "mine.yaml"
    file.write_text("cancels: {when: {says: cancel my account, who: anyone}}\n")
    command = ("--home", home, "rules", "replay", file, "--since", "5200w")
    looked = run(*command)
    assert "new: cancels  one 0:00" in looked.stdout
    assert "not any more: old  three" in looked.stdout
    one = json.loads(run("--home", home, "rules", "replay", file, "--call", "one", "--json").stdout)
    assert (one["calls"], len(one["rules"]["cancels"]["new"]), one["added"]) == (1, 1, None)
    assert json.loads(run(*command, "--apply", "--json").stdout)["added"] == 2
    assert json.loads(run(*command, "--apply", "--json").stdout)["added"] == 0
    unknown = run("--home", home, "rules", "replay", file, "--call", "nobody")
    assert isinstance(unknown.exception, BadInput)
    assert "there is no call 'nobody'" in str(unknown.exception)
    assert isinstance(run(*command[:-1], "yesterday").exception, BadInput)


@pytest.mark.slow
def test_check_tells_all_mistakes_and_exits_with_2(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("a:\n  when: {says: hello, whoo: caller}\n  sevrity: high\nb: {when: {intent: cancle}}\n")
    checked = tenor("rules", "check", file, cwd=tmp_path)
    assert checked.returncode == 2
    assert checked.stderr.splitlines() == [
        f"{file}:2:23: there is no condition 'whoo'; did you mean 'who'?",
        f"{file}:3:3: there is no key of a rule 'sevrity'; did you mean 'severity'?",
        f"{file}:4:20: there is no intent 'cancle'; did you mean 'cancel'?",
        "3 mistakes",
    ]
    told = run("rules", "check", file, "--json")
    assert told.exit_code == 2
    assert [fault["line"] for fault in json.loads(told.stdout)["faults"]] == [2, 3, 4]
    assert run("rules", "check").exit_code == 0
    book = tmp_path / "book.yaml"
    book.write_text("intents: {cancle: {because: x, steps: [y]}}\n")
    looked = run("playbook", "check", book)
    assert (looked.exit_code, f"{book}:1:11: there is no intent 'cancle'" in looked.output) == (2, True)
    assert (
        "Because the caller wants to cancel and the mood is low"
        in run("playbook", "try", "cancel", "--mood", "-0.5").output
    )
    assert "nothing is suggested" in run("playbook", "try", "no-such-intent").output
