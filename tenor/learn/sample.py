"""The loop on a sample company, so that everybody can watch it: calls are added, learned from, and a model promoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nlp.inference.backend import open_local
from nlp.inference.types import Backend, SentenceContext
from storage.db.engine import Database
from storage.registry.registry import Registry
from storage.sample.company import CALLS, COMPANY, SITE, CompanyLine, SampleAnswer, add_company
from storage.viewer import Viewer
from tenor.learn.loop import LearnResult, Progress, Told, learn
from tenor.settings import Settings

NAME = "apiary"
TRIED = {
    "A huge ball of bees settled in the pear tree, can someone bring a box.": "swarm_alert",
    "There is a cluster of bees hanging from our gutter since this morning.": "swarm_alert",
    "Her Majesty has vanished, there are no fresh eggs in the hive on the roof.": "queen_loss",
    "I think the colony has no queen any more.": "queen_loss",
    "How much of the honey from the orchard hive is ours this year?": "honey_share",
    "When do we get our part of the harvest?": "honey_share",
    "The hive by the school has to go somewhere else before June.": "hive_move",
    "Could you move our colony to the other roof?": "hive_move",
    "One of them got my thumb and it is swelling up.": "sting_advice",
    "What should I put on a bee sting?": "sting_advice",
}
"""What each means; nobody in the sample says it in these words."""
SHOWN = 3


@dataclass(frozen=True, slots=True)
class TriedSentence:
    text: str
    before: str
    """What the model that ships says it wants,"""
    after: str
    """and what the one says that has learned."""


def add_sample_company(settings: Settings, database: Database, *, calls: int = CALLS) -> int:
    """Its calls, as the model that ships understands them; how many are new."""
    backends: list[Backend] = []

    def understand(said: Sequence[Sequence[CompanyLine]]) -> list[list[SampleAnswer]]:
        backends.append(open_local(settings.language.model_copy(update={"model": ""})))
        return [_answers(backends[0], lines) for lines in said]

    return add_company(database, understand, calls=calls)


def learn_sample(
    settings: Settings, database: Database, viewer: Viewer, *, recipes: Sequence[str] = (),
    told: Told = lambda _: None, progress: Progress = lambda *_: None,
) -> LearnResult:  # fmt: skip
    """Learn from the sample company's calls alone, and put what passes the gate in force."""
    return learn(
        settings, database, viewer, name=NAME, search=f"site:{SITE}", recipes=recipes, promote=True,
        samples=True, told=told, progress=progress,
    )  # fmt: skip


def try_out(settings: Settings, database: Database, result: LearnResult) -> list[TriedSentence]:
    """Some sentences that the model that ships does not understand, and the one that has learned does."""
    registry = Registry(database, settings.models_folder)
    learned = registry.version(result.models[0])
    plain = settings.language.model_copy(update={"model": ""})
    callers = [SentenceContext("caller")] * len(TRIED)
    before, after = (
        open_local(plain, folder).analyze(list(TRIED), callers) for folder in (None, registry.path(learned))
    )
    found = [
        TriedSentence(text, one.intent, other.intent)
        for (text, wanted), one, other in zip(TRIED.items(), before, after, strict=True)
        if one.intent != wanted == other.intent
    ]
    return found[:SHOWN]


def company_name() -> str:
    return str(COMPANY["name"])


def _answers(backend: Backend, lines: Sequence[CompanyLine]) -> list[SampleAnswer]:
    texts = [line.text for line in lines]
    contexts = [SentenceContext(line.role, before) for line, before in zip(lines, [None, *texts], strict=False)]
    return [
        SampleAnswer(
            one.sentiment, dict(one.sentiment_scores), one.mood, one.intent, one.intent_score, dict(one.models)
        )
        for one in backend.analyze(texts, contexts)
    ]
