"""Rows of a dataset as examples for a language model: labels it has, labels it gets, what it must keep knowing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

from finetune.corpus import call_sentences, datasets, mixture
from finetune.corpus.examples import LanguageExample, Span
from finetune.recipes.base import EXAMPLE, TrainingRow, rows_of
from nlp.inference.assistant.bio import spans_of
from nlp.inference.assistant.words import word_offsets
from nlp.inference.models.onnx_model import fingerprint
from nlp.inference.models.token_encoder import TokenEncoder
from tenor.errors import BadInput
from tenor.taxonomy.intents import read

Heads = dict[str, tuple[str, ...]]
SENTENCE_HEADS = ("sentiment", "intent")
SLOTS = "slots"


def repeatable_encoder() -> TokenEncoder:
    """One of its own: the shared one remembers texts that others asked for, in batches that rounded otherwise."""
    return TokenEncoder(kept=0)


def language_rows(rows: Sequence[TrainingRow], share: float) -> tuple[list[TrainingRow], list[TrainingRow]]:
    """Those to train on and those to validate with. Where none are marked for validation, `share` of the groups is."""
    training, validation = rows_of(rows, "train"), rows_of(rows, "val")
    if not validation and share:
        chosen = {row.group or row.call or row.id for row in training if _place(row) < share}
        validation = [row for row in training if (row.group or row.call or row.id) in chosen]
        training = [row for row in training if (row.group or row.call or row.id) not in chosen]
    labelled = [row for row in training if row.sentiment or row.intent or row.tags]
    if not labelled:
        raise BadInput("no row to train on has a sentiment, an intent or slots", "label some sentences first")
    for head in SENTENCE_HEADS:
        values = {getattr(row, head) for row in labelled} - {None}
        if len(values) == 1:
            raise BadInput(f"every {head} of the rows is {values.pop()!r}", "one label alone teaches nothing")
    return labelled, validation


def _place(row: TrainingRow) -> float:
    """From 0 to 1, the same for every row of a group, whatever else is in the dataset."""
    digest = hashlib.sha256((row.group or row.call or row.id).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def grown(heads: Heads, rows: Sequence[TrainingRow]) -> Heads:
    """The labels of each head, those that only the rows have after those that are known."""
    found = dict(heads)
    for head in SENTENCE_HEADS:
        named = {getattr(row, head) for row in rows} - {None, *heads.get(head, ())}
        found[head] = (*heads.get(head, ()), *sorted(named))
    kinds = {tag[2:] for row in rows for tag in row.tags or () if tag != "O"}
    new = sorted(kinds - {label[2:] for label in heads.get(SLOTS, ())})
    if SLOTS in heads:
        found[SLOTS] = (*heads[SLOTS], *(f"{part}-{kind}" for kind in new for part in "BI"))
    return found


def learned_examples(rows: Sequence[TrainingRow]) -> frozenset[str]:
    """Fingerprints of the sentences of the file of intents, for a card: with these its model does not compare."""
    return frozenset(fingerprint(row.text) for row in rows if EXAMPLE in row.origin)


def examples(rows: Sequence[TrainingRow]) -> list[LanguageExample]:
    return [
        LanguageExample(
            row.text,
            {head: (value,) for head in SENTENCE_HEADS if (value := getattr(row, head))},
            {SLOTS: _spans(row)} if row.tags is not None else {},
            role=row.role,
            before=row.before,
            weight=row.weight,
        )
        for row in rows
        if row.text.strip()
    ]


def _spans(row: TrainingRow) -> tuple[Span, ...]:
    words = word_offsets(row.text)
    if len(words) != len(row.tags or ()):
        raise BadInput(f"row {row.id} has {len(row.tags or ())} tags for {len(words)} words")
    return tuple((words[first][0], words[after - 1][1], kind) for first, after, kind in spans_of(row.tags or ()))


def replay(heads: Heads, most: int, seed: int) -> list[LanguageExample]:
    """Sentences of our own, which are in the package, so that what the model knows stays known: half of them of calls,
    with sentiment, intent and who speaks; of the others two of five have a sentiment, two an intent, one slots. None is
    one of the frozen."""
    random = Random(seed)
    taxonomy = read()
    calls = call_sentences.examples(call_sentences.read(call_sentences.DEFAULT, taxonomy).learned)
    wishes = [(text, intent.name) for intent in taxonomy.intents for text in intent.examples]
    wishes += [(row.text, row.label) for row in datasets.own_intents(random, most=12)]
    feelings = [(row.text, row.label) for row in datasets.own_sentiment(random, most=8)]
    parts = [
        calls,
        [LanguageExample(text, {"sentiment": (label,)}) for text, label in feelings],
        [LanguageExample(text, {"intent": (label,)}) for text, label in wishes],
        [LanguageExample(row.text, spans={SLOTS: row.spans}) for row in datasets.own_slots(random, most=6)],
    ]
    sizes = (most // 2, most // 5, most // 5, most // 10)
    kept = [mixture.allowed(part) for part in parts]
    chosen = [one for part, size in zip(kept, sizes, strict=True) for one in random.sample(part, min(size, len(part)))]
    return [one for one in chosen if _all_known(one, heads)]


def own_texts() -> list[str]:
    """Sentences of our own, to prove a model with: what callers said does not belong into a model's folder."""
    wishes = [text for intent in read().intents for text in intent.examples]
    return [*wishes, *(row.text for row in datasets.own_sentiment(Random(0), most=8))]


def _all_known(row: LanguageExample, heads: Heads) -> bool:
    """Whether a model with these heads has every label of it."""
    kinds = {label[2:] for label in heads.get(SLOTS, ())}
    return all(name in heads.get(head, ()) for head, names in row.labels.items() for name in names) and all(
        kind in kinds for spans in row.spans.values() for _, _, kind in spans
    )
