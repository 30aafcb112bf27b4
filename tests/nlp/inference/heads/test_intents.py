"""Intents added by example, without training."""

from __future__ import annotations

import pytest

from finetune.corpus import datasets
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import LanguageModel, open_model
from tenor.taxonomy.intents import UNKNOWN, Taxonomy, WantedIntent, read

PETS = WantedIntent(
    "pet_insurance",
    "Wants to insure an animal.",
    (
        "i want to insure my dog",
        "do you have insurance for cats",
        "how much is pet insurance",
        "can i get cover for my puppy",
        "my rabbit needs an insurance",
        "does the policy pay the vet",
        "i need a pet policy",
        "is my dog covered at the vet",
        "what does cat insurance cost",
        "i'd like to sign up my kitten for health cover",
    ),
    task=True,
)
NEW = ["i would like insurance for my cat", "can you insure a puppy", "does pet cover include the vet"]
OLD = {"i lost my debit card": "card_replacement", "what are your opening hours": "opening_hours", "goodbye": "closing"}


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return open_model()


@pytest.mark.slow
def test_ten_examples_make_an_intent_at_once(model: LanguageModel) -> None:
    before = LocalBackend(model)
    assert PETS.name not in {found.intent for found in before.analyze(NEW)}
    after = LocalBackend(model, Taxonomy((*read().intents, PETS)))
    assert [found.intent for found in after.analyze(NEW)] == [PETS.name] * len(NEW)


def test_what_was_known_stays_known(model: LanguageModel) -> None:
    after = LocalBackend(model, Taxonomy((*read().intents, PETS)))
    assert [found.intent for found in after.analyze(list(OLD))] == list(OLD.values())


def test_examples_added_to_an_intent_count_at_once(model: LanguageModel) -> None:
    slang = "gimme the lowdown on my dough"
    intents = [
        WantedIntent(intent.name, intent.description, (*intent.examples, *_SLANG), intent.task)
        if intent.name == "balance"
        else intent
        for intent in read().intents
    ]
    [found] = LocalBackend(model, Taxonomy(tuple(intents))).analyze([slang])
    assert found.intent == "balance"


def test_many_intents_that_are_a_little_near_take_no_more_from_the_head_than_one(model: LanguageModel) -> None:
    def likely(names: set[str]) -> float:
        intents = [
            WantedIntent(one.name, one.description, (*one.examples, *_SLANG), one.task) if one.name in names else one
            for one in read().intents
        ]
        [found] = LocalBackend(model, Taxonomy(tuple(intents))).analyze(["goodbye"])
        return found.intent_scores["closing"]

    assert likely({"balance", "fees", "transfer", "refund"}) == pytest.approx(likely({"balance"}))


_SLANG = ("gimme the lowdown on my bread", "how much dough have i got", "what's the lowdown on my dough")


def test_an_intent_taken_out_is_never_answered(model: LanguageModel) -> None:
    fewer = LocalBackend(model, Taxonomy(tuple(i for i in read().intents if i.name != "refund")))
    [found] = fewer.analyze(["i would like a refund for this"])
    assert found.intent != "refund"
    assert "refund" not in found.intent_scores


def test_what_has_nothing_to_do_with_calls_is_unknown(model: LanguageModel) -> None:
    texts = [row["text"] for row in datasets.evaluation("intents") if row["label"] == UNKNOWN]
    found = [one.intent for one in LocalBackend(model).analyze(texts)]
    assert found.count(UNKNOWN) >= 0.8 * len(texts)
