"""Agreement of two judgements, and words given to the sentences they were said in."""

from __future__ import annotations

import numpy as np
import pytest

from nlp.evaluation.agreement import ConfusionCounts
from nlp.evaluation.alignment import HypothesisWord, ReferenceSentence, align, plain, word_errors

LABELS = ("negative", "neutral", "positive")
WORTH = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}


def agreement(*calls: list[tuple[str, str]]) -> ConfusionCounts:
    return ConfusionCounts.of(LABELS, WORTH, {str(number): pairs for number, pairs in enumerate(calls)})


def test_metrics_by_hand() -> None:
    n, z, p = LABELS
    found = agreement([(n, n), (n, z), (z, z), (z, z)], [(p, n), (p, p), (z, z), (z, p)]).estimates()
    assert found["mean difference"].value == pytest.approx((1 + 2 + 1) / 8)
    assert found["mean shift"].value == pytest.approx((1 - 2 + 1) / 8)
    assert found["accuracy"].value == pytest.approx(5 / 8)
    assert found["precision negative"].value == pytest.approx(1 / 2)
    assert found["recall negative"].value == pytest.approx(1 / 2)
    assert found["F1 neutral"].value == pytest.approx(2 * 3 / (4 + 4))
    assert found["non-neutral recall"].value == pytest.approx(2 / 4)
    assert found["non-neutral precision"].value == pytest.approx(2 / 4)


def test_always_neutral_has_a_perfect_mean_and_no_recall_to_tell() -> None:
    found = agreement([("neutral", "neutral")] * 5, [("neutral", "neutral")] * 3).estimates()
    assert found["mean difference"].value == 0
    assert found["accuracy"].value == 1
    assert np.isnan(found["non-neutral recall"].value)


def test_an_interval_covers_what_it_should() -> None:
    """Of many samples of calls whose sentences agree to 80 %, nearly all intervals hold the 80 %."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(60):
        calls = [
            [("neutral", "neutral" if good else "positive") for good in random.random(20) < 0.8] for _ in range(40)
        ]
        accuracy = agreement(*calls).estimates()["accuracy"]
        held += accuracy.low <= 0.8 <= accuracy.high
    assert held >= 50


def test_intervals_know_that_sentences_of_a_call_are_alike() -> None:
    right, wrong = [("neutral", "neutral")] * 10, [("neutral", "positive")] * 10
    clumped = agreement(*[right, wrong] * 10).estimates()["accuracy"]
    spread = agreement(*[right[:5] + wrong[:5]] * 20).estimates()["accuracy"]
    assert clumped.high - clumped.low > 0.3
    assert spread.high - spread.low == 0


def test_a_difference_is_told_on_the_same_draws() -> None:
    n, z = "negative", "neutral"
    good = agreement(*[[(n, n), (z, z)]] * 20)
    bad = agreement(*[[(n, z), (z, z)]] * 20)
    between = good.beside(bad)["mean difference"]
    assert (between.value, between.low, between.high) == (-0.5, -0.5, -0.5)
    assert good.beside(good)["accuracy"].value == 0


def test_words_go_to_the_sentence_they_were_said_in() -> None:
    sentences = [
        ReferenceSentence("c", 0, "caller", 1000, 2000, "hello there"),
        ReferenceSentence("c", 0, "caller", 2100, 4000, "how are you"),
        ReferenceSentence("c", 1, "agent", 1000, 5000, "fine"),
    ]
    words = [
        HypothesisWord(0, 900, 1400, "Hello"),
        HypothesisWord(0, 1500, 2060, "there,"),
        HypothesisWord(0, 2090, 2400, "how"),
        HypothesisWord(0, 4300, 4600, "you?"),
        HypothesisWord(0, 9000, 9400, "stray"),
        HypothesisWord(1, 3000, 3200, "Fine."),
    ]
    stray = align(sentences, words)
    assert [sentence.recognised for sentence in sentences] == ["Hello there,", "how you?", "Fine."]
    assert [word.text for word in stray] == ["stray"]


@pytest.mark.parametrize(
    ("wanted", "got", "errors"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b", "a b c d", 2),
        ("", "a", 1),
        ("a", "", 1),
    ],
)
def test_word_errors(wanted: str, got: str, errors: int) -> None:
    assert word_errors(wanted.split(), got.split()) == errors


def test_marks_of_transcribers_are_no_words() -> None:
    assert plain("[noise] hello <unk> there [laughter]") == "hello there"
