"""The head for marks and capitals: trained without torch, twice the same, and better than the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from finetune.corpus.call_sentences import CallCorpus, CallSentence
from finetune.train.punctuation_head import make_punctuation
from nlp.inference.models.token_encoder import shared_encoder
from nlp.inference.punctuation import HEAD, Punctuator

_PEOPLE = ("Paula", "Boris", "Anna", "Omar", "Leila", "Victor", "Nadia", "Peter")
_THINGS = ("parcel", "invoice", "phone", "refund", "table", "lamp")


def sentences(people: tuple[str, ...]) -> list[CallSentence]:
    texts = [
        text
        for person in people
        for thing in _THINGS
        for text in (f"Where is the {thing} of {person}?", f"The {thing} is with {person}.")
    ]
    return [CallSentence(text=text, sentiment="neutral", intent="greeting") for text in texts]


@pytest.mark.slow
def test_it_learns_questions_and_names(tmp_path: Path) -> None:
    corpus = CallCorpus(learned=sentences(_PEOPLE[:6]), apart=sentences(_PEOPLE[6:]))
    made = [
        make_punctuation(corpus, shared_encoder(), tmp_path / str(run), data=None, name="ours", version="1", seed=7)
        for run in range(2)
    ]
    assert made[0] == made[1]
    assert made[0]["right mark at the end of a sentence"] == 100
    assert made[0]["in a row: question marks, F1"] > 80
    punctuator = Punctuator(tmp_path / "0")
    assert punctuator.text("where is the lamp of victor") == "Where is the lamp of Victor?"
    assert (tmp_path / "0" / HEAD).stat().st_size < 1_000_000
    assert "| the rule |" in (tmp_path / "0" / "README.md").read_text()
