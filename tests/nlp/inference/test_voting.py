"""Several models vote on the sentiment; the model in force says the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.inference.backend import open_backend, open_local
from nlp.inference.types import SentenceAnalysis
from nlp.inference.voting import voted
from tenor.errors import BadInput
from tenor.settings import LanguageSettings, Settings
from tests.nlp.inference.models.layered import write_layered

LABELS = ("negative", "neutral", "positive")


def said(sentiment: str, score: float = 0.6, mood: float = 0.0) -> SentenceAnalysis:
    rest = (1 - score) / 2
    scores = {label: score if label == sentiment else rest for label in LABELS}
    return SentenceAnalysis("so be it", sentiment, scores, "confirmation", 0.5, mood=mood)


@pytest.mark.parametrize(
    ("own", "others", "wanted"),
    [
        (said("neutral"), [said("negative"), said("negative")], "negative"),
        (said("neutral", 0.99), [said("negative", 0.4), said("negative", 0.4)], "negative"),
        (said("positive"), [said("negative", 0.9)], "positive"),
        (said("neutral"), [said("negative", 0.5), said("positive", 0.9)], "neutral"),
        (said("neutral"), [*[said("negative")] * 2, *[said("positive", 0.9)] * 2], "positive"),
    ],
)  # fmt: skip
def test_what_most_say_counts_and_of_a_tie_the_model_in_force_or_the_surer(
    own: SentenceAnalysis, others: list[SentenceAnalysis], wanted: str
) -> None:
    found = voted(own, others)
    assert found.sentiment == wanted
    assert sum(found.sentiment_scores.values()) == pytest.approx(1)
    assert (found.intent, found.text) == (own.intent, own.text)


@pytest.mark.slow
def test_voters_of_the_settings_vote_with_the_model_in_force(tmp_path: Path) -> None:
    folders = [str(write_layered(tmp_path / str(n), {"sentiment": LABELS, "intent": ("unknown", "hold")}, seed=n))
               for n in (1, 2, 3)]  # fmt: skip
    alone = [open_local(LanguageSettings(model=folder)) for folder in folders]
    together = open_backend(
        Settings(home=tmp_path, language=LanguageSettings(model=folders[0], voters=folders[1:]))
    )  # fmt: skip
    texts = ["thank you so much", "I have had enough of this", "where is my parcel", ""]
    expected = [voted(own, others) for own, *others in zip(*(one.analyze(texts) for one in alone), strict=True)]
    found = together.analyze(texts)
    assert [one.sentiment for one in found] == [one.sentiment for one in expected]
    assert [one.intent for one in found] == [one.intent for one in alone[0].analyze(texts)]
    assert together.versions["sentiment"] == "+".join(one.versions["sentiment"] for one in alone)
    assert together.versions["intent"] == alone[0].versions["intent"]
    assert found[0].models == together.versions
    other = write_layered(tmp_path / "other", {"sentiment": ("bad", "good"), "intent": ("unknown", "hold")})
    with pytest.raises(BadInput, match="bad, good"):
        open_backend(Settings(home=tmp_path, language=LanguageSettings(model=folders[0], voters=[str(other)])))
