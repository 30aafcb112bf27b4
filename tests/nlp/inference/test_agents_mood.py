"""An agent's mood: nobody is marked down for apologising, or for saying what they will do."""

from __future__ import annotations

import pytest

from nlp.inference.agents_mood import by_the_rules
from nlp.inference.analyzer import Analyzer
from nlp.inference.local import LocalBackend
from nlp.inference.plugins import Classifiers
from nlp.inference.types import SentenceAnalysis, SentenceContext
from tenor.taxonomy.sentiments import valence_of

ANGRY = "This is the third time!"
AT_WORK = (
    "I am so sorry, I understand how frustrating this is.",
    "I apologise for the inconvenience this has caused.",
    "I will refund the full amount.",
    "I will look into that and call you back tomorrow.",
    "Of course.",
    "Okay.",
)


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer(LocalBackend(), Classifiers({}))


def heard(analyzer: Analyzer, text: str, role: str) -> SentenceAnalysis:
    [found] = analyzer.analyze([text], [SentenceContext(role, ANGRY)])
    assert found is not None
    return found


@pytest.mark.parametrize("text", AT_WORK)
def test_an_agent_who_apologises_and_helps_is_not_marked_down(analyzer: Analyzer, text: str) -> None:
    found = heard(analyzer, text, "agent")
    assert found.mood >= 0
    assert found.sentiment != "negative"
    assert sum(found.sentiment_scores.values()) == pytest.approx(1)


def test_a_caller_and_a_rude_agent_are_heard_as_before(analyzer: Analyzer) -> None:
    assert heard(analyzer, "That is what the contract says, so read it next time.", "agent").mood < -0.5
    assert heard(analyzer, "I am so sorry that I ever signed up, this is so frustrating.", "caller").mood < -0.5
    without = analyzer.analyze(["Of course."])[0]
    assert without is not None
    assert without.mood != 0


def test_labels_of_ones_own_and_of_servers_that_name_only_the_likeliest_follow_the_rule_too() -> None:
    worth = {"furious": -1.0, "let down": -0.5, "fine": 0.0, "delighted": 1.0}
    scores = {"furious": 0.5, "let down": 0.3, "fine": 0.1, "delighted": 0.1}
    found = by_the_rules(SentenceAnalysis("sorry", "furious", scores, "apology", 1.0), None, worth.__getitem__)
    assert (found.sentiment, found.mood) == ("fine", 0.0)
    assert found.sentiment_scores["fine"] == pytest.approx(0.9)
    told = SentenceAnalysis("sorry", "negative", {"negative": 0.9}, "apology", 1.0, mood=-0.9)
    found = by_the_rules(told, None, valence_of)
    assert (found.sentiment, found.mood) == ("neutral", 0.0)
