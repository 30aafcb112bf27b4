"""How good a model is, on every set there is: the figures of issue and model card, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from finetune import harper, language, sources
from finetune.calibration import added_intents
from finetune.scores import accuracy, f1_by_label, macro_f1, span_f1
from nlp.local import LocalUnderstanding
from nlp.model import Model
from nlp.task import task_of
from nlp.taxonomy import UNKNOWN, Taxonomy, read

Figures = dict[str, float]
Sentiment = Callable[[Sequence[str]], list[str]]


def sentiment_figures(answer: Sentiment, data: Path | None) -> Figures:
    """Of anything that tells sentiment: on our frozen sentences and, given data, on public ones."""
    own = sources.evaluation("sentiment")
    right, answered = [row["label"] for row in own], answer([row["text"] for row in own])
    figures = {"own macro-F1": macro_f1(right, answered)}
    figures |= {f"own {label} F1": value for label, value in f1_by_label(right, answered).items()}
    for kind in ("sarcasm", "negation", "politeness"):
        rows = [(r, a) for r, a, row in zip(right, answered, own, strict=True) if row["kind"] == kind]
        figures[f"own {kind} accuracy"] = accuracy([r for r, _ in rows], [a for _, a in rows])
    if data is not None:
        meld = sources.meld(data)
        figures["MELD dev macro-F1"] = macro_f1([row.label for row in meld], answer([row.text for row in meld]))
        routine = [said.text for call in harper.calls(data, "dev-audio") for said in call.said]
        figures["routine not neutral"] = sum(label != "neutral" for label in answer(routine)) / len(routine)
    return figures


def intent_figures(understanding: LocalUnderstanding) -> Figures:
    """On our frozen sentences: the intents, and how often a sentence that has none is called unknown."""
    rows = sources.evaluation("intents")
    answered = [one.intent for one in understanding.understand([row["text"] for row in rows])]
    inside = [(row["label"], a) for row, a in zip(rows, answered, strict=True) if row["label"] != UNKNOWN]
    outside = [a for row, a in zip(rows, answered, strict=True) if row["label"] == UNKNOWN]
    return {
        "own intents accuracy": accuracy([r for r, _ in inside], [a for _, a in inside]),
        "own intents macro-F1": macro_f1([r for r, _ in inside], [a for _, a in inside]),
        "own unknown recall": outside.count(UNKNOWN) / len(outside),
    }


def outside_figures(understanding: LocalUnderstanding, data: Path) -> Figures:
    """On CLINC150's sentences that are out of everybody's scope."""
    rows = sources.intents(data / "nlu" / "clinc150" / "oos_test.jsonl.gz")
    found = [one.intent for one in understanding.understand([row.text for row in rows])]
    return {"CLINC150 out of scope called unknown": found.count(UNKNOWN) / len(found)}


def added_figures(model: Model, taxonomy: Taxonomy, data: Path) -> Figures:
    """Seven intents added by ten examples each: how many of their sentences are found, and what it costs the others."""
    added, tried = added_intents(data, "test")
    grown = LocalUnderstanding(model, Taxonomy((*taxonomy.intents, *added)))
    found = [one.intent for one in grown.understand([row.text for row in tried])]
    rows = [row for row in sources.evaluation("intents") if row["label"] != UNKNOWN]
    others = [one.intent for one in grown.understand([row["text"] for row in rows])]
    return {
        "added intents accuracy": accuracy([row.label for row in tried], found),
        "own intents accuracy beside them": accuracy([row["label"] for row in rows], others),
    }


def slot_figures(understanding: LocalUnderstanding, data: Path) -> Figures:
    """On the folds of NLU++ that were not trained on, kinds as we name them."""
    rows = sources.nlupp(data, language.MEASURED_FOLDS)
    found = [
        [(entity.start, entity.end, entity.label.name) for entity in one.entities]
        for one in understanding.understand([row.text for row in rows])
    ]
    kinds = set(sources.NLUPP_SLOTS.values())
    known = [[span for span in spans if span[2] in kinds] for spans in found]
    scores = span_f1([row.spans for row in rows], known)
    return {f"NLU++ {slot} F1": value for slot, value in scores.items()}


def task_figures(understanding: LocalUnderstanding, data: Path) -> Figures:
    """The task of Harper Valley's dev calls, from what people wrote down and from what its makers' recogniser heard."""
    figures = {}
    tasks = understanding.taxonomy.tasks
    calls = list(harper.calls(data, "dev-audio"))
    for name in ("text", "recognised"):
        answered = []
        for call in calls:
            lines = [(said.role, getattr(said, name)) for said in call.said]
            understood = understanding.understand([text for _, text in lines])
            sentences = ((role, one.intent_scores) for (role, _), one in zip(lines, understood, strict=True))
            answered.append(task_of(sentences, tasks)[0])
        figures[f"task of a call ({name})"] = accuracy([call.task for call in calls], answered)
    return figures


def all_figures(model: Model, data: Path | None, taxonomy: Taxonomy | None = None) -> Figures:
    taxonomy = taxonomy or read()
    understanding = LocalUnderstanding(model, taxonomy)

    def feel(texts: Sequence[str]) -> list[str]:
        return [one.sentiment for one in understanding.understand(texts)]

    figures = sentiment_figures(feel, data) | intent_figures(understanding)
    if data is not None:
        figures |= outside_figures(understanding, data) | added_figures(model, taxonomy, data)
        figures |= slot_figures(understanding, data) | task_figures(understanding, data)
    return figures
