"""People's bare words get the capitals and marks that the model writes, so that fine-tuning does not take them away."""

from __future__ import annotations

import pytest

from finetune.train.whisper.texts import Spelling, align, as_window, match, spell_out, with_marks, word_errors


def words(text: str) -> list[str]:
    return text.split()


@pytest.fixture
def spelling() -> Spelling:
    known = Spelling()
    known.count(words("So this is Harper Valley National Bank and I think I'm Jane. The bank is open."))
    return known


def marked(people: str, model: str, spelling: Spelling) -> str:
    return " ".join(with_marks(spell_out(people), spell_out(model), spelling))


@pytest.mark.parametrize(
    ("people", "model", "learned"),
    [
        (
            "thank you for calling harper valley my name is jane",
            "Thank you for calling. Hopper Valley, my name is Jane.",
            "Thank you for calling. Harper Valley, my name is Jane.",
        ),
        (
            "the amount is one hundred and six dollars",
            "The amount is $106.",
            "The amount is one hundred and six dollars.",
        ),
        ("alright and your balance is low", "All right. Your balance is low.", "Alright. And your balance is low."),
        ("i think i'm late", "I think late.", "I think I'm late."),
        ("okay goodbye", "Okay. Thank you. Good bye!", "Okay. Goodbye!"),
        ("at four thirty p m please", "At 4:30 p.m., please.", "At four thirty p m, please."),
        ("twenty five", "Twenty-five.", "Twenty five."),
        ("My name is Bob.", "my name is rob", "My name is Bob."),
        ("yes", "", "Yes"),
    ],
)
def test_words_are_peoples_and_marks_are_the_models(people: str, model: str, learned: str, spelling: Spelling) -> None:
    assert marked(people, model, spelling) == learned


def test_no_word_is_added_or_lost(spelling: Spelling) -> None:
    people = words("hello this is harper valley national bank my name is jane how can i help you")
    for model in ("", "Hello?", "Is this part for Valley Mass? Well, thanks. My name is James.", "No. " * 30):
        found = with_marks(people, model.split(), spelling)
        assert [word.strip(".,?!").lower() for word in found] == people


def test_how_much_matches_and_how_many_words_are_wrong() -> None:
    assert match(["i", "lost", "my", "card"], ["I", "lost", "the", "card."]) == 0.75
    assert match(["i", "lost", "my", "card"], []) == 0.0
    assert word_errors(["i", "lost", "my", "card"], ["I", "lost", "the", "old", "card."]) == 2
    assert word_errors([], ["Thank", "you."]) == 2


def test_an_alignment_tells_what_is_only_on_one_side() -> None:
    assert align(["a", "b", "c"], ["a", "c"]) == [(0, 0), (1, None), (2, 1)]
    assert align(["a", "c"], ["a", "b", "c"]) == [(0, 0), (None, 1), (1, 2)]


def test_a_window_begins_with_a_capital_and_ends_without_a_comma() -> None:
    assert as_window(["my address is,", "", "Main Street,"]) == "My address is, Main Street."
    assert as_window([""]) == ""
