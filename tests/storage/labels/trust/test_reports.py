"""Who labels, what contradicts itself, and whether a sample is like everything."""

from __future__ import annotations

from random import Random

import pytest

from storage.db.engine import Database
from storage.labels.labels import correct
from storage.labels.trust.author_report import author_report
from storage.labels.trust.contradictions import LabelledWords, find_contradictions, labelled_words
from storage.labels.trust.holds import hold
from storage.labels.trust.sample_report import chi_square_tail, sample_report
from storage.viewer import HOUSE, Viewer
from tests.storage.conversations import NAMES, add_call

ANN, BOB = Viewer("ann", "analyst"), Viewer("bob", "manager")


def test_contradictions_are_the_same_however_many_look(database: Database) -> None:
    with database.begin() as session:
        add_call(session, "one", "Okay, fine.", "okay, fine", "OKAY, FINE!", "Something else.")
        for number, value in enumerate(("negative", "neutral", "neutral", "positive")):
            sentence = f"one/{number % 2}/{number * 1000}"
            correct(session, ANN, sentence, "sentiment", value, names=NAMES)
        words = labelled_words(session)
    [found] = find_contradictions(words)
    assert (found.words, found.kind) == ("OKAY, FINE!", "sentiment")
    assert found.values == {"neutral": ["one/0/2000", "one/1/1000"], "negative": ["one/0/0"]}


@pytest.mark.slow
def test_four_processes_find_what_one_finds() -> None:
    rng = Random(5)
    labels = [
        LabelledWords(f"line {rng.randrange(300)}", "intent", rng.choice("abc"), "ann", str(number))
        for number in range(2000)
    ]
    alone = find_contradictions(labels, 1)
    assert len(alone) > 200
    assert find_contradictions(labels, 4) == alone


def test_authors_with_their_speed_agreement_and_holds(database: Database) -> None:
    with database.begin() as session:
        add_call(session, "one", *(f"line {number}" for number in range(6)))
        for number in range(6):
            sentence = f"one/{number % 2}/{number * 1000}"
            value = "negative" if number < 3 else "neutral"
            correct(session, ANN, sentence, "sentiment", value, names=NAMES, seconds=float(number), why="sample")
            correct(session, BOB, sentence, "sentiment", value if number else "neutral", names=NAMES)
        hold(session, "bob", "asked", Viewer("root", "administrator"))
        ann, bob = author_report(session)
    assert (ann.author, ann.labels, ann.changed, ann.seconds, ann.why) == ("ann", 6, 0.5, 2.5, {"sample": 6})
    assert ann.shared == 6
    assert ann.kappa == pytest.approx(2 / 3)
    assert (bob.held, bob.seconds, ann.held) == ("asked", None, "")


def test_a_sample_that_is_skewed_is_told_and_one_that_is_not_is_not(database: Database) -> None:
    rng = Random(11)
    with database.begin() as session:
        for number in range(120):
            queue = "billing" if number % 2 else "cards"
            add_call(session, f"c{number}", *(f"line {line}" for line in range(6)), queue=queue, site="Porto")
            for line in range(6):
                sentence = f"c{number}/{line % 2}/{line * 1000}"
                if rng.random() < (0.25 if queue == "billing" else 0.02):
                    correct(session, ANN, sentence, "sentiment", "neutral", names=NAMES, why="sample")
        report = {one.dimension: one for one in sample_report(session, HOUSE)}
    by_queue = report["queue"]
    assert by_queue.skewed
    assert by_queue.shares["billing"][0] > 0.8
    assert by_queue.shares["billing"][1] == 0.5
    assert "by queue: cards is 8% of the sample and 50% of everything" in str(by_queue)
    assert not report["role"].skewed
    assert report["site"].p is None, "there is one site only"


def test_sentences_of_one_call_are_not_counted_as_if_they_were_strangers(database: Database) -> None:
    """Thirty calls, each all in one queue: three to one by chance of the calls, not of the sentences."""
    rng = Random(3)
    with database.begin() as session:
        for number in range(200):
            lines = [f"line {line}" for line in range(10)]
            add_call(session, f"c{number}", *lines, queue="billing" if rng.random() < 0.5 else "cards")
        for number in rng.sample(range(200), 30):
            for line in range(10):
                correct(
                    session, ANN, f"c{number}/{line % 2}/{line * 1000}", "sentiment", "neutral", names=NAMES,
                    why="sample",
                )  # fmt: skip
        by_queue = next(one for one in sample_report(session, HOUSE) if one.dimension == "queue")
    assert by_queue.design_effect > 5
    assert not by_queue.skewed


@pytest.mark.parametrize(("statistic", "freedom", "p"), [(3.841, 1, 0.05), (9.21, 2, 0.01), (11.07, 5, 0.05)])
def test_chi_square_as_in_the_tables(statistic: float, freedom: int, p: float) -> None:
    assert chi_square_tail(statistic, freedom) == pytest.approx(p, abs=0.002)
