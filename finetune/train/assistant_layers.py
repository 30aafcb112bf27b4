"""The assistant's part of the network: upper layers and two heads on the shared encoder's states. Needs `finetune`."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from finetune.train.encoders import PretrainedEncoder


class AssistantLayers(nn.Module):  # type: ignore[misc]
    """The intent from the mean of the tokens and the first mark, a slot label for every token."""

    def __init__(
        self, encoder: PretrainedEncoder, first: int, layers: int, intents: int, labels: int, *, dropout: float = 0.1
    ) -> None:
        """Starts from the layers of the encoder that follow its lower `first`."""
        super().__init__()
        width = encoder.model.config.hidden_size
        self.layers = nn.ModuleList(copy.deepcopy(encoder.model.encoder.layer[first : first + layers]))
        self.layers.requires_grad_(True)
        self.dropout = nn.Dropout(dropout)
        self.intent = nn.Linear(2 * width, intents)
        self.near = nn.Linear(3 * width, width)
        self.slots = nn.Linear(width, labels)

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
