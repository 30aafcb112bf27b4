"""What a call was about."""

from __future__ import annotations

from nlp.conversation.task import task_of

TASKS = frozenset({"balance", "payment", "refund"})


def test_one_clear_sentence_outweighs_many_vague_ones() -> None:
    sentences = [("caller", {"payment": 0.95})] + [("caller", {"refund": 0.2})] * 10
    assert task_of(sentences, TASKS)[0] == "payment"


def test_the_caller_counts_more_than_the_agent() -> None:
    sentences = [("agent", {"refund": 0.9}), ("caller", {"balance": 0.9})]
    assert task_of(sentences, TASKS)[0] == "balance"


def test_small_talk_is_about_nothing() -> None:
    assert task_of([("caller", {"greeting": 1.0, "balance": 0.1})], TASKS) == ("unknown", 0.0)
    assert task_of([], TASKS) == ("unknown", 0.0)
    assert task_of([("caller", {"greeting": 1.0})], frozenset()) == ("unknown", 0.0)


def test_a_complaint_is_about_what_is_complained_of() -> None:
    tasks = TASKS | {"complaint"}
    angry = [("caller", {"complaint": 0.9})] * 4
    assert task_of([*angry, ("caller", {"refund": 0.8})], tasks)[0] == "refund"
    assert task_of([*angry, ("caller", {"refund": 0.2})], tasks)[0] == "complaint"
