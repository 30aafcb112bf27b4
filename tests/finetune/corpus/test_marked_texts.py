"""What is learned from a text with marks and capitals."""

from __future__ import annotations

from random import Random

from finetune.corpus.call_sentences import CallSentence
from finetune.corpus.marked_texts import joined, without_marks, written_sentences


def test_marks_and_capitals_are_taken_away_and_told() -> None:
    found = without_marks('Yes - is it "Paula\'s" USB stick; or mine? I paid $5.50 at 9 a.m., OK!')
    assert " ".join(found.words) == "yes is it paula's usb stick or mine i paid $5.50 at 9 a.m. ok"
    assert [(word, mark) for word, mark in zip(found.words, found.marks, strict=True) if mark] == [
        ("stick", ","),
        ("mine", "?"),
        ("a.m.", ","),
        ("ok", "."),
    ]
    large = [(word, case) for word, case in zip(found.words, found.cases, strict=True) if case != "small"]
    assert large == [
        ("yes", "capital"),
        ("paula's", "capital"),
        ("usb", "capitals"),
        ("i", "capital"),
        ("ok", "capitals"),
    ]


def test_only_what_people_wrote_with_marks_is_learned_from() -> None:
    rows = [
        CallSentence(text="hi there", before="Who is it?", sentiment="neutral", intent="greeting"),
        CallSentence(text="It is me.", before="(same) Hello.", sentiment="neutral", intent="greeting"),
        CallSentence(text="It is me.", sentiment="neutral", intent="greeting"),
        CallSentence(text="No mark here", sentiment="neutral", intent="greeting"),
    ]
    assert written_sentences(rows) == ["Who is it?", "It is me.", "Hello."]


def test_every_sentence_is_in_one_text() -> None:
    sentences = [f"Sentence {number}." for number in range(40)]
    texts = joined(sentences, Random(1))
    assert len(texts) < 40
    assert sorted(" ".join(texts).removesuffix(".").split(". ")) == sorted(one.removesuffix(".") for one in sentences)
