"""How good a model is, on every set there is: the scores of issue and model card, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from finetune.corpus import datasets, harper_valley, mixture
from finetune.corpus.call_sentences import CallSentence
from finetune.evaluate.calibration import added_intents
from finetune.evaluate.scores import accuracy, f1_by_label, macro_f1, span_f1
from nlp.conversation.task import task_of
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.types import SentenceContext
from tenor.taxonomy.intents import UNKNOWN, Taxonomy, read

ROUTINE, ROUTINE_TOLD = "routine not neutral", "routine not neutral, with role"

Scores = dict[str, float]
Sentiment = Callable[[Sequence[str]], list[str]]


def sentiment_scores(answer: Sentiment, data: Path | None) -> Scores:
    """Of anything that tells sentiment: on our frozen sentences and, given data, on public ones."""
    own = datasets.evaluation("sentiment")
    right, answered = [row["label"] for row in own], answer([row["text"] for row in own])
    scores = {"own macro-F1": macro_f1(right, answered)}
    scores |= {f"own {label} F1": value for label, value in f1_by_label(right, answered).items()}
    for kind in ("sarcasm", "negation", "politeness"):
        rows = [(r, a) for r, a, row in zip(right, answered, own, strict=True) if row["kind"] == kind]
        scores[f"own {kind} accuracy"] = accuracy([r for r, _ in rows], [a for _, a in rows])
    if data is not None:
        meld = datasets.meld(data)
        scores["MELD dev macro-F1"] = macro_f1([row.label for row in meld], answer([row.text for row in meld]))
        routine = [said.text for call in harper_valley.calls(data, "dev-audio") for said in call.said]
        scores[ROUTINE] = sum(label != "neutral" for label in answer(routine)) / len(routine)
    return scores


def intent_scores(backend: LocalBackend) -> Scores:
    """On our frozen sentences: the intents, and how often a sentence that has none is called unknown."""
    rows = datasets.evaluation("intents")
    answered = [one.intent for one in backend.analyze([row["text"] for row in rows])]
    inside = [(row["label"], a) for row, a in zip(rows, answered, strict=True) if row["label"] != UNKNOWN]
    outside = [a for row, a in zip(rows, answered, strict=True) if row["label"] == UNKNOWN]
    return {
        "own intents accuracy": accuracy([r for r, _ in inside], [a for _, a in inside]),
        "own intents macro-F1": macro_f1([r for r, _ in inside], [a for _, a in inside]),
        "own unknown recall": outside.count(UNKNOWN) / len(outside),
    }


def outside_scores(backend: LocalBackend, data: Path) -> Scores:
    """On CLINC150's sentences that are out of everybody's scope."""
    rows = datasets.intents(data / "nlu" / "clinc150" / "oos_test.jsonl.gz")
    found = [one.intent for one in backend.analyze([row.text for row in rows])]
    return {"CLINC150 out of scope called unknown": found.count(UNKNOWN) / len(found)}


def added_scores(model: LanguageModel, taxonomy: Taxonomy, data: Path) -> Scores:
    """Seven intents added by ten examples each: how many of their sentences are found, and what it costs the others."""
    added, tried = added_intents(data, "test")
    grown = LocalBackend(model, Taxonomy((*taxonomy.intents, *added)))
    found = [one.intent for one in grown.analyze([row.text for row in tried])]
    rows = [row for row in datasets.evaluation("intents") if row["label"] != UNKNOWN]
    others = [one.intent for one in grown.analyze([row["text"] for row in rows])]
    return {
        "added intents accuracy": accuracy([row.label for row in tried], found),
        "own intents accuracy beside them": accuracy([row["label"] for row in rows], others),
    }


def slot_scores(backend: LocalBackend, data: Path) -> Scores:
    """On the folds of NLU++ that were not trained on, kinds as we name them."""
    rows = datasets.nlupp(data, mixture.MEASURED_FOLDS)
    found = [
        [(entity.start, entity.end, entity.label.name) for entity in one.entities]
        for one in backend.analyze([row.text for row in rows])
    ]
    kinds = set(datasets.NLUPP_SLOTS.values())
    known = [[span for span in spans if span[2] in kinds] for spans in found]
    scores = span_f1([row.spans for row in rows], known)
    return {f"NLU++ {slot} F1": value for slot, value in scores.items()}


def task_scores(backend: LocalBackend, data: Path) -> Scores:
    """The task of Harper Valley's dev calls, from what people wrote down and from what its makers' recogniser heard."""
    scores = {}
    tasks = backend.taxonomy.tasks
    calls = list(harper_valley.calls(data, "dev-audio"))
    for name in ("text", "recognised"):
        answered = []
        for call in calls:
            lines = [(said.role, getattr(said, name)) for said in call.said]
            texts = [text for _, text in lines]
            contexts = [SentenceContext(role, before) for (role, _), before in zip(lines, [None, *texts], strict=False)]
            understood = backend.analyze(texts, contexts)
            sentences = ((role, one.intent_scores) for (role, _), one in zip(lines, understood, strict=True))
            answered.append(task_of(sentences, tasks)[0])
        scores[f"task of a call ({name})"] = accuracy([call.task for call in calls], answered)
    return scores


def told_scores(backend: LocalBackend, data: Path) -> Scores:
    """What changes for Harper Valley's routine sentences when it is told who speaks and what was said before."""
    texts, contexts = [], []
    for call in harper_valley.calls(data, "dev-audio"):
        before = None
        for said in call.said:
            texts.append(said.text)
            contexts.append(SentenceContext(said.role, before))
            before = said.text
    found = [one.sentiment for one in backend.analyze(texts, contexts)]
    return {ROUTINE_TOLD: sum(label != "neutral" for label in found) / len(found)}


def corpus_scores(model: LanguageModel, taxonomy: Taxonomy, rows: Sequence[CallSentence]) -> Scores:
    """On sentences of hands that were kept apart, with and without what is known of them."""
    if not rows:
        return {}
    backend = LocalBackend(model, taxonomy)
    texts = [row.text for row in rows]
    contexts: dict[str, list[SentenceContext]] = {
        "told": [SentenceContext(row.role, row.said_before) for row in rows],
        "role not told": [SentenceContext(before=row.said_before) for row in rows],
        "not told": [],
    }
    scores = {}
    for name, known in contexts.items():
        found = backend.analyze(texts, known)
        pairs = list(zip(rows, found, strict=True))
        right = [row.sentiment for row in rows]
        scores[f"hands apart sentiment macro-F1, {name}"] = macro_f1(right, [one.sentiment for one in found])
        accepted = [one.intent in (row.intent, *row.also) for row, one in pairs]
        scores[f"hands apart intent, {name}"] = sum(accepted) / len(rows)
        answered = [ok for ok, (_, one) in zip(accepted, pairs, strict=True) if one.intent != UNKNOWN]
        scores[f"hands apart intents answered, {name}"] = len(answered) / len(rows)
        scores[f"hands apart intents right of those answered, {name}"] = sum(answered) / max(1, len(answered))
    return scores


def all_scores(model: LanguageModel, data: Path | None, taxonomy: Taxonomy | None = None) -> Scores:
    taxonomy = taxonomy or read()
    backend = LocalBackend(model, taxonomy)

    def feel(texts: Sequence[str]) -> list[str]:
        return [one.sentiment for one in backend.analyze(texts)]

    scores = sentiment_scores(feel, data) | intent_scores(backend)
    if data is not None:
        scores |= outside_scores(backend, data) | added_scores(model, taxonomy, data)
        scores |= slot_scores(backend, data) | task_scores(backend, data) | told_scores(backend, data)
    return scores
