"""The language model's part of the network: upper layers and heads on the shared encoder's states. Needs `finetune`.

    states of the text, states of the sentence before --> + segment --> upper layers --> pooled: mean and first mark
                                                                                    --> token heads

A segment says which tokens are what was said, by whom, and which are the sentence before. The encoder itself is told
nothing, so a text that several models read is encoded once. Sentence heads read the pooled vector; they are applied
outside of the exported graph (`nlp/inference/models/layered_model.py`), so that a new head needs no new graph.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from finetune.train.encoders import PretrainedEncoder
from finetune.train.network import NeighbourTokenHead, grown_linear
from nlp.inference.models.layered_model import BEFORE, SEGMENTS

INNER = 128
"""Width of a token head."""


class LanguageLayers(nn.Module):  # type: ignore[misc]
    def __init__(
        self, layers: Sequence[nn.Module], width: int, sentence_heads: Mapping[str, int],
        token_heads: Mapping[str, int], *, dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(layers)
        self.segments = nn.Embedding(SEGMENTS, width)
        nn.init.zeros_(self.segments.weight)  # it starts as what was pretrained
        self.dropout = nn.Dropout(dropout)
        self.sentence_heads = nn.ModuleDict({name: nn.Linear(2 * width, size) for name, size in sentence_heads.items()})
        self.token_heads = nn.ModuleDict(
            {name: NeighbourTokenHead(2 * width, size, INNER) for name, size in token_heads.items()}
        )

    @classmethod
    def from_encoder(
        cls, encoder: PretrainedEncoder, first: int, layers: int, sentence_heads: Mapping[str, int],
        token_heads: Mapping[str, int], *, dropout: float = 0.1,
    ) -> LanguageLayers:  # fmt: skip
        """Starts from the layers of the encoder that follow its lower `first`."""
        copied = copy.deepcopy(encoder.model.encoder.layer[first : first + layers])
        network = cls(list(copied), encoder.model.config.hidden_size, sentence_heads, token_heads, dropout=dropout)
        network.requires_grad_(True)
        return network

    def read(self, states: Tensor, attention_mask: Tensor, segments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The pooled vector, every token for the token heads, and which tokens are the text's own."""
        unseen = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -1e4
        tokens = states + self.segments(segments)
        for layer in self.layers:
            answer = layer(tokens, unseen)
            tokens = answer[0] if isinstance(answer, tuple) else answer
        own = attention_mask * (segments != BEFORE).to(attention_mask.dtype)
        weight = own.unsqueeze(-1).to(states.dtype)
        mean = (tokens * weight).sum(1) / weight.sum(1)
        return torch.cat([mean, tokens[:, 0]], dim=-1), torch.cat([states, tokens], dim=-1), own

    def forward(self, states: Tensor, attention_mask: Tensor, segments: Tensor) -> dict[str, Tensor]:
        """Logits of every head."""
        pooled, tokens, own = self.read(states, attention_mask, segments)
        answers = {name: head(self.dropout(pooled)) for name, head in self.sentence_heads.items()}
        return answers | {name: head(self.dropout(tokens), own) for name, head in self.token_heads.items()}


class ExportedLayers(nn.Module):  # type: ignore[misc]
    """What is exported: the pooled vector, and the token heads that ship."""

    def __init__(self, network: LanguageLayers, token_heads: Sequence[str]) -> None:
        super().__init__()
        self.network, self.heads = network, list(token_heads)

    def forward(self, states: Tensor, attention_mask: Tensor, segments: Tensor) -> tuple[Tensor, ...]:
        pooled, tokens, own = self.network.read(states, attention_mask, segments)
        return (pooled, *(self.network.token_heads[name](tokens, own) for name in self.heads))


def grow_heads(network: LanguageLayers, sizes: Mapping[str, int]) -> None:
    """Give every head as many outputs as there are labels; those it has stay as they are."""
    for head, size in sizes.items():
        if head in network.sentence_heads:
            network.sentence_heads[head] = grown_linear(network.sentence_heads[head], size)
        elif head in network.token_heads:
            network.token_heads[head].answer = grown_linear(network.token_heads[head].answer, size)
