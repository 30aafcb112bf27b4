"""Sentiment labels of one's own."""

from __future__ import annotations

import pytest

from nlp.inference.backend import open_backend
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import DEFAULT
from tenor.model_store import read_card
from tenor.settings import LanguageSettings, Settings
from tenor.taxonomy.sentiments import SHIPPED

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
def five(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    path = tmp_path_factory.mktemp("labels") / "five.yaml"
    path.write_text(FIVE)
    backend = open_backend(Settings(language=LanguageSettings(sentiments=str(path))))
    assert isinstance(backend, LocalBackend)
    return backend


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("this is outrageous, I have never been treated like that", "angry"),
        ("that didn't really work for me", "unhappy"),
        ("please send it to my old address", "fine"),
        ("okay good, thanks", "pleased"),
        ("oh my god this is incredible, thank you so much", "delighted"),
    ],
)
def test_a_scale_of_five(five: LocalBackend, text: str, label: str) -> None:
    [found] = five.analyze([text])
    assert found.sentiment == label
    assert set(found.sentiment_scores) == {"angry", "unhappy", "fine", "pleased", "delighted"}
    assert sum(found.sentiment_scores.values()) == pytest.approx(1.0)
    assert (found.mood > 0.2) == (label in ("pleased", "delighted"))
    assert (found.mood < -0.2) == (label in ("angry", "unhappy"))


def test_what_cannot_be_told_is_what_is_worth_nothing(five: LocalBackend) -> None:
    for found in five.analyze(["", "где моя посылка"]):
        assert (found.sentiment, found.mood) == ("fine", 0.0)


def test_sentences_tell_that_other_labels_were_in_force(five: LocalBackend) -> None:
    usual = LocalBackend().versions
    assert five.versions["sentiment"].startswith(usual["sentiment"] + "+")
    assert five.versions["intent"] == usual["intent"]


def test_the_labels_that_ship_are_those_of_the_model_that_ships() -> None:
    assert list(SHIPPED) == [*read_card(DEFAULT).heads["sentiment"]]
