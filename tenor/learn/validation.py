"""What the model of a run answers on validation, kept beside the run, so that runs can be compared row by row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import structlog

from finetune.recipes.base import TrainingRow
from nlp.inference.backend import open_local
from nlp.inference.types import Backend, SentenceAnalysis, SentenceContext
from storage.runs import answers
from storage.runs.answers import ValidationAnswer
from tenor.settings import Settings

log = structlog.get_logger(__name__)

KINDS = ("sentiment", "intent")


def answers_of(
    backend: Backend, rows: Sequence[TrainingRow], texts: Sequence[str] | None = None
) -> list[SentenceAnalysis]:
    """What the model says of the rows' sentences; `texts`: as somebody else wrote them."""
    contexts = [SentenceContext(row.role, row.before) for row in rows]
    return list(backend.analyze([row.text for row in rows] if texts is None else texts, contexts))


def keep_answers(settings: Settings, folder: Path, model: Path, rows: Sequence[TrainingRow]) -> None:
    """Ask the new language model about the rows of validation. A model that cannot answer does not undo its run."""
    asked = [row for row in rows if row.split == "val" and row.text.strip() and (row.sentiment or row.intent)]
    if not asked:
        return
    try:
        backend = open_local(settings.language.model_copy(update={"model": ""}), model)
        answered = answers_of(backend, asked)
    except Exception as error:  # a recipe of one's own may leave anything
        log.warning("the new model does not answer on validation", error=f"{type(error).__name__}: {error}")
        return
    answers.write(
        folder,
        (
            ValidationAnswer(row=row.id, call=row.call or row.group, kind=kind, right=getattr(answer, kind) == label)
            for row, answer in zip(asked, answered, strict=True)
            for kind in KINDS
            if (label := getattr(row, kind)) is not None
        ),
    )
