"""The model card: what a model is, what it learned from, what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from finetune.corpus.datasets import DatasetSource
from finetune.evaluate.report import Scores
from nlp.inference.models.token_encoder import EncoderCard
from tenor.model_store import ModelCard

_TEXT = """# {name} {version}

Upper layers and three heads on a shared encoder:

- sentiment: {sentiments}
- intent: the {intents} of `tenor/taxonomy/intents.yaml`, and `unknown`
- slots: {slots}

English, spoken style; {size:.1f} MB, int8, for onnxruntime on a CPU, and {weights:.1f} MB of the same weights in half
precision (`weights.npz`), to go on training from. Made by `python -m finetune language`; docs/language.md says how to
make it again and how to use it. It answers alike on processors with and without the instructions for 8-bit networks
(`finetune/export/saturation.py`).

It reads the states of `{encoder}` (see its card), so it works with exactly that encoder. It may be told who speaks and
the sentence before; what is not told is not needed. The layers began as those of {origin} (MIT) that the encoder does
not have; the weights here are under Apache-2.0.

## What it learned from

| set | licence |
|---|---|
{sources}

MELD, SST and ATIS were not trained on; the sentences of `nlp/evaluation` were taken out of every set.

## What was measured

In percent, as shipped and in full precision. MELD is measured and not trained on. "own" are the frozen sentences of
`nlp/evaluation`; "added" are seven intents of HWU64 given by ten examples each, without training.

| figure | int8 | fp32 |
|---|---|---|
{figures}

## What it cannot do

It hears a sentence and the one before it: irony that needs more is lost, and so is the tone of voice. Places,
products and companies are learned from lists and do not reach far beyond them. It does not know other languages;
`nlp/inference/language_id.py` says so for the clear cases. The sentences of calls that it learned from were written for
this project (`finetune/data/calls/README.md` names their industries), not recorded: try it on calls of your own first.
"""

_REDACTION = """
## The redaction head

`redaction.onnx` ({size:.0f} kB) finds names of people and places, for taking them out (docs/privacy.md). It reads the
first three layers of the encoder, whose weights it does not hold itself but refers to inside `model.onnx`; so it
belongs to exactly this encoder, and is no part of any language model. Made by `python -m finetune redaction`.

| it learned from | licence |
|---|---|
{sources}
| Cities of the United States, GeoNames (`dialog/values/place/data/GEONAMES.txt`) | CC BY 4.0 |

Harper Valley's calls and GoEmotions were read with other names put in.

Measured in percent of words, on our sentence patterns filled with names and places that it never met:

| figure | |
|---|---|
{figures}

It is made to miss little: dishes, brands and rare words are now and then taken for a name.
"""


def with_redaction(text: str, sources: Sequence[DatasetSource], figures: Scores, graph: Path) -> str:
    """The card with what is to be said of the redaction head, in place of what was said before."""
    section = _REDACTION.format(
        size=graph.stat().st_size / 1e3,
        sources="\n".join(f"| {source.title} | {source.licence} |" for source in sources),
        figures="\n".join(f"| {name} | {100 * value:.1f} |" for name, value in figures.items()),
    )
    return text.partition("\n## The redaction head")[0] + section


def written_card(
    card: ModelCard, sources: Sequence[DatasetSource], small: Scores, full: Scores, folder: Path, encoder: EncoderCard
) -> str:
    slots = [tag[2:] for tag in card.heads["slots"] if tag.startswith("B-")]
    return _TEXT.format(
        name=card.name,
        version=card.version,
        sentiments=", ".join(card.heads["sentiment"]),
        intents=len(card.heads["intent"]) - 1,
        slots=", ".join(slots),
        size=((folder / "model.onnx").stat().st_size + (folder / "heads.npz").stat().st_size) / 1e6,
        weights=(folder / "weights.npz").stat().st_size / 1e6,
        encoder=f"{encoder.name}-{encoder.version}",
        origin=encoder.encoder,
        sources="\n".join(f"| {source.title} | {source.licence} |" for source in sources),
        figures="\n".join(f"| {name} | {100 * value:.1f} | {100 * full[name]:.1f} |" for name, value in small.items()),
    )
