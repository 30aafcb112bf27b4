"""What the caller asked about text: punctuation, boosts, profanity."""

from __future__ import annotations

import pytest

from asr.local.stt.text.boosting import PhraseBooster
from asr.local.stt.text.formatter import TextFormatter
from asr.local.stt.types import Boost, RecognitionOptions
from tests.asr.local.stt.text.test_numbers import text, words


def final(said: str, **options: object) -> str:
    return text(TextFormatter(RecognitionOptions(rate=8000, **options)).final(words(said)))  # type: ignore[arg-type]


def boosted(said: str, *boosts: Boost, **options: object) -> str:
    return final(said, boosts=boosts, **options)


def test_punctuation_off_is_lower_case_without_marks() -> None:
    said = "What's natural-language processing? It's $5, at 9 a.m. - OK!"
    assert final(said, punctuation=False) == "what's natural-language processing it's $5 at 9 am ok"


def test_interims_are_always_plain_except_boosted_words() -> None:
    formatter = TextFormatter(RecognitionOptions(rate=8000, boosts=(Boost("ABlooper", 10),)))
    assert text(formatter.interim(words("Both, Abluper and Others."))) == "both ABlooper and others"


def test_profanity_keeps_its_first_letter() -> None:
    assert final("Damn, that bullshit again.", profanity_filter=True) == "D***, that b******* again."
    assert final("Damn.", profanity_filter=True, punctuation=False) == "d***"
    assert final("Damn.") == "Damn."


def test_one_spelling() -> None:
    assert final("All right, it is all right.") == "Alright, it is alright."


def test_boost_finds_phrases_by_sound_and_spelling() -> None:
    found = boosted("Antibatta and Abluper.", Boost("AntiBERTa", 10), Boost("ABlooper", 10))
    assert found == "AntiBERTa and ABlooper."


def test_boost_joins_and_splits_words() -> None:
    assert boosted("anti berta works", Boost("AntiBERTa", 10)) == "AntiBERTa works"
    assert boosted("this is harpervally bank", Boost("Harper Valley", 10)) == "this is Harper Valley bank"
    assert boosted("call prevailing national", Boost("Harper Valley", 20)) == "call prevailing national"


def test_casing_of_the_phrase_wins() -> None:
    assert boosted("Iphone, please.", Boost("iPhone", 1)) == "iPhone, please."
    assert boosted("the Iphone.", Boost("iPhone", 1), punctuation=False) == "the iPhone"


@pytest.mark.parametrize(("weight", "expected"), [(1, "Abluber"), (20, "ABlooper")])
def test_a_larger_weight_forgives_more(weight: float, expected: str) -> None:
    assert boosted("Abluber", Boost("ABlooper", weight)) == expected


def test_a_negative_weight_suppresses() -> None:
    assert boosted("hello you old bank", Boost("old bank", -10)) == "hello you"


def test_a_small_weight_prefers_and_rewrites_nothing() -> None:
    booster = PhraseBooster([Boost("humid", 5), Boost("in stock", 5)])

    def worth(text: str) -> float:
        return booster.preference(words(text))

    assert worth("How human is it?") == 0
    assert worth("How humid is it?") == pytest.approx(0.35)
    assert worth("How humid? Is it in stock?") == pytest.approx(0.7)
    assert worth("It is in the stock room, humidly.") == 0
    assert boosted("How humit is it?", Boost("humid", 5)) == "How humit is it?"
    assert boosted("Will it rain in boston?", Boost("will it", 5), Boost("Boston", 5)) == "Will it rain in Boston?"


@pytest.mark.parametrize(
    ("said", "proposed"),
    [
        ("How human is it in Miami?", ["How humid is it in Miami?"]),
        ("as the newest shop.", ["as the nearest shop."]),
        ("We'll be there.", ["Will it there."]),
        ("So install the Nearest one", ["So in stock the Nearest one"]),
        ("So human in stall, newest!", [
            "So humid in stall, newest!", "So human in stock, newest!", "So human in stall, nearest!",
            "So humid in stock, nearest!",
        ]),
        ("It is in stock, will it be humid?", []),
        ("A laptop costs much.", []),
        ("", []),
    ],
)  # fmt: skip
def test_what_sounds_like_an_expected_phrase_is_proposed_for_it(said: str, proposed: list[str]) -> None:
    booster = PhraseBooster([Boost(phrase, 5) for phrase in ("humid", "in stock", "nearest", "will it", "it")])
    found = [" ".join(one) for one in booster.proposals(said.split())]
    assert sorted(found) == sorted(proposed)


def test_other_words_are_left_alone() -> None:
    said = "How can I help you today with your savings account?"
    assert boosted(said, Boost("Harper Valley", 20), Boost("checking", 20), Boost("ABlooper", 20)) == said


def test_an_engine_is_told_what_is_boosted_but_not_what_is_only_preferred() -> None:
    boosts = [Boost("Harper Valley", 10), Boost("ABlooper", 6), Boost("how much", 5), Boost("uh", -5)]
    assert PhraseBooster(boosts).told == ("Harper Valley,", "ABlooper.")
    assert PhraseBooster([Boost("how much", 5)]).told == ()
