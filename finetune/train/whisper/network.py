"""Whisper as a torch module whose parameters have CTranslate2's names and shapes, so that reading and writing a
`model.bin` is no translation. Needs the extra `finetune`.

Windows of any length up to 30 s are taken, as the server decodes them: a shorter one sees the first positions only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from finetune.train.whisper.model_file import Array, ModelFile
from tenor.errors import BadInput

_FIXED = "encoder.position_encodings.encodings"
"""Sines, not learned."""


class WhisperNetwork(nn.Module):  # type: ignore[misc]
    def __init__(self, model: ModelFile) -> None:
        super().__init__()
        if model.specification != "WhisperSpec":
            raise BadInput(f"the model is a {model.specification}, not a Whisper model", "name another folder")
        if any(value.dtype == np.int8 and value.ndim for value in model.variables.values()):
            raise BadInput(
                "the model's weights are int8, which cannot be trained",
                "name its float16 weights with --set model=FOLDER; --set model= starts from the packaged ones",
            )
        self.encoder = _Encoder(model)
        self.decoder = _Decoder(model)
        values = {name: torch.from_numpy(value.astype(np.float32)) for name, value in _weights(model)}
        self.load_state_dict(values)
        self.get_parameter(_FIXED).requires_grad_(False)

    def forward(self, features: Tensor, tokens: Tensor) -> Tensor:
        """Logits of the next token at each place. `features` is batch x bands x frames."""
        logits: Tensor = self.decoder(tokens, self.encoder(features))
        return logits

    def values(self) -> dict[str, Array]:
        """The weights, by CTranslate2's names."""
        return {name.replace(".", "/"): value.numpy() for name, value in self.state_dict().items()}


class _Norm(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.beta = nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        return nn.functional.layer_norm(states, self.gamma.shape, self.gamma, self.beta)


class _SelfAttention(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.layer_norm = _Norm(width)
        self.linear_0 = nn.Linear(width, 3 * width)
        self.linear_1 = nn.Linear(width, width)
        self.heads = heads

    def forward(self, states: Tensor, causal: bool) -> Tensor:
        query, key, value = self.linear_0(self.layer_norm(states)).chunk(3, dim=-1)
        return states + self.linear_1(_attend(query, key, value, self.heads, causal))


class _CrossAttention(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.layer_norm = _Norm(width)
        self.linear_0 = nn.Linear(width, width)
        self.linear_1 = nn.Linear(width, 2 * width)
        self.linear_2 = nn.Linear(width, width)
        self.heads = heads

    def forward(self, states: Tensor, sound: Tensor) -> Tensor:
        query = self.linear_0(self.layer_norm(states))
        key, value = self.linear_1(sound).chunk(2, dim=-1)
        return states + self.linear_2(_attend(query, key, value, self.heads, False))


class _FeedForward(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layer_norm = _Norm(width)
        self.linear_0 = nn.Linear(width, 4 * width)
        self.linear_1 = nn.Linear(4 * width, width)

    def forward(self, states: Tensor) -> Tensor:
        return states + self.linear_1(gelu(self.linear_0(self.layer_norm(states))))


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, *, decoder: bool) -> None:
        super().__init__()
        self.self_attention = _SelfAttention(width, heads)
        self.attention = _CrossAttention(width, heads) if decoder else None
        self.ffn = _FeedForward(width)

    def forward(self, states: Tensor, sound: Tensor | None = None) -> Tensor:
        states = self.self_attention(states, causal=self.attention is not None)
        if self.attention is not None:
            states = self.attention(states, sound)
        after: Tensor = self.ffn(states)
        return after


class _Positions(nn.Module):  # type: ignore[misc]
    def __init__(self, count: int, width: int) -> None:
        super().__init__()
        self.encodings = nn.Parameter(torch.zeros(count, width))


class _Stack(nn.Module):  # type: ignore[misc]
    """What both halves have: positions, numbered layers, and a norm at the end."""

    def __init__(self, model: ModelFile, half: str) -> None:
        super().__init__()
        positions = model.variables[f"{half}/position_encodings/encodings"]
        heads = int(model.variables[f"{half}/num_heads"])
        self.position_encodings = _Positions(*positions.shape)
        self.depth = sum(
            name.startswith(f"{half}/layer_") and name.endswith("/ffn/linear_0/weight") for name in model.variables
        )
        for number in range(self.depth):
            self.add_module(f"layer_{number}", _Layer(positions.shape[1], heads, decoder=half == "decoder"))
        self.layer_norm = _Norm(positions.shape[1])

    def through(self, states: Tensor, sound: Tensor | None = None) -> Tensor:
        states = states + self.position_encodings.encodings[: states.shape[1]]
        for number in range(self.depth):
            states = self.get_submodule(f"layer_{number}")(states, sound)
        after: Tensor = self.layer_norm(states)
        return after


class _Encoder(_Stack):
    def __init__(self, model: ModelFile) -> None:
        super().__init__(model, "encoder")
        width, bands, reach = model.variables["encoder/conv1/weight"].shape
        self.conv1 = nn.Conv1d(bands, width, reach, padding=1)
        self.conv2 = nn.Conv1d(width, width, reach, stride=2, padding=1)

    def forward(self, features: Tensor) -> Tensor:
        return self.through(gelu(self.conv2(gelu(self.conv1(features)))).transpose(1, 2))


class _Decoder(_Stack):
    def __init__(self, model: ModelFile) -> None:
        super().__init__(model, "decoder")
        self.embeddings = nn.Embedding(*model.variables["decoder/embeddings/weight"].shape)

    def forward(self, tokens: Tensor, sound: Tensor) -> Tensor:
        states = self.through(self.embeddings(tokens), sound)
        return states @ self.embeddings.weight.T  # the embeddings are the output's weights too


def _attend(query: Tensor, key: Tensor, value: Tensor, heads: int, causal: bool) -> Tensor:
    split = [part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in (query, key, value)]
    return scaled_dot_product_attention(*split, is_causal=causal).transpose(1, 2).flatten(2)


def _weights(model: ModelFile) -> Iterator[tuple[str, Array]]:
    """Everything that is not a number of the specification."""
    for name, value in model.variables.items():
        if value.ndim:
            yield name.replace("/", "."), value
