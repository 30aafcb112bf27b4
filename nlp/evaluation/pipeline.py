"""The pipeline's measure: does a sentence feel the same when it was recognised as when people wrote it down?

    PIPELINE_SENTIMENT_METRIC = mean(diff(sentiment of the transcript, sentiment of the recognised text))

The difference is taken on the scale negative -1, neutral 0, positive 1, or by the valences of labels of one's own; less
is better. It stands in for the word error
rate, which is reported beside it and is no part of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from whisper_normalizer.english import EnglishTextNormalizer

from nlp.evaluation.agreement import FEWEST_CALLS, ConfusionCounts, Estimate
from nlp.evaluation.alignment import HypothesisWord, ReferenceSentence, align, word_errors
from nlp.evaluation.transcripts import ReferenceCall
from nlp.inference.types import Backend

_MARKS = re.compile(r"[^\w\s']")
METRIC = "PIPELINE_SENTIMENT_METRIC"


@dataclass(frozen=True)
class WordErrors:
    errors: int
    words: int

    @property
    def rate(self) -> float:
        return self.errors / max(1, self.words)


@dataclass(frozen=True)
class ModelJudgement:
    """What one model said of all sentences."""

    model: str
    agreement: ConfusionCounts
    pairs: list[tuple[str, str]]
    """Of each sentence: the label of the transcript, and of the recognised text."""


def hear(
    calls: Sequence[ReferenceCall], words: Sequence[Sequence[HypothesisWord]]
) -> tuple[list[ReferenceSentence], WordErrors]:
    """The sentences with words in them, each with what was recognised of it; and the word error rate."""
    normal = EnglishTextNormalizer()
    errors = count = 0
    for call, heard in zip(calls, words, strict=True):
        align(call.sentences, heard)
        for channel in {sentence.channel for sentence in call.sentences}:
            written = " ".join(one.text for one in _ordered(call.sentences) if one.channel == channel)
            said = " ".join(word.text for word in sorted(heard, key=_start) if word.channel == channel)
            wanted = str(normal(written)).split()
            errors += word_errors(wanted, str(normal(said)).split())
            count += len(wanted)
    return [one for call in calls for one in call.sentences if one.text], WordErrors(errors, count)


def judge(
    backend: Backend, sentences: Sequence[ReferenceSentence], valences: Mapping[str, float], *, bare: bool = False
) -> ModelJudgement:
    """What the model says of both forms of every sentence; `bare`: of their words alone, in lower case. A label without
    a valence is worth nothing."""
    form = _bare if bare else str
    wanted = backend.analyze([form(sentence.text) for sentence in sentences])
    got = backend.analyze([form(sentence.recognised) for sentence in sentences])
    pairs = [(one.sentiment, other.sentiment) for one, other in zip(wanted, got, strict=True)]
    worth = dict.fromkeys((label for pair in pairs for label in pair), 0.0) | dict(valences)
    labels = sorted(worth, key=worth.__getitem__)
    by_call: dict[str, list[tuple[str, str]]] = {}
    for sentence, pair in zip(sentences, pairs, strict=True):
        by_call.setdefault(sentence.call, []).append(pair)
    return ModelJudgement(backend.versions["sentiment"], ConfusionCounts.of(labels, worth, by_call), pairs)


@dataclass(frozen=True)
class Report:
    sentences: Sequence[ReferenceSentence]
    words: WordErrors
    judged: ModelJudgement
    bare: ModelJudgement
    """The same model on bare words: what is left is recognition's doing, not that of capitals and full stops, which
    people who transcribe often leave out."""
    baseline: ModelJudgement | None = None

    @property
    def neutral_share(self) -> float:
        neutral = self.judged.agreement.neutral
        return sum(wanted in neutral for wanted, _ in self.judged.pairs) / len(self.judged.pairs)

    @property
    def warning(self) -> str:
        """What one must know before believing the mean."""
        few = len(self.judged.agreement.counts) < FEWEST_CALLS
        return ("Too few calls for intervals. " if few else "") + (
            f"{self.neutral_share:.0%} of these sentences are neutral. A model that says neutral to everything would"
            " get a perfect mean of 0 and an accuracy of 100 %, so look at the recall of what is not neutral."
        )

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        estimates = self.judged.agreement.estimates()
        document = {
            METRIC: _plain(estimates["mean difference"]),
            "calls": len(self.judged.agreement.counts),
            "sentences": len(self.sentences),
            "not_recognised": self._missed,
            "model": self.judged.model,
            "bare_words": _plain(self._bare_mean),
            "figures": {name: _plain(estimate) for name, estimate in estimates.items()},
            "labels": list(self.judged.agreement.labels),
            "confusion": self.judged.agreement.matrix.astype(int).tolist(),
            "neutral_share": self.neutral_share,
            "word_error_rate": self.words.rate,
            "words": self.words.words,
            "note": self.warning,
        }
        if self.baseline is not None:
            differences = self.judged.agreement.beside(self.baseline.agreement)
            document["baseline"] = {
                "model": self.baseline.model,
                "figures": {name: _plain(one) for name, one in self.baseline.agreement.estimates().items()},
                "difference": {name: _plain(one) for name, one in differences.items()},
            }
        return document

    def lines(self) -> list[str]:
        """What people read."""
        agreement = self.judged.agreement
        estimates = agreement.estimates()
        mean_shift = estimates["mean shift"]
        lines = [
            f"{len(agreement.counts)} calls, {len(self.sentences):,} sentences ({self._missed} not recognised at all),"
            f" model {self.judged.model}",
            f"word error rate {self.words.rate:.1%} of {self.words.words:,} words; not part of the measure",
            "",
            f"{METRIC} {_number(estimates['mean difference'])}   mean distance on the scale -1, 0, 1; 0 is perfect",
            f"  on bare words           {_number(self._bare_mean)}   both sides in lower case, without punctuation",
            f"mean shift                {_number(mean_shift, sign=True)}   above 0: better than it was meant",
            f"accuracy                  {_share(estimates['accuracy'])}",
            f"non-neutral recall        {_share(estimates['non-neutral recall'])}",
            f"non-neutral precision     {_share(estimates['non-neutral precision'])}",
            "",
            f"{'':10}{'precision':>26}{'recall':>26}{'F1':>26}{'sentences':>11}",
        ]
        wanted = agreement.matrix.sum(axis=1)
        for label, count in zip(agreement.labels, wanted, strict=True):
            cells = "".join(f"{_share(estimates[f'{name} {label}']):>26}" for name in ("precision", "recall", "F1"))
            lines.append(f"{label:10}{cells}{count:11,.0f}")
        lines += ["", *self._confusion(), "", self.warning]
        return lines + (["", *self._difference()] if self.baseline is not None else [])

    @property
    def _bare_mean(self) -> Estimate:
        return self.bare.agreement.estimates()["mean difference"]

    @property
    def _missed(self) -> int:
        return sum(not sentence.heard for sentence in self.sentences)

    def _confusion(self) -> list[str]:
        agreement = self.judged.agreement
        head = "".join(f"{label:>10}" for label in agreement.labels)
        rows = [
            f"{label:>10}" + "".join(f"{count:10,.0f}" for count in row)
            for label, row in zip(agreement.labels, agreement.matrix, strict=True)
        ]
        return ["rows: sentiment of the transcript, columns: of the recognised text", f"{'':10}{head}", *rows]

    def _difference(self) -> list[str]:
        assert self.baseline is not None
        ours, theirs = self.judged.agreement.estimates(), self.baseline.agreement.estimates()
        between = self.judged.agreement.beside(self.baseline.agreement)
        rows = [
            f"{name:24}{_number(theirs[name]):>26}{_number(ours[name]):>26}{_number(one, sign=True):>28}"
            for name, one in between.items()
            if name in ("mean difference", "accuracy", "macro-F1", "non-neutral recall", "non-neutral precision")
        ]
        head = f"{'':24}{self.baseline.model[-24:]:>26}{self.judged.model[-24:]:>26}{'difference':>28}"
        mean = between["mean difference"]
        if math.isnan(mean.low):
            return [head, *rows, f"fewer than {FEWEST_CALLS} calls: whether that is certain cannot be told"]
        verdict = "no difference that is certain" if mean.low <= 0 <= mean.high else (
            "better than the baseline" if mean.high < 0 else "worse than the baseline"
        )  # fmt: skip
        return [head, *rows, f"by the mean difference: {verdict}"]


def _number(estimate: Estimate, *, sign: bool = False) -> str:
    form = "+.3f" if sign else ".3f"
    return _with_interval(*(f"{value:{form}}" for value in (estimate.value, estimate.low, estimate.high)))


def _share(estimate: Estimate) -> str:
    value, low, high = (f"{100 * value:.1f}" for value in (estimate.value, estimate.low, estimate.high))
    return _with_interval(f"{value} %", low, high)


def _with_interval(value: str, low: str, high: str) -> str:
    if "nan" in value:
        return "-"
    return value if "nan" in low else f"{value} ({low} to {high})"


def _plain(estimate: Estimate) -> dict[str, float | None]:
    """JSON has no word for what is not a number."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(estimate).items()}


def _bare(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text.lower()).split())


def _ordered(sentences: Sequence[ReferenceSentence]) -> list[ReferenceSentence]:
    return sorted(sentences, key=lambda sentence: sentence.start_ms)


def _start(word: HypothesisWord) -> int:
    return word.start_ms
