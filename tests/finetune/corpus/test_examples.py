"""Texts with labels and marks."""

from __future__ import annotations

from finetune.corpus.examples import TaggedText, plain, spoken, unmarked


def test_marks_become_spans() -> None:
    tagged = unmarked("pay <amount ten dollars> on <date  monday >")
    assert tagged.text == "pay ten dollars on monday"
    assert [(tagged.text[start:end], slot) for start, end, slot in tagged.spans] == [
        ("ten dollars", "amount"),
        ("monday", "date"),
    ]


def test_a_text_without_marks_has_no_spans() -> None:
    assert unmarked("how can i help you") == TaggedText("how can i help you")


def test_speech_has_no_punctuation_and_spans_stay_true() -> None:
    text = "Yes, $10.50 at 9:30 a.m. please!"
    said = spoken(text)
    assert len(said) == len(text)
    assert "," not in said
    assert "$10.50" in said
    assert "9:30" in said
    assert text.index("please") == said.index("please")


def test_the_same_words_are_the_same_sentence() -> None:
    assert plain("I'm not HAPPY, at all!") == plain("i'm not happy at all")
