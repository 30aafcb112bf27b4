"""CTC models of NeMo: restored from a `.nemo` file or built, with the tokens that are wanted. Needs NeMo.

A model whose tokens are changed keeps its encoder; what reads the encoder's states begins anew.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from nemo.collections.asr.models import ASRModel, EncDecCTCModel, EncDecCTCModelBPE
from nemo.collections.common.tokenizers.sentencepiece_tokenizer import create_spt_model
from omegaconf import DictConfig, OmegaConf, open_dict

from asr.local.stt.engines.base import RATE
from asr.local.stt.engines.ctc_folder import WORD_START
from tenor.errors import BadInput

Vocabulary = Literal["own", "characters", "bpe"]
_MODULES = "nemo.collections.asr.modules"
_LETTERS = [" ", *string.ascii_lowercase, "'"]
_CONTINUED = "##"
"""Before pieces that go on with a word, in BERT's tokenizers."""


@dataclass(frozen=True, slots=True)
class NewModel:
    """The size of a model that is built."""

    layers: int
    width: int
    heads: int
    subsampling: int
    dropout: float


@dataclass(frozen=True, slots=True)
class TokenChoice:
    vocabulary: Vocabulary
    pieces: int
    """How many, of `bpe`."""
    folder: Path
    """Where a new tokenizer is kept until it is in the model's file."""


def restored(path: Path) -> Any:
    """The model of a `.nemo` file."""
    if not path.is_file():
        raise BadInput(f"there is no file {path}", "model names a .nemo file, as NeMo and NGC have them")
    try:
        model = ASRModel.restore_from(str(path), map_location="cpu")
    except Exception as error:  # a file of others, and NeMo raises whatever comes
        raise BadInput(f"{path} cannot be restored: {type(error).__name__}: {error}") from error
    if not isinstance(model, EncDecCTCModel):
        raise BadInput(f"{path} holds a {type(model).__name__}", "only CTC models can be served, e.g. Conformer-CTC")
    return model


def built(size: NewModel, texts: Sequence[str], choice: TokenChoice) -> Any:
    """A Conformer-CTC that knows nothing yet."""
    config = OmegaConf.create(_config(size))
    return _with_tokens(config, texts, choice, bpe=choice.vocabulary == "bpe")


def with_vocabulary(model: Any, texts: Sequence[str], choice: TokenChoice) -> Any:
    """The same model, or one with its encoder and other tokens."""
    if choice.vocabulary == "own":
        return model
    config = OmegaConf.create(OmegaConf.to_container(model.cfg))
    with open_dict(config):
        for name in ("tokenizer", "labels", "train_ds", "validation_ds", "test_ds", "decoding"):
            config.pop(name, None)
    changed = _with_tokens(config, texts, choice, bpe=choice.vocabulary == "bpe")
    changed.encoder.load_state_dict(model.encoder.state_dict())
    return changed


def tokens_of(model: Any) -> list[str]:
    """As the engine reads them: a word begins with WORD_START, and so does what stands between words."""
    if not isinstance(model, EncDecCTCModelBPE):
        return [WORD_START if token == " " else token for token in model.decoder.vocabulary]
    found: list[str] = model.tokenizer.ids_to_tokens(list(range(len(model.decoder.vocabulary))))
    if any(token.startswith(_CONTINUED) for token in found):
        return [t.removeprefix(_CONTINUED) if t.startswith(_CONTINUED) else WORD_START + t for t in found]
    return found


def greedy_text(tokens: Sequence[str], best: torch.Tensor) -> str:
    """What the likeliest token of every frame says."""
    ids = torch.unique_consecutive(best).tolist()
    said = "".join(tokens[token] for token in ids if token < len(tokens))
    return " ".join(said.replace(WORD_START, " ").split())


def _with_tokens(config: DictConfig, texts: Sequence[str], choice: TokenChoice, *, bpe: bool) -> Any:
    with open_dict(config):
        config.decoder.num_classes = -1
        if bpe:
            config.tokenizer = {"dir": str(_tokenizer(texts, choice)), "type": "bpe"}
            config.decoder.vocabulary = []
        else:
            config.decoder.vocabulary = list(dict.fromkeys([*_LETTERS, *sorted(set("".join(texts)))]))
            config.labels = config.decoder.vocabulary
    model = (EncDecCTCModelBPE if bpe else EncDecCTCModel)(cfg=config)
    with open_dict(model.cfg):  # NeMo looks into it when it transcribes
        model.cfg.validation_ds = {"sample_rate": RATE, "manifest_filepath": None, "batch_size": 1, "shuffle": False}
    return model


def _tokenizer(texts: Sequence[str], choice: TokenChoice) -> Path:
    choice.folder.mkdir(parents=True, exist_ok=True)
    lines = choice.folder / "texts.txt"
    lines.write_text("\n".join(texts), "utf-8")
    try:
        create_spt_model(
            str(lines), vocab_size=choice.pieces, sample_size=-1, do_lower_case=False, tokenizer_type="bpe",
            output_dir=str(choice.folder), remove_extra_whitespaces=True,
        )  # fmt: skip
    except (RuntimeError, OSError) as error:
        raise BadInput(
            f"no {choice.pieces} pieces of words can be made of these texts: {error}", "lower pieces"
        ) from None
    finally:
        lines.unlink()
    return choice.folder


def _config(size: NewModel) -> dict[str, Any]:
    return {
        "sample_rate": RATE,
        "preprocessor": {
            "_target_": f"{_MODULES}.AudioToMelSpectrogramPreprocessor", "sample_rate": RATE, "features": 80,
            "n_fft": 512, "window": "hann", "window_size": 0.025, "window_stride": 0.01, "normalize": "per_feature",
            "pad_to": 0,
        },
        "spec_augment": {
            "_target_": f"{_MODULES}.SpectrogramAugmentation", "freq_masks": 2, "freq_width": 27, "time_masks": 2,
            "time_width": 0.05,
        },
        "encoder": {
            "_target_": f"{_MODULES}.ConformerEncoder", "feat_in": 80, "n_layers": size.layers, "d_model": size.width,
            "n_heads": size.heads, "subsampling_factor": size.subsampling, "subsampling_conv_channels": size.width,
            "dropout": size.dropout, "dropout_pre_encoder": size.dropout, "dropout_emb": 0.0,
            "dropout_att": size.dropout, "conv_norm_type": "layer_norm",
        },
        "decoder": {"_target_": f"{_MODULES}.ConvASRDecoder", "feat_in": None, "num_classes": -1, "vocabulary": []},
    }  # fmt: skip
