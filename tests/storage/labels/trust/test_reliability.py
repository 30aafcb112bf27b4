"""Who is told and who is not, what is probably right, and what the model doubts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from storage.labels.trust import reliability
from storage.labels.trust.agreement import outlying_reviewers, pairs_of

VALUES = ("negative", "neutral", "positive")
USUAL = (0.2, 0.6, 0.2)
Labeller = Callable[[Random, str], str]


def honest(rng: Random, truth: str) -> str:
    """Right in nine of ten cases, as people are."""
    return truth if rng.random() < 0.9 else rng.choice(VALUES)


def at_random(rng: Random, truth: str) -> str:
    return rng.choice(VALUES)


def hides_negatives(rng: Random, truth: str) -> str:
    said = honest(rng, truth)
    return "neutral" if said == "negative" else said


def simulated(rng: Random, odd: Labeller, people: int = 6, shared: int = 50) -> dict[str, dict[str, str]]:
    """Any two people share as many sentences; the first of them may be odd."""
    names = [f"p{number}" for number in range(people)]
    made: dict[str, dict[str, str]] = {}
    for one, other in combinations(names, 2):
        for number in range(shared):
            truth = rng.choices(VALUES, USUAL)[0]
            made[f"{one}{other}{number}"] = {
                name: (odd if name == "p0" else honest)(rng, truth) for name in (one, other)
            }
    return made


def named(answers: dict[str, dict[str, str]]) -> set[str]:
    by_class = {check.author for check in reliability.class_checks(answers) if check.clearly_apart}
    return by_class | {odd.author for odd in outlying_reviewers(pairs_of("sentiment", answers))}


@pytest.mark.parametrize("odd", [at_random, hides_negatives])
def test_who_answers_at_random_and_who_hides_negatives_is_told(odd: Labeller) -> None:
    """At fifty shared sentences per pair: at least 99 % of the time, and hardly anybody else."""
    trials, told, wrongly = 100, 0, 0
    for seed in range(trials):
        found = named(simulated(Random(seed), odd))
        told += "p0" in found
        wrongly += len(found - {"p0"})
    assert told >= 0.99 * trials
    assert wrongly <= 0.01 * trials * 5


def test_nobody_is_told_where_all_are_honest() -> None:
    found = [named(simulated(Random(seed), honest)) for seed in range(100)]
    assert sum(map(len, found)) <= 0.01 * 100 * 6


def test_a_sentence_that_all_share_counts_once() -> None:
    """Six people on the same sentences are no more evidence than the sentences are."""
    rng = Random(7)
    answers = {}
    for number in range(60):
        truth = rng.choices(VALUES, USUAL)[0]
        answers[str(number)] = {f"p{person}": honest(rng, truth) for person in range(6)}
    for check in reliability.class_checks(answers):
        assert check.own_shared <= 60
        assert check.others_shared <= 60
    assert named(answers) == set()


def test_why_somebody_is_told_can_be_read() -> None:
    checks = reliability.class_checks(simulated(Random(1), hides_negatives))
    check = next(one for one in checks if one.author == "p0" and one.value == "negative")
    assert check.clearly_apart
    assert str(check).startswith(f"of {check.own_shared:.0f} sentences that colleagues call negative they call 0% so")


def test_what_reliable_people_say_counts_more() -> None:
    rng = Random(3)
    truth = {str(number): rng.choices(VALUES, USUAL)[0] for number in range(300)}
    answers = {
        item: {"a": honest(rng, value), "b": honest(rng, value), "x": at_random(rng, value), "y": at_random(rng, value)}
        for item, value in truth.items()
    }
    found = reliability.probabilities(answers)
    best = {item: max(one, key=one.__getitem__) for item, one in found.items()}
    by_votes = {item: max(sorted(said.values()), key=list(said.values()).count) for item, said in answers.items()}
    right = sum(best[item] == value for item, value in truth.items())
    assert right > sum(by_votes[item] == value for item, value in truth.items())
    assert right > 0.9 * len(truth)
    assert all(sum(one.values()) == pytest.approx(1) for one in found.values())
    assert reliability.probabilities({}) == {}
    assert max(reliability.probabilities({"1": {"a": "x"}, "2": {"a": "y"}})["1"].values()) > 0.5


@pytest.mark.parametrize(
    ("weights", "largest"),
    [
        ({"a": 80.0, "b": 10.0, "c": 10.0}, 0.4),
        ({"a": 50.0, "b": 45.0, "c": 5.0}, 0.4),
        ({"a": 30.0, "b": 35.0, "c": 35.0}, 0.35),
        ({"a": 90.0, "b": 10.0}, 0.5),
        ({"a": 9.0}, 1.0),
    ],
)
def test_nobody_has_more_than_their_share(weights: dict[str, float], largest: float) -> None:
    factors = reliability.capped(weights)
    after = {name: weight * factors[name] for name, weight in weights.items()}
    assert max(after.values()) / sum(after.values()) == pytest.approx(largest)
    assert all(0 < factor <= 1 for factor in factors.values())


def test_the_model_doubts_labels_that_it_is_surer_of_otherwise() -> None:
    sure = {"negative": 0.9, "neutral": 0.05, "positive": 0.05}
    calm = {"negative": 0.1, "neutral": 0.8, "positive": 0.1}
    unsure = {"negative": 0.4, "neutral": 0.35, "positive": 0.25}
    labels = ["negative", "negative", "neutral", "neutral", "neutral", "neutral"]
    assert reliability.doubted(labels, [sure, sure, calm, calm, sure, unsure]) == [False] * 4 + [True, False]
    assert reliability.doubted([], []) == []


@pytest.mark.parametrize(
    ("said", "known", "settled"),
    [
        ({"a": "x", "b": "x"}, None, "x"),
        ({"b": "x", "c": "x"}, "x", "x"),
        ({"b": "x", "c": "x", "d": "y"}, None, "x"),
        ({"b": "x", "c": "y"}, None, None),
        ({"b": "x"}, None, None),
        ({"eva": "y", "b": "x", "c": "x"}, "y", "y"),
        ({}, None, None),
    ],
)
def test_an_answer_is_known_by_two_people_or_an_expert(said: dict[str, str], known: str, settled: str) -> None:
    assert reliability.known_answer(said, "a", {"eva"}) == known
    assert reliability.settled_answer(said, {"eva"}) == settled


def test_who_gets_control_sentences_wrong_is_told_only_when_it_is_clear() -> None:
    assert reliability.fails_controls(2, 20)
    assert not reliability.fails_controls(2, 8)
    assert not reliability.fails_controls(15, 20)
    low, high = reliability.wilson(8, 10)
    assert low < 0.8 < high
    assert reliability.wilson(0, 0) == (0.0, 1.0)
