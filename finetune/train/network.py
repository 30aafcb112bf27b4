"""The network: one small encoder, a head for each thing to be told from it. Needs the extra `finetune`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from finetune.train.encoders import PretrainedEncoder

NEW_BIAS = -4.0
"""Of a label that is new, below the others': it must be learned before it is answered."""
READ = 3
"""Layers that token heads read, evenly apart: words and grammar stand lower in the encoder than meaning."""


class LastLayerTokenHead(nn.Linear):  # type: ignore[misc]
    """A token head that reads only the encoder's answer: enough to make the encoder care about values."""

    def forward(self, layers: Tensor, attention_mask: Tensor) -> Tensor:
        return super().forward(layers[..., -self.in_features :])


class NeighbourTokenHead(nn.Module):  # type: ignore[misc]
    """A token head that looks at two tokens to either side: where a value ends shows in what comes next."""

    def __init__(self, width: int, labels: int, inner: int = 256) -> None:
        super().__init__()
        self.narrow = nn.Linear(width, inner)
        self.near = nn.Linear(3 * inner, inner)
        self.far = nn.Linear(3 * inner, inner)
        self.answer = nn.Linear(inner, labels)
        self.dropout = nn.Dropout(0.1)

    def forward(self, layers: Tensor, attention_mask: Tensor) -> Tensor:
        weight = attention_mask.unsqueeze(-1).to(layers.dtype)
        tokens = nn.functional.gelu(self.narrow(layers)) * weight  # padding must not be seen from the last word
        tokens = nn.functional.gelu(self.near(_around(tokens))) * weight
        tokens = tokens + nn.functional.gelu(self.far(_around(tokens)))
        return self.answer(self.dropout(tokens))


def _around(tokens: Tensor) -> Tensor:
    """Each token with the one before and the one after."""
    wide = nn.functional.pad(tokens, (0, 0, 1, 1))
    return torch.cat([wide[:, :-2], tokens, wide[:, 2:]], dim=-1)


class Network(nn.Module):  # type: ignore[misc]
    """Sentence heads read the mean of the tokens, token heads every token of several layers."""

    def __init__(
        self,
        encoder: PretrainedEncoder,
        sentence_heads: dict[str, int],
        token_heads: dict[str, int],
        *,
        trained_layers: int | None = None,
        dropout: float = 0.1,
    ) -> None:
        """`trained_layers`: so many from the top, a third when nothing is said."""
        super().__init__()
        self.encoder, self.tokenizer = encoder.model, encoder.tokenizer
        # Thirty thousand words keep what they meant: we see a tenth of them, and the rest must not drift away.
        # Lower layers know grammar already; leaving them alone saves a third of the time.
        layers = self.encoder.encoder.layer
        trained = len(layers) // 3 if trained_layers is None else trained_layers
        self.read_layers = [len(layers) * part // READ for part in range(1, READ + 1)]
        self.kept = nn.ModuleList([self.encoder.embeddings, *layers[: len(layers) - trained]])
        self.kept.requires_grad_(False)
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(dropout)
        self.sentence_heads = nn.ModuleDict({name: nn.Linear(width, size) for name, size in sentence_heads.items()})
        self.token_heads = nn.ModuleDict({name: LastLayerTokenHead(width, size) for name, size in token_heads.items()})

    def train(self, mode: bool = True) -> Network:
        """What is kept as it is also answers as it does, without dropout."""
        super().train(mode)
        self.kept.eval()
        return self

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Every token in the layers that token heads read, and the sentence: the mean of the last layer's tokens."""
        answer = self.encoder(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True)
        tokens = answer.last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(tokens.dtype)
        layers = torch.cat([answer.hidden_states[layer] for layer in self.read_layers], dim=-1)
        return layers, (tokens * weight).sum(1) / weight.sum(1)

    def forward(self, head: str, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        layers, sentence = self.encode(input_ids, attention_mask)
        if head in self.token_heads:
            return self.token_heads[head](self.dropout(layers), attention_mask)
        return self.sentence_heads[head](self.dropout(sentence))


class ExportedNetwork(nn.Module):  # type: ignore[misc]
    """What is exported: one pass, every head that ships, and the sentence vector that few-shot intents compare."""

    def __init__(self, network: Network, heads: list[str]) -> None:
        super().__init__()
        self.network = network
        self.heads = heads

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        layers, sentence = self.network.encode(input_ids, attention_mask)
        answers = []
        for head in self.heads:
            if head in self.network.token_heads:
                answers.append(self.network.token_heads[head](layers, attention_mask))
            else:
                answers.append(self.network.sentence_heads[head](sentence))
        return (*answers, nn.functional.normalize(sentence, dim=-1))


def grown_linear(linear: nn.Linear, size: int) -> nn.Linear:
    """With so many outputs; those it has stay as they are."""
    if size == linear.out_features:
        return linear
    wider = nn.Linear(linear.in_features, size)
    with torch.no_grad():
        wider.weight.zero_()
        wider.weight[: linear.out_features] = linear.weight
        wider.bias.fill_(float(linear.bias.min()) + NEW_BIAS)
        wider.bias[: linear.out_features] = linear.bias
    return wider
