"""The folder of a CTC model: `model.onnx`, and `ctc.json` with what an ONNX file does not say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from asr.local.stt.engines.base import RATE
from asr.local.stt.engines.ctc_features import FrontEnd
from asr.local.stt.engines.model_folder import whole_folder
from tenor.errors import BadInput

DESCRIPTION = "ctc.json"
FILES = ("model.onnx", DESCRIPTION)
WORD_START = "\u2581"
"""Sentencepiece's mark of where a word begins; between the characters of other models it stands for the blank."""
_HINT = "riva.ctc_path names the folder of a CTC model, made by the recipe nemo"


class CtcDescription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    front_end: FrontEnd
    tokens: Annotated[tuple[str, ...], Meta(min_length=1)]
    """In the order of the model's outputs; the one after the last is CTC's blank."""
    subsampling: Annotated[int, Meta(ge=1)]
    """Frames of the spectrogram per frame of the output."""
    language: str = "en-US"


def is_ctc_folder(path: Path) -> bool:
    """Whether a CTC model is meant, whole or not."""
    return any((folder / DESCRIPTION).is_file() for folder in (path, path / "model"))


def checked_ctc_folder(path: Path) -> Path:
    return whole_folder(path, FILES, "CTC model", _HINT)


def read_description(folder: Path) -> CtcDescription:
    try:
        found = msgspec.json.decode((folder / DESCRIPTION).read_bytes(), type=CtcDescription)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{folder / DESCRIPTION}: {error}", "make or copy the folder again") from None
    if found.front_end.rate != RATE:
        raise BadInput(f"{folder} hears audio of {found.front_end.rate} Hz", f"only models for {RATE} Hz can be served")
    return found
