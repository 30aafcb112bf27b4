"""What redaction costs in accuracy: heads learned and asked again at each level of it, on folds of whole groups.

    rows -> redacted at each level -> k folds -> head learned on k - 1 -> asked about the last -> mean

A sentence is read once, however many levels leave it as it is, and learning a head from what was read takes seconds.
Both sides are redacted alike: what is learned from, and what is answered.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

import msgspec

from finetune.corpus.examples import LanguageExample
from finetune.evaluate.scores import accuracy, macro_f1
from finetune.export.language_folder import open_start
from finetune.gate.bootstrap import PairedCalls, quotient
from finetune.recipes.base import RunRecord, TrainingRow, stoppable
from finetune.recipes.head import HeadParameters, HeadProblem, PooledVectors, learned_head
from finetune.recipes.language_rows import SENTENCE_HEADS, examples, grown, language_rows, repeatable_encoder
from nlp.inference.models.layered_model import HEADS, LayeredModel, read_heads
from tenor.errors import BadInput

NONE = "none"
LEVELS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95)
"""Those of the table in TR-4928."""
TAIL = 0.025
"""Intervals are of 95 %."""
Redact = Callable[[str, str | None], str]
"""A sentence, and the one before it, as the level leaves it."""
Progress = Callable[[int, int], None]


class HeadFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One head at one level."""

    folds: tuple[float, ...]
    """Macro-F1 of each fold,"""
    mean: float
    """and their mean."""
    accuracy: float
    """Over the rows of all folds."""
    change: float = 0.0
    """Of the accuracy, against no redaction, on the same rows;"""
    low: float | None = None
    high: float | None = None
    """its 95 % interval, where there are enough groups for one."""


class LevelFigures(msgspec.Struct, frozen=True, kw_only=True):
    level: str
    """`none`, or how strong redaction is;"""
    threshold: float | None
    """then words go that are likelier than this to be part of a name or an address."""
    masked: float
    """Share of the words that were taken out."""
    heads: dict[str, HeadFigures]


class PrivacyReport(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    """With which every fold began."""
    rows: int
    groups: int
    folds: int
    levels: tuple[LevelFigures, ...]

    def lines(self) -> list[str]:
        """As TR-4928 prints it: every fold, and the mean."""
        told = [f"{self.rows} rows of {self.groups} customers or calls, {self.folds} folds, from {self.model}"]
        for head in self.levels[0].heads:
            told += ["", f"{head}: macro-F1 of each fold, their mean, and accuracy against no redaction"]
            for one in self.levels:
                own = one.heads[head]
                folds = "  ".join(f"{value:.3f}" for value in own.folds)
                between = "" if own.low is None or own.high is None else f" ({own.low:+.1%} to {own.high:+.1%})"
                change = f"{own.change:+.1%}{between}" if one.level != NONE else ""
                told.append(
                    f"{one.level:>5}  masked {one.masked:6.2%}  {folds}  mean {own.mean:.4f}  {change}".rstrip()
                )
        return told


def privacy_sweep(
    rows: Sequence[TrainingRow], levels: Mapping[str, tuple[float | None, Redact]], record: RunRecord,
    *, folds: int, parameters: HeadParameters, progress: Progress = lambda *_: None,
) -> PrivacyReport:  # fmt: skip
    """`levels`: by name, their threshold and what they do to a sentence; the first is the one to compare with."""
    taught, _ = language_rows([msgspec.structs.replace(row, split="train") for row in rows], 0.0)
    taught = [row for row in taught if row.text.strip() and (row.sentiment or row.intent)]
    groups = [row.group or row.call or row.id for row in taught]
    if len(set(groups)) < folds:
        raise BadInput(
            f"{folds} folds need as many customers or calls with labels, and there are {len(set(groups))}",
            "take fewer --folds, or label more calls",
        )
    place = fold_of_groups(groups, folds)
    start, card = open_start(parameters.model)
    labels, deployed = grown(card.heads, taught), read_heads((start / HEADS).read_bytes(), start / HEADS)
    asked = {head: [at for at, row in enumerate(taught) if getattr(row, head)] for head in SENTENCE_HEADS}
    asked = {head: own for head, own in asked.items() if own}
    total, done = len(levels) * folds * len(asked), 0
    found: list[LevelFigures] = []
    right_without: dict[str, list[bool]] = {}
    with tempfile.TemporaryDirectory() as folder, stoppable() as stop:
        reader = PooledVectors(
            LayeredModel(start, repeatable_encoder(), threads=parameters.threads), Path(folder), record, stop
        )
        for level, (threshold, redact) in levels.items():
            shown = _redacted(taught, redact)
            vectors = reader.read(shown)
            heads: dict[str, HeadFigures] = {}
            for head, own in asked.items():
                answers: dict[int, str] = {}
                for fold in range(folds):
                    learned = [at for at in own if place[groups[at]] != fold]
                    held = [at for at in own if place[groups[at]] == fold]
                    problem = HeadProblem(head, labels[head], [shown[at] for at in learned], vectors[learned])
                    made = learned_head(problem, deployed[head], parameters, record, stop)
                    answers |= zip(held, problem.answers(made, vectors[held]), strict=True)
                    done += 1
                    progress(done, total)
                wanted = {at: getattr(taught[at], head) for at in own}
                right = [answers[at] == wanted[at] for at in own]
                parts = [[at for at in own if place[groups[at]] == fold] for fold in range(folds)]
                scores = tuple(
                    macro_f1([wanted[at] for at in part], [answers[at] for at in part]) for part in parts if part
                )
                without = right_without.setdefault(head, right)
                change, low, high = _change([groups[at] for at in own], right, without)
                heads[head] = HeadFigures(
                    folds=scores, mean=mean(scores), change=change, low=low, high=high,
                    accuracy=accuracy(list(wanted.values()), [answers[at] for at in own]),
                )  # fmt: skip
            masked = _masked_share(taught, shown)
            found.append(LevelFigures(level=level, threshold=threshold, masked=masked, heads=heads))
    return PrivacyReport(
        model=f"{card.name}-{card.version}", rows=len(taught), groups=len(set(groups)), folds=folds, levels=tuple(found)
    )


def fold_of_groups(groups: Sequence[str], folds: int) -> dict[str, int]:
    """Each group is in one fold, the same every time, and folds have about as many rows."""
    sizes = dict.fromkeys(sorted(set(groups), key=lambda one: hashlib.sha256(one.encode()).digest()), 0)
    for group in groups:
        sizes[group] += 1
    rows, place = [0] * folds, dict[str, int]()
    for group in sorted(sizes, key=lambda one: -sizes[one]):
        fold = rows.index(min(rows))
        place[group], rows[fold] = fold, rows[fold] + sizes[group]
    return place


def _redacted(rows: Sequence[TrainingRow], redact: Redact) -> list[LanguageExample]:
    made = []
    for row in rows:
        before = redact(row.before, None) if row.before else row.before
        made.append(msgspec.structs.replace(row, text=redact(row.text, before) or row.text, before=before, tags=None))
    return examples(made)


def _masked_share(rows: Sequence[TrainingRow], shown: Sequence[LanguageExample]) -> float:
    """Words that are not there any more."""
    words = gone = 0
    for row, one in zip(rows, shown, strict=True):
        before, after = row.text.split(), {*one.text.split()}
        words += len(before)
        gone += sum(word not in after for word in before)
    return gone / words if words else 0.0


def _change(
    groups: Sequence[str], right: Sequence[bool], without: Sequence[bool]
) -> tuple[float, float | None, float | None]:
    rows = [(float(now) - float(then), 1.0) for now, then in zip(right, without, strict=True)]
    found = PairedCalls.of(groups, rows).difference(lambda totals: quotient(totals[..., 0], totals[..., 1]), TAIL)
    return found.value, *((found.low, found.high) if found.known else (None, None))
