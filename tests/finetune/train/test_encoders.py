"""Encoders read from ONNX: needs what `make bench` installs."""

from __future__ import annotations

import json
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from nlp.inference.models.token_encoder import DEFAULT
from tenor.errors import BadInput, Unavailable

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "onnx")), reason="training is not installed"
)


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    """A folder with a small encoder in the form of the Maven artifacts."""
    import torch
    from transformers import BertConfig, BertModel

    from finetune.train.encoders import ARTIFACTS, VERSION

    class Exported(BertModel):  # type: ignore[misc]
        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            return super().forward(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    torch.manual_seed(1)
    config = BertConfig(vocab_size=30522, hidden_size=64, num_hidden_layers=3, num_attention_heads=2,
                        intermediate_size=128, max_position_embeddings=64, attn_implementation="eager")  # fmt: skip
    network = Exported(config, add_pooling_layer=False).eval()
    for weights in network.parameters():  # all different, or the exporter stores equal ones once
        torch.nn.init.normal_(weights, std=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (torch.ones(1, 4, dtype=torch.int64), torch.ones(1, 4, dtype=torch.int64)),
            str(tmp_path / "small.onnx"),
            input_names=["input_ids", "attention_mask"],
            output_names=["last_hidden_state"],
            dynamic_axes={name: {0: "b", 1: "l"} for name in ("input_ids", "attention_mask", "last_hidden_state")},
            opset_version=17,
            dynamo=False,
        )
    with zipfile.ZipFile(tmp_path / f"{ARTIFACTS['bge-small']}-{VERSION}.jar", "w") as jar:
        jar.write(tmp_path / "small.onnx", "small.onnx")
        jar.write(DEFAULT / "tokenizer.json", "small-tokenizer.json")
    return tmp_path


def test_an_encoder_read_from_onnx_answers_like_the_file(artifacts: Path) -> None:
    import numpy as np
    import onnxruntime
    import torch

    from finetune.train.encoders import load_encoder

    encoder = load_encoder("bge-small", artifacts)
    assert json.loads(encoder.tokenizer)["model"]["type"] == "WordPiece"
    assert encoder.model.config.num_hidden_layers == 3
    ids = np.array([[101, 2073, 2064, 102], [101, 7592, 102, 0]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 1, 0]])
    session = onnxruntime.InferenceSession(str(artifacts / "small.onnx"), providers=["CPUExecutionProvider"])
    [theirs] = session.run(None, {"input_ids": ids, "attention_mask": mask})
    with torch.no_grad():
        ours = encoder.model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
    assert np.abs(theirs - ours.last_hidden_state.numpy())[mask == 1].max() < 1e-4


def test_an_encoder_that_was_not_fetched_is_told_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    from finetune.train.encoders import load_encoder

    with pytest.raises(Unavailable) as caught:
        load_encoder("e5-small", tmp_path)
    assert "mvn dependency:copy" in caught.value.hint


def test_a_file_that_is_no_artifact_is_refused(tmp_path: Path) -> None:
    from finetune.train.encoders import ARTIFACTS, VERSION, load_encoder

    (tmp_path / f"{ARTIFACTS['e5-small']}-{VERSION}.jar").write_bytes(b"not a jar")
    with pytest.raises(BadInput):
        load_encoder("e5-small", tmp_path)
