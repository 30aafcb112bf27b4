"""A CTC model of NeMo as a folder that `tenor riva` serves: its network in ONNX, tokens and front end beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime

from asr.local.stt.engines.base import RATE
from asr.local.stt.engines.ctc_features import FrontEnd
from asr.local.stt.engines.ctc_folder import DESCRIPTION, CtcDescription
from asr.local.stt.engines.mel import filters
from finetune.export.whisper_export import write_manifest
from finetune.train.nemo.model import tokens_of
from tenor.errors import BadInput

_PROBE = 1600
"""Frames of a spectrogram that the network is asked about, to see how many it joins into one."""


def export_ctc(model: Any, folder: Path, card: dict[str, Any], language: str) -> Path:
    """Written beside, and put in its place when it is whole."""
    front_end = front_end_of(model)
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    model.eval()
    model.export(str(part / "model.onnx"))
    description = CtcDescription(
        front_end=front_end,
        tokens=tuple(tokens_of(model)),
        subsampling=_subsampling(part, front_end),
        language=language,
    )
    (part / DESCRIPTION).write_bytes(msgspec.json.format(msgspec.json.encode(description), indent=1) + b"\n")
    write_manifest(part, {**card, "kind": "speech"})
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(part, folder)
    return folder


def front_end_of(model: Any) -> FrontEnd:
    """Its parameters. BadInput if the engine would compute another spectrogram than the model was taught with."""
    found = model.preprocessor.featurizer
    front_end = FrontEnd(
        rate=found.sample_rate, bands=found.nfilt, fft=found.n_fft, window=found.win_length, hop=found.hop_length,
        preemphasis=found.preemph or 0.0, log_guard=float(found.log_zero_guard_value_fn(found.fb)),
        pad_to=found.pad_to,
    )  # fmt: skip
    bank, window = found.fb[0].numpy(), found.window.numpy()
    wrong = {
        f"audio of {found.sample_rate} Hz": found.sample_rate != RATE,
        f"normalize={found.normalize}": found.normalize != "per_feature",
        f"mag_power={found.mag_power}": found.mag_power != 2.0,
        f"frame_splicing={found.frame_splicing}": found.frame_splicing != 1,
        "exact_pad": found.exact_pad,
        "log=False": not found.log,
        f"log_zero_guard_type={found.log_zero_guard_type}": found.log_zero_guard_type != "add",
        "another window than Hann's": not np.allclose(window, np.hanning(len(window)), atol=1e-5),
        "other mel filters": not np.allclose(bank, filters(found.nfilt, found.n_fft), atol=1e-6),
    }
    if reasons := [what for what, is_so in wrong.items() if is_so]:
        raise BadInput(f"the model's front end has {', '.join(reasons)}", "such a model cannot be served by tenor riva")
    return front_end


def _subsampling(folder: Path, front_end: FrontEnd) -> int:
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    fed = {"audio_signal": np.zeros((1, front_end.bands, _PROBE), np.float32), "length": np.array([_PROBE], np.int64)}
    return round(_PROBE / int(session.run(None, fed)[0].shape[1]))
