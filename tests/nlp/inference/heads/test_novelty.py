"""What is unlike anything that the model learned from is told from what it knows."""

from __future__ import annotations

from nlp.inference.heads.novelty import NoveltyHead
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import open_model
from tenor.taxonomy.intents import Taxonomy, WantedIntent

KNOWN = ("I'd like to know my balance please", "my order has not arrived", "could you repeat that", "thank you so much")
NEW = (
    "whisk three eggs with sugar until pale",
    "the pump seal on turbine four is leaking hydraulic oil",
    "our rover landed on the rim of the crater",
)


def test_other_subjects_are_novel_and_what_callers_say_is_not() -> None:
    backend = LocalBackend()
    known, new = ([one.novelty or 0.0 for one in backend.analyze(texts)] for texts in (KNOWN, NEW))
    assert max(known) < 0.3
    assert min(new) > 0.4
    assert backend.analyze(["wo ist mein Paket geblieben, ich warte schon lange"])[0].novelty is None


def test_intents_without_examples_tell_nothing() -> None:
    head = NoveltyHead(open_model(), Taxonomy((WantedIntent("own", "", (), task=True),)))
    assert head.score(open_model().predict(["anything"])[0].embedding) is None
