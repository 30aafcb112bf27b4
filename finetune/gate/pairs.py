"""A recogniser and a language model that are both new: alone and together, and which of them earned it.

                     language in force    new language
    speech in force  the baseline         language alone
    new speech       speech alone         both

The paper's test wants both fine-tuned (its metric of the baseline against that of the fine-tuned pipeline). The mixed
pairs say where a difference comes from. Each model must have passed on its own; together they must not be worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from finetune.gate.bootstrap import Difference, spent_level
from finetune.gate.checks import FEWEST_LABELS, LEVEL, SentenceColumns, four_steps, interval_text, quality
from finetune.gate.confusion import confusion_of, figures
from finetune.gate.evidence import Evidence, HeldOutSentence
from finetune.gate.verdict import Check, Confusion, Interval, Outcome, Pictured, Verdict, check_lines, finite


class PairSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the hold-out that has audio and a label, and what the four pairs make of it."""

    id: str
    call: str
    human: str
    base: str
    """What the models in force say,"""
    speech: str
    """with the new recogniser alone,"""
    language: str
    """with the new language model alone,"""
    both: str
    """and with both."""


@dataclass(frozen=True)
class PairEvidence:
    speech: tuple[str, str]
    """Names of the recogniser in force and of the new one,"""
    language: tuple[str, str]
    """and of the language models."""
    sentences: Sequence[PairSentence] = ()
    worth: Mapping[str, float] = field(default_factory=dict)
    attempt: int = 1

    def between(self, candidate: str) -> Evidence:
        """The baseline against one of the other pairs."""
        sentences = [
            HeldOutSentence(
                id=one.id, call=one.call, human=one.human, champion=one.base, candidate=getattr(one, candidate)
            )
            for one in self.sentences
        ]  # fmt: skip
        return Evidence(
            kind="sentiment", champion=" + ".join((self.speech[0], self.language[0])),
            candidate=" + ".join((self.speech[1], self.language[1])), sentences=sentences, worth=self.worth,
            attempt=self.attempt,
        )  # fmt: skip


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """Both or neither: what the gate says of two models that would be promoted together."""

    speech: Verdict
    language: Verdict
    together: tuple[Check, ...]
    confusions: tuple[Confusion, ...] = ()

    @property
    def passed(self) -> bool:
        worse = any(check.outcome == "failed" for check in self.together)
        return self.speech.passed and self.language.passed and not worse

    @property
    def conclusion(self) -> str:
        names = f"{self.speech.candidate} and {self.language.candidate}"
        if self.passed:
            return f"{names} are better and may be promoted together"
        alone = [one.candidate for one in (self.speech, self.language) if not one.passed]
        failed = [check.name for check in self.together if check.outcome == "failed"]
        return f"{names} are not promoted, neither of them: {', '.join([*alone, *failed])}"

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found | {"passed": self.passed, "conclusion": self.conclusion}

    def pictured(self) -> Pictured:
        checks = (*self.speech.checks, *self.language.checks, *self.together)
        return self.conclusion, checks, self.confusions or self.language.confusions, ("in force", "new")

    def lines(self) -> list[str]:
        parts = [self.speech.lines(), self.language.lines(), ["together", "", *check_lines(self.together)]]
        return [*(line for part in parts for line in [*part, ""]), self.conclusion]


def pair_checks(evidence: PairEvidence) -> tuple[Check, ...]:
    """What the pairs say. Where no sentence has both audio and a label, that is told and each model counts alone."""
    if not evidence.sentences:
        text = "no sentence of the hold-out has both audio and people's sentiment: each model counts alone"
        return (Check(name="both", outcome="told", text=text),)
    level = spent_level(evidence.attempt, LEVEL)
    both = evidence.between("both")
    columns = SentenceColumns(both)
    found = columns.calls.difference(columns.distance, level)
    kept = quality(both)
    few = len(evidence.sentences) < FEWEST_LABELS
    worse = found.known and found.low > 0
    outcome: Outcome = "failed" if worse else "passed" if found.known and found.high < 0 and not few else "told"
    text = f"distance {interval_text(found, '+.3f')} on {len(evidence.sentences):,} sentences; below 0 is better"
    text += "; too few labels to be sure" if few else ""
    return (
        Check(
            name="both", outcome=outcome, text=text, value=finite(found.value), low=finite(found.low),
            high=finite(found.high), details=four_steps(both, columns, found),
            intervals=(Interval.of("both together", found, 0.0, above=False),),
        ),
        msgspec.structs.replace(kept, outcome="failed" if kept.outcome == "failed" else "told", missing=0),
        _earned(evidence, level),
        figures(both),
    )  # fmt: skip


def pair_confusion(evidence: PairEvidence) -> tuple[Confusion, ...]:
    return (confusion_of(evidence.between("both")),) if evidence.sentences else ()


def _earned(evidence: PairEvidence, level: float) -> Check:
    """Each of the two in the pipeline while the other stays as it is."""
    alone: dict[str, Difference] = {}
    means: dict[str, float] = {}
    for name in ("speech", "language", "both"):
        columns = SentenceColumns(evidence.between(name))
        alone[name] = columns.calls.difference(columns.distance, level)
        means["base"], means[name] = columns.mean_distances()
    certain = [name for name in ("speech", "language") if alone[name].known and alone[name].high < 0]
    whom = "both of them" if len(certain) == 2 else f"the {certain[0]} model" if certain else "neither for certain"
    width = max(map(len, evidence.speech))
    columns_width = max(8, *map(len, evidence.language)) + 2
    head = "".join(f"{name:>{columns_width}}" for name in evidence.language)
    rows = [
        f"{name:{width}}" + "".join(f"{means[pair]:>{columns_width}.3f}" for pair in pairs)
        for name, pairs in zip(evidence.speech, (("base", "language"), ("speech", "both")), strict=True)
    ]
    told = ", ".join(f"{name} alone {interval_text(alone[name], '+.3f')}" for name in ("speech", "language"))
    return Check(
        name="earned by", outcome="told", text=f"{whom}; {told}", details=(f"{'':{width}}{head}", *rows),
        intervals=tuple(Interval.of(f"{name} alone", alone[name], 0.0, above=False) for name in ("speech", "language")),
    )  # fmt: skip
