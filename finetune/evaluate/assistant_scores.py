"""How good the assistant's model is on sentences whose labels are known."""

from __future__ import annotations

from collections.abc import Sequence

from finetune.corpus.assistant_corpus import TALK, Utterance
from finetune.evaluate.report import Scores
from finetune.evaluate.scores import accuracy, span_f1
from nlp.inference.assistant.assistant_model import AssistantModel
from nlp.inference.assistant.bio import spans_of


def measured(model: AssistantModel, rows: Sequence[Utterance]) -> Scores:
    """Share of right intents; F1 of slots, of which kind, beginning and end must be right."""
    answers = model.read([row.text for row in rows])
    spans = [(spans_of(row.tags or ()), spans_of(answer.tags)) for row, answer in zip(rows, answers, strict=True)]
    asked = [at for at, row in enumerate(rows) if not row.intent.startswith(TALK)]
    return {
        "intent": accuracy([row.intent for row in rows], [answer.intent for answer in answers]),
        "slot F1": span_f1([right for right, _ in spans], [found for _, found in spans])["all"],
        "intent of questions": accuracy([rows[at].intent for at in asked], [answers[at].intent for at in asked]),
        "slot F1 of questions": span_f1([spans[at][0] for at in asked], [spans[at][1] for at in asked])["all"],
    }
