"""The gate, asked about a recogniser and a language model that would be promoted together: both or neither."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from finetune.gate import PairEvidence, PairSentence, PairVerdict, pair_checks, pair_confusion
from finetune.recipes.base import TrainingRow
from storage.db.engine import Database
from storage.registry.registry import ModelVersion, Registry
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn.judging import (
    HoldoutJudge,
    Progress,
    champion_for,
    language_backend,
    opened_holdout,
)
from tenor.learn.validation import answers_of
from tenor.settings import Settings
from tenor.taxonomy.in_force import sentiments_in_force

Champions = tuple[ModelVersion, ModelVersion]
"""Of speech and of language."""


def judge_together(
    settings: Settings,
    database: Database,
    viewer: Viewer,
    models: Sequence[str],
    dataset: str = "",
    *,
    terms: Sequence[str] = (),
    progress: Progress = lambda *_: None,
) -> PairVerdict:
    """Whether a recogniser and a language model (`models`, in any order) are better than those in force: each alone,
    and the four pairs on the same hold-out. What the gate says is kept with both, so that neither passes alone."""
    registry = Registry(database, settings.models_folder)
    found = {version.kind: version for version in map(registry.version, models)}
    if sorted(found) != ["language", "speech"] or len(models) != 2:
        raise BadInput(
            f"{' and '.join(models)} are no recogniser and language model", "`tenor models list` shows kinds"
        )
    candidates: Champions = (found["speech"], found["language"])
    champions: Champions = (champion_for(registry, candidates[0]), champion_for(registry, candidates[1]))
    with opened_holdout(settings, viewer, candidates[1], dataset) as (reference, rows):
        judge = HoldoutJudge(settings, database, registry, rows, terms, progress)
        alone = [judge.alone(*pair) for pair in zip(champions, candidates, strict=True)]
        evidence = _pairs(settings, registry, judge, champions, candidates, rows)
    verdict = PairVerdict(
        speech=alone[0], language=alone[1], together=pair_checks(evidence), confusions=pair_confusion(evidence)
    )
    for own, candidate, champion in zip(alone, candidates, champions, strict=True):
        other = next(one for one in candidates if one is not candidate)
        registry.record_gate(
            viewer, candidate.id, passed=verdict.passed, against=champion.id,
            verdict=own.conclusion if not own.passed or verdict.passed else verdict.conclusion,
            figures={
                **own.document(), "holdout": judge.holdout, "dataset": reference, "with": other.id,
                "together": msgspec.to_builtins(verdict.together), "passed_together": verdict.passed,
            },
        )  # fmt: skip
    return verdict


def _pairs(
    settings: Settings, registry: Registry, judge: HoldoutJudge, champions: Champions, candidates: Champions,
    rows: Sequence[TrainingRow],
) -> PairEvidence:  # fmt: skip
    """What each pair makes of the sentences that have audio and people's sentiment."""
    names = {
        "speech": (champions[0].id, candidates[0].id),
        "language": (champions[1].id, candidates[1].id),
        "worth": sentiments_in_force(settings.language),
        "attempt": max(map(judge.attempt, candidates)),
    }
    both = [row for row in rows if row.audio and row.sentiment]
    if not both:
        return PairEvidence(**names)  # type: ignore[arg-type]
    backends = [language_backend(settings, registry.path(one)) for one in (champions[1], candidates[1])]
    answers = []
    for recogniser in (champions[0], candidates[0]):
        heard = judge.heard.texts(recogniser)
        texts = [heard.get(row.id, "") for row in both]
        answers.append([[one.sentiment for one in answers_of(backend, both, texts)] for backend in backends])
    (base, language), (speech, together) = answers
    sentences = [
        PairSentence(id=row.id, call=row.call or row.group, human=row.sentiment or "", base=base[at],
                     speech=speech[at], language=language[at], both=together[at])
        for at, row in enumerate(both)
    ]  # fmt: skip
    return PairEvidence(sentences=sentences, **names)  # type: ignore[arg-type]
