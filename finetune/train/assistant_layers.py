"""The assistant's part of the network: upper layers and two heads on the shared encoder's states. Needs `finetune`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from finetune.train.encoders import PretrainedEncoder, empty_layers
from finetune.train.network import grown_linear


class AssistantLayers(nn.Module):  # type: ignore[misc]
    """The intent from the mean of the tokens and the first mark, a slot label for every token."""

    def __init__(
        self, layers: Sequence[nn.Module], width: int, intents: int, labels: int, *, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.dropout = nn.Dropout(dropout)
        self.intent = nn.Linear(2 * width, intents)
        self.near = nn.Linear(3 * width, width)
        self.slots = nn.Linear(width, labels)

    @classmethod
    def from_encoder(
        cls, encoder: PretrainedEncoder, first: int, layers: int, intents: int, labels: int
    ) -> AssistantLayers:
        """Starts from the layers of the encoder that follow its lower `first`."""
        copied = copy.deepcopy(encoder.model.encoder.layer[first : first + layers])
        network = cls(list(copied), encoder.model.config.hidden_size, intents, labels)
        network.requires_grad_(True)
        return network

    @classmethod
    def from_weights(cls, weights: Mapping[str, NDArray[np.float32]]) -> AssistantLayers:
        """Starts from a model that was trained before."""
        network = cls(empty_layers(weights), len(weights["near.bias"]), len(weights["intent.bias"]),
                      len(weights["slots.bias"]))  # fmt: skip
        network.load_state_dict({name: torch.from_numpy(values) for name, values in weights.items()})
        return network

    def grow(self, intents: int, labels: int) -> None:
        """Heads with so many outputs; those they have stay as they are."""
        self.intent, self.slots = grown_linear(self.intent, intents), grown_linear(self.slots, labels)

    def forward(self, states: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Intent logits, slot logits, and the sentence as a vector of length one."""
        unseen = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -1e4
        weight = attention_mask.unsqueeze(-1).to(states.dtype)
        tokens = states
        for layer in self.layers:
            answer = layer(tokens, unseen)
            tokens = answer[0] if isinstance(answer, tuple) else answer
        mean = (tokens * weight).sum(1) / weight.sum(1)
        intent = self.intent(self.dropout(torch.cat([mean, tokens[:, 0]], dim=-1)))
        seen = tokens * weight  # padding must not be seen from the last word
        wide = nn.functional.pad(seen, (0, 0, 1, 1))
        around = torch.cat([wide[:, :-2], seen, wide[:, 2:]], dim=-1)
        slots = self.slots(self.dropout(tokens + nn.functional.gelu(self.near(self.dropout(around)))))
        return intent, slots, nn.functional.normalize(mean, dim=-1)
