"""Training of the language model's layers on states that are computed once. Needs the extra `finetune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import torch
from torch import Tensor, nn

from finetune.corpus.examples import LanguageExample, spoken
from finetune.train.batches import IGNORED, token_targets
from finetune.train.language_layers import LanguageLayers
from finetune.train.loop import Figures, LoopOptions, RunPlace, train
from finetune.train.state_cache import StateCache
from nlp.inference.models.layered_model import AGENT, BEFORE, CALLER, LONGEST_BEFORE, NOBODY, ROLES
from nlp.inference.models.onnx_model import Floats
from nlp.inference.models.token_encoder import EncodedText

ALSO = 0.25
"""Share of the target that intents which would do as well have together."""

Labels = Mapping[str, Sequence[str]]
"""Names in the order of each head's outputs."""


@dataclass(frozen=True, slots=True)
class LanguageOptions:
    """How to train, beside the loop. The same options on the same examples give the same model."""

    loop: LoopOptions = field(default_factory=LoopOptions)
    smoothing: float = 0.05
    unpunctuated: float = 0.4
    """Share of sentences that are read without punctuation, as some recognisers write;"""
    nobody: float = 0.35
    """share of those with a role that are read without;"""
    nothing_before: float = 0.35
    """share of those with a sentence before that are read without."""
    anybody: float = 0.0
    """Share of those of which nobody knows who spoke that are read as a caller's or an agent's."""
    agreement: float = 0.0
    """How much the answer counts that it gives when all is told, where something was not."""
    head_weights: Mapping[str, float] | None = None
    """How much a mistake of a head counts; 1 for all others."""


@dataclass(frozen=True, slots=True)
class EncodedForm:
    """A sentence as it is read in one spelling."""

    states: Tensor
    """In half precision, to fit in memory."""
    targets: Mapping[str, Tensor]
    """Of token heads, a label for each token."""


@dataclass(frozen=True, slots=True)
class EncodedExample:
    forms: tuple[EncodedForm, ...]
    """With punctuation and, if that differs, without."""
    segment: int
    before: Tensor | None
    targets: Mapping[str, Tensor]
    """Of sentence heads, a share for each label."""
    weight: float


@dataclass(frozen=True, slots=True)
class DrawnExample:
    """What is read of an example in one epoch."""

    form: EncodedForm
    segment: int
    before: Tensor | None
    example: EncodedExample

    def __len__(self) -> int:
        return len(self.form.states) + (0 if self.before is None else len(self.before))

    @property
    def all_told(self) -> bool:
        return self.segment == self.example.segment and self.before is self.example.before


def encoded_examples(
    rows: Sequence[LanguageExample], labels: Labels, states: StateCache, *, smoothing: float = 0.0
) -> list[EncodedExample]:
    """Every sentence in each of its forms goes through the encoder once, however often it is trained on."""
    kept = states.encode(text for row in rows for text in (row.text, spoken(row.text), row.before or ""))
    return [_encoded(row, labels, kept, smoothing) for row in rows]


def _encoded(row: LanguageExample, labels: Labels, kept: Mapping[str, EncodedText], smoothing: float) -> EncodedExample:
    targets = {}
    for head, names in row.labels.items():
        shares = torch.full((len(labels[head]),), smoothing / len(labels[head]))
        known = [labels[head].index(name) for name in names if name in labels[head]]
        main, others = known[:1], known[1:]
        shares[main] += (1 - smoothing) * (1 - (ALSO if others else 0))
        for at in others:
            shares[at] += (1 - smoothing) * ALSO / len(others)
        targets[head] = shares
    forms = []
    for text in dict.fromkeys((row.text, spoken(row.text))):
        if not text:
            continue
        one = kept[text]
        of_tokens = {
            head: torch.tensor(token_targets(one.offsets, spans, {name: at for at, name in enumerate(labels[head])}))
            for head, spans in row.spans.items()
        }
        forms.append(EncodedForm(torch.from_numpy(one.states), of_tokens))
    before = torch.from_numpy(kept[row.before].states[-LONGEST_BEFORE:]) if row.before else None
    return EncodedExample(tuple(forms), ROLES.get(row.role, NOBODY), before, targets, row.weight)


def remembering(
    rows: Sequence[EncodedExample], answers: Sequence[Mapping[str, Floats]], labels: Labels, *, replace_labels: bool
) -> list[EncodedExample]:
    """With what a model answered before, for every head that a row has no label for, or for all: so it keeps saying
    what it said. Labels that it lacked were as unlikely as can be."""
    made = []
    for row, answer in zip(rows, answers, strict=True):
        earlier = {
            head: torch.cat([torch.from_numpy(likely), torch.zeros(len(labels[head]) - len(likely))])
            for head, likely in answer.items()
        }
        targets = {**row.targets, **earlier} if replace_labels else {**earlier, **row.targets}
        made.append(replace(row, targets=targets))
    return made


def train_language(
    network: LanguageLayers, rows: Sequence[EncodedExample], options: LanguageOptions, place: RunPlace | None = None,
    validation: Sequence[EncodedExample] = (),
) -> None:  # fmt: skip
    weights = options.head_weights or {}

    def draw(epoch: int) -> list[DrawnExample]:
        random = Random(f"{options.loop.seed}:{epoch}:forms")
        return [drawn_example(row, random, options) for row in rows]

    def validate() -> Figures:
        return head_accuracy(network, validation)

    train(
        network,
        draw,
        len,
        lambda batch: summed_loss(network, batch, weights, options.agreement),
        options.loop,
        place,
        validate if validation else None,
    )


def drawn_example(row: EncodedExample, random: Random, options: LanguageOptions) -> DrawnExample:
    form = row.forms[-1] if random.random() < options.unpunctuated else row.forms[0]
    segment = NOBODY if random.random() < options.nobody else row.segment
    if row.segment == NOBODY and random.random() < options.anybody:
        segment = random.choice((CALLER, AGENT))
    before = None if random.random() < options.nothing_before else row.before
    return DrawnExample(form, segment, before, row)


def _told(form: EncodedForm, row: EncodedExample) -> DrawnExample:
    """With everything that is known of it."""
    return DrawnExample(form, row.segment, row.before, row)


def summed_loss(
    network: LanguageLayers, batch: Sequence[DrawnExample], weights: Mapping[str, float], agreement: float = 0.0
) -> Tensor:
    """Of every row the mistakes of the heads that it has labels for; a token head's is the mean over its tokens."""
    answers = network(*padded(batch))
    total = agreement * _disagreement(network, batch, answers, weights) if agreement else torch.zeros(())
    for head in network.sentence_heads:
        asked = [at for at, row in enumerate(batch) if head in row.example.targets]
        if asked:
            targets = torch.stack([batch[at].example.targets[head] for at in asked])
            likely = nn.functional.log_softmax(answers[head][asked].float(), dim=-1)
            factors = torch.tensor([batch[at].example.weight for at in asked])
            total = total - weights.get(head, 1.0) * ((likely * targets).sum(-1) * factors).sum()
    for head in network.token_heads:
        for at, row in enumerate(batch):
            targets = row.form.targets.get(head)
            if targets is not None:
                logits = answers[head][at, : len(targets)].float()
                loss = nn.functional.cross_entropy(logits, targets, ignore_index=IGNORED, label_smoothing=0.02)
                total = total + weights.get(head, 1.0) * row.example.weight * loss
    return total


def _disagreement(
    network: LanguageLayers, batch: Sequence[DrawnExample], answers: Mapping[str, Tensor], weights: Mapping[str, float]
) -> Tensor:
    """How far the answers to sentences with something untold are from those when it is told."""
    total = torch.zeros(())
    untold = [at for at, row in enumerate(batch) if row.example.segment != NOBODY and not row.all_told]
    if not untold:
        return total
    network.eval()
    with torch.no_grad():
        told = network(*padded([_told(batch[at].form, batch[at].example) for at in untold]))
    network.train()
    for head in network.sentence_heads:
        wanted = nn.functional.softmax(told[head].float(), dim=-1)
        likely = nn.functional.log_softmax(answers[head][untold].float(), dim=-1)
        total = total - weights.get(head, 1.0) * (likely * wanted).sum()
    return total


def padded(batch: Sequence[DrawnExample]) -> tuple[Tensor, Tensor, Tensor]:
    """States, mask and segments of a batch, as `nlp.inference.models.layered_model.together` makes them."""
    length, width = max(map(len, batch)), batch[0].form.states.shape[1]
    states = torch.zeros(len(batch), length, width)
    mask = torch.zeros(len(batch), length, dtype=torch.int64)
    segments = torch.zeros_like(mask)
    for number, row in enumerate(batch):
        own = len(row.form.states)
        states[number, :own] = row.form.states
        segments[number, :own] = row.segment
        if row.before is not None:
            states[number, own : len(row)] = row.before
            segments[number, own : len(row)] = BEFORE
        mask[number, : len(row)] = 1
    return states, mask, segments


def head_accuracy(network: LanguageLayers, rows: Sequence[EncodedExample], *, size: int = 64) -> dict[str, float]:
    """Share of right answers of each sentence head, with everything that is known told."""
    right: dict[str, int] = {}
    asked: dict[str, int] = {}
    drawn = sorted((_told(row.forms[0], row) for row in rows), key=len)
    with torch.no_grad():
        for first in range(0, len(drawn), size):
            batch = drawn[first : first + size]
            answers = network(*padded(batch))
            for head in network.sentence_heads:
                best = answers[head].argmax(-1)
                for at, row in enumerate(batch):
                    if head in row.example.targets:
                        asked[head] = asked.get(head, 0) + 1
                        right[head] = right.get(head, 0) + int(best[at] == row.example.targets[head].argmax())
    return {f"val {head} accuracy": right[head] / asked[head] for head in asked}
