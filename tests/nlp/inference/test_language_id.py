"""Another language is said, not guessed at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlp.inference.language_id import is_foreign

FROZEN = Path(__file__).parents[3] / "nlp" / "evaluation"


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
        "Necesito ayuda",
        "Ich brauche Hilfe",
        "Siparişim nerede",
        "tarvitsen apua",
        "potřebuji pomoc",
        "terima kasih banyak",
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
        "Los Angeles, Las Vegas",
        "Heinrich Schmidt",
        "bye bye",
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


def test_no_frozen_sentence_is_taken_for_another_language() -> None:
    files = (FROZEN / name for name in ("sentiment.jsonl", "intents.jsonl"))
    texts = [json.loads(line)["text"] for file in files for line in file.read_text("utf-8").splitlines()]
    assert [text for text in texts if is_foreign(text)] == []
