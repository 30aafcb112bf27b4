"""Sentiment labels of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.backend import open_backend
from nlp.local import LocalUnderstanding
from nlp.sentiments import read
from tenor.errors import BadInput
from tenor.settings import LanguageSettings, Settings

FIVE = """
angry:
  valence: -1
  examples: [this is an absolute disgrace, I am furious with you people, how dare you charge me for that,
             you are useless and you have wasted my whole day, I have never been treated so badly in my life]
unhappy:
  valence: -0.6
  examples: [I'm not very happy with this, that's a bit disappointing, it still doesn't work,
             that's not what I ordered, unfortunately it broke again]
fine:
  valence: 0
  examples: [my account number is four five six, I would like to check my balance, on Monday at ten, okay,
             what are your opening hours]
pleased:
  valence: 0.6
  examples: [that's good thanks, okay great that works for me, thank you for your help, nice that was quick]
delighted:
  valence: 1
  examples: [you are amazing thank you so so much, this is the best service I've ever had, I absolutely love it,
             wow fantastic you saved my day]
"""


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> LocalUnderstanding:
    path = tmp_path_factory.mktemp("labels") / "five.yaml"
    path.write_text(FIVE)
    backend = open_backend(Settings(language=LanguageSettings(sentiments=str(path))))
    assert isinstance(backend, LocalUnderstanding)
    return backend


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("this is outrageous, I have never been treated like that", "angry"),
        ("it's not quite what I hoped for", "unhappy"),
        ("please send it to my old address", "fine"),
        ("okay good, thanks", "pleased"),
        ("oh my god this is incredible, thank you so much", "delighted"),
    ],
)
def test_a_scale_of_five(five: LocalUnderstanding, text: str, label: str) -> None:
    [found] = five.understand([text])
    assert found.sentiment == label
    assert set(found.sentiment_scores) == {"angry", "unhappy", "fine", "pleased", "delighted"}
    assert sum(found.sentiment_scores.values()) == pytest.approx(1.0)
    assert (found.mood > 0.2) == (label in ("pleased", "delighted"))
    assert (found.mood < -0.2) == (label in ("angry", "unhappy"))


def test_what_cannot_be_told_is_what_is_worth_nothing(five: LocalUnderstanding) -> None:
    for found in five.understand(["", "где моя посылка"]):
        assert (found.sentiment, found.mood) == ("fine", 0.0)


def test_sentences_tell_that_other_labels_were_in_force(five: LocalUnderstanding) -> None:
    usual = LocalUnderstanding().versions
    assert five.versions["sentiment"].startswith(usual["sentiment"] + "+")
    assert five.versions["intent"] == usual["intent"]


def test_every_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "labels.yaml"
    path.write_text(
        "good:\n  valence: 2\n  examples: [yes, yes, yes]\n"
        "bad:\n  examples: [no, never, not at all]\n  colour: red\n"
        "odd: [1, 2]\n"
    )
    with pytest.raises(BadInput) as caught:
        read(path)
    told = caught.value.message
    assert f"{path}:2:12: a valence is a number from -1 (negative) to 1 (positive), not '2'" in told
    assert f"{path}:3:13: label 'good' has fewer than 3 different examples" in told
    assert f"{path}:4:1: label 'bad' has no valence" in told
    assert f"{path}:6:3: there is no key of a label 'colour'" in told
    assert f"{path}:7:6: label 'odd' is a mapping" in told


def test_one_label_is_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.yaml"
    path.write_text("good:\n  valence: 1\n  examples: [yes, great, fine]\n")
    with pytest.raises(BadInput, match="at least 2 labels"):
        read(path)
    with pytest.raises(BadInput, match="cannot read"):
        read(tmp_path / "missing.yaml")
