"""Which engine a folder is for."""

from __future__ import annotations

from pathlib import Path

from asr.local.stt.engines.base import Engine
from asr.local.stt.engines.ctc import CtcEngine
from asr.local.stt.engines.ctc_folder import is_ctc_folder
from asr.local.stt.engines.whisper import WhisperEngine
from tenor.settings import RivaSettings


def open_engine(folder: Path | None, settings: RivaSettings, name: str = "") -> Engine:
    """The engine for what is in the folder; None is the Whisper that ships."""
    if folder is not None and is_ctc_folder(folder):
        return CtcEngine(folder, name=name)
    return WhisperEngine(folder, window_s=settings.window_s, workers=settings.threads, name=name)
