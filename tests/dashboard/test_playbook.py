"""Next steps: those that fit, the best first, each with its reason."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from dashboard.playbook import MOODS, MOST, PlaybookFile, read_playbook
from tenor.yaml.nodes import Faulty

OURS = read_playbook()


@dataclass
class PlaybookSentence:
    role: str
    text: str
    mood: float = 0.0


BOOK = """\
intents:
  cancel:
    because: the caller wants to cancel
    steps:
      - Ask why.
      - {step: Listen., mood: [unhappy, falling]}
      - {step: Say sorry., unless said: [sorry, apologi*]}
  refund:
    because: the caller wants money back
    steps: [Name the day., Ask why.]
alerts:
  upset:
    because: the caller has been unhappy for long
    steps: [Call a manager.]
moods:
  falling:
    because: something went wrong
    steps: [Ask what is open.]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "playbook.yaml"
    path.write_text(BOOK)
    return path


def test_the_best_first_with_its_reason(path: Path) -> None:
    book = read_playbook(path)
    found = book.suggest("refund", "cancel", -0.6, alerts=["other", "upset"])
    assert [(one.text, one.reason) for one in found] == [
        ("Call a manager.", "Because the caller has been unhappy for long"),
        ("Listen.", "Because the caller wants to cancel and the mood is low"),
        ("Ask why.", "Because the caller wants to cancel"),
        ("Say sorry.", "Because the caller wants to cancel"),
        ("Name the day.", "Because the caller wants money back"),
    ]


def test_what_the_agent_has_done_is_not_suggested_again(path: Path) -> None:
    book = read_playbook(path)
    said = [PlaybookSentence("caller", "I'm sorry but no"), PlaybookSentence("agent", "We do apologise!")]
    assert "Say sorry." in [one.text for one in book.suggest("", "cancel", 0.0, said[:1])]
    assert "Say sorry." not in [one.text for one in book.suggest("", "cancel", 0.0, said)]


def test_a_falling_mood(path: Path) -> None:
    moods = [0.4, 0.3, 0.5, 0.1, 0.0, -0.1]
    said = [PlaybookSentence("caller", "well", mood) for mood in moods]
    found = read_playbook(path).suggest("", "cancel", 0.2, said)
    assert [one.reason for one in found if one.text == "Listen."] == [
        "Because the caller wants to cancel and the mood is falling"
    ]
    assert found[-1].text == "Ask what is open."
    rising = read_playbook(path).suggest("", "cancel", 0.2, said[::-1])
    assert "Listen." not in [one.text for one in rising]


def test_nothing_known_nothing_suggested(path: Path) -> None:
    assert read_playbook(path).suggest("unknown", "greeting", None) == []


def test_a_file_that_changes_is_read_again(path: Path) -> None:
    file, seconds = PlaybookFile(path), iter(range(1, 9))

    def asks(text: str) -> str:
        path.write_text(text)
        os.utime(path, (next(seconds),) * 2)  # the same moment for a file system, two edits for us
        return file.playbook().suggest("", "cancel", None)[0].text

    assert asks(BOOK) == "Ask why."
    assert asks(BOOK.replace("Ask why.", "Ask what for.")) == "Ask what for."
    with capture_logs() as logs:
        assert asks("intents: [") == "Ask what for."
        path.unlink()
        for _ in range(3):
            assert file.playbook().suggest("", "cancel", None)[0].text == "Ask what for."
    assert [one["log_level"] for one in logs] == ["warning", "warning"]  # once each
    assert asks(BOOK) == "Ask why."


def test_ours_has_steps_for_all_that_callers_want() -> None:
    from nlp import rules
    from tenor.taxonomy import intents

    known = intents.read()
    book = read_playbook(None, known.names)
    assert known.tasks <= book.intents.keys()
    for intent in known.tasks:
        for mood in (-0.8, 0.0, 0.8):
            assert book.suggest(intent, intent, mood), (intent, mood)
    assert book.alerts.keys() <= {rule.name for rule in rules.read(None)}
    assert {rule.name for rule in rules.read(None) if rule.escalation} <= book.alerts.keys()


@given(
    st.sampled_from(["cancel", "refund", "unknown"]),
    st.none() | st.floats(-1, 1),
    st.lists(
        st.builds(PlaybookSentence, st.sampled_from(["caller", "agent"]), st.text(max_size=20), st.floats(-1, 1)),
        max_size=9,
    ),
)
def test_never_too_many_and_none_twice(intent: str, mood: float | None, said: list[PlaybookSentence]) -> None:
    found = OURS.suggest(intent, intent, mood, said, ["caller-upset"])
    assert 0 < len(found) <= MOST
    assert len({one.text for one in found}) == len(found)
    assert found == OURS.suggest(intent, intent, mood, said, ["caller-upset"])


def test_every_mistake_is_told_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "playbook.yaml"
    path.write_text(
        "intents:\n"
        "  cancle:\n"
        "    because: x\n"
        "    steps: [{step: y, mood: angry}, {mood: calm}, '']\n"
        "  refund: {steps: nothing, when: z}\n"
        "mood: {}\n"
        "moods:\n"
        "  calm: {because: '', steps: [{step: a, unless said: ['*']}]}\n"
    )
    with pytest.raises(Faulty) as told:
        read_playbook(path, ("cancel", "refund"))
    assert [(fault.line, fault.column, fault.message) for fault in told.value.faults] == [
        (2, 3, "there is no intent 'cancle'; did you mean 'cancel'?"),
        (4, 29, f"there is no mood 'angry'; there are: {', '.join(MOODS)}"),
        (4, 37, "has no `step`"),
        (4, 51, "a step is empty"),
        (5, 3, "'refund' has no `because`"),
        (5, 19, "`steps` is a list"),
        (5, 28, "there is no key 'when'; there are: because, steps"),
        (6, 1, "there is no part of a playbook 'mood'; did you mean 'moods'?"),
        (8, 19, "`because` is empty"),
        (8, 55, "the phrase '*' has no words in it"),
    ]
