"""What the language model learns of sentences that it is told less about: needs what `make train-test` installs."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from random import Random
from typing import Any

import pytest

pytestmark = [
    pytest.mark.train,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("torch", "transformers")), reason="training is not installed"
    ),
]
WIDTH = 16


@pytest.fixture
def example() -> Any:
    """An agent's sentence with the one before it."""
    import torch

    from finetune.train.language_trainer import EncodedExample, EncodedForm
    from nlp.inference.models.layered_model import AGENT

    torch.manual_seed(1)
    form = EncodedForm(torch.randn(4, WIDTH), {})
    return EncodedExample((form,), AGENT, torch.randn(3, WIDTH), {"intent": torch.tensor([0.0, 1.0])}, 1.0)


@pytest.fixture
def network() -> Any:
    """One narrow layer, for which it matters who speaks."""
    import torch
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertLayer

    from finetune.train.language_layers import LanguageLayers

    torch.manual_seed(3)
    config = BertConfig(
        hidden_size=WIDTH, num_attention_heads=2, intermediate_size=32, attn_implementation="eager",
        attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0,
    )  # fmt: skip
    network = LanguageLayers([BertLayer(config)], WIDTH, {"intent": 2}, {}, dropout=0.0)
    torch.nn.init.normal_(network.segments.weight)
    return network


def test_an_answer_to_less_is_drawn_to_the_answer_to_all(network: Any, example: Any) -> None:
    import torch

    from finetune.train.language_trainer import DrawnExample, padded, summed_loss
    from nlp.inference.models.layered_model import NOBODY

    told = DrawnExample(example.forms[0], example.segment, example.before, example)
    untold = DrawnExample(example.forms[0], NOBODY, None, example)
    known, guessed = (network(*padded([one]))["intent"] for one in (told, untold))
    apart = -(known.softmax(-1) * guessed.log_softmax(-1)).sum().detach()
    alone, together = (summed_loss(network, [told, untold], {}, agreement) for agreement in (0.0, 0.5))
    torch.testing.assert_close(together - alone, 0.5 * apart)
    assert network.training
    assert summed_loss(network, [told], {}, 0.5) == summed_loss(network, [told], {})


def test_what_nobody_knows_the_speaker_of_is_read_as_anybodys(example: Any) -> None:
    """Otherwise nobody would mean a public set, and its way to label."""
    from finetune.train.language_trainer import LanguageOptions, drawn_example
    from nlp.inference.models.layered_model import AGENT, CALLER, NOBODY

    unknown = replace(example, segment=NOBODY)
    random = Random(5)
    drawn = [drawn_example(unknown, random, LanguageOptions(anybody=0.6)).segment for _ in range(300)]
    assert min(drawn.count(segment) for segment in (NOBODY, CALLER, AGENT)) > 60
    assert {drawn_example(unknown, random, LanguageOptions()).segment for _ in range(300)} == {NOBODY}
