"""Another language is said, not guessed at."""

from __future__ import annotations

import pytest

from nlp.foreign import is_foreign


@pytest.mark.parametrize(
    "text",
    [
        "quiero saber el saldo de mi cuenta por favor",
        "je voudrais parler à un conseiller pour mon compte",
        "ich möchte bitte meine karte sperren",
        "Где мой заказ",
        "أين طلبي",
        "我的包裹在哪里",
        "jag har inte fått det på posten",
    ],
)
def test_other_languages_are_noticed(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "i want to check my balance",
        "my name is maria de la cruz",
        "it's los angeles california",
        "okay",
        "12345",
        "",
        "😀😀",
        "um uh huh",
        "is the café in el paso open",
        "naïve résumé",
    ],
)
def test_english_passes(text: str) -> None:
    assert not is_foreign(text)
