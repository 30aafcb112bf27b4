"""Moonshine: a small engine whose cost is the speech's length, which makes it the one for interims."""

from __future__ import annotations

import ctypes
import os
import threading

import numpy as np

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions, EngineHypothesis, estimate_word_times, normalize_peak
from asr.local.stt.engines.weights import check_sha256, package_file

_PACKAGED_SHA256 = {
    "encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
    "decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
    "tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
}
_OPTIONS = {
    "vad_threshold": "0",  # its voice detector is one for the whole process; ours is one a stream
    "return_audio_data": "false",
    "identify_speakers": "false",
    "word_timestamps": "false",
}
_CONFIDENCE = 0.5
"""Moonshine tells no probability."""
_LEAST_S = 0.3


class MoonshineEngine:
    """The native transcriber is not thread-safe, so calls take turns."""

    def __init__(self) -> None:
        # Read by the native library when it is loaded: its threads would only take turns on busy cores.
        os.environ.setdefault("MOONSHINE_ORT_SINGLE_THREAD", "1")
        from moonshine_voice.moonshine_api import ModelArch, TranscriptC
        from moonshine_voice.transcriber import Transcriber

        folder = package_file("moonshine_voice", "assets", "tiny-en")
        for file, sha256 in _PACKAGED_SHA256.items():
            check_sha256(folder / file, sha256)
        self.name = "moonshine-tiny"
        self.language = "en-US"
        self.punctuates = True
        self.joint_window_s = 0.0
        self._lock = threading.Lock()
        self._transcriber = Transcriber(str(folder), ModelArch.TINY, options=_OPTIONS)
        self._transcript = ctypes.POINTER(TranscriptC)

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        seconds = len(samples) / RATE
        if seconds < _LEAST_S:
            return []
        text = self._transcribe(np.ascontiguousarray(normalize_peak(samples), dtype=np.float32))
        words = estimate_word_times(text.split(), *(options.speech_ms or (0, int(seconds * 1000))), _CONFIDENCE)
        return [EngineHypothesis(words, _CONFIDENCE)] if words else []

    def close(self) -> None:
        self._transcriber.close()

    def _transcribe(self, samples: Audio) -> str:
        """The library's own Python method would make a list and an array of every sample."""
        found = self._transcript()
        with self._lock:
            code = self._transcriber._lib.moonshine_transcribe_without_streaming(
                self._transcriber._handle,
                samples.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
                len(samples),
                RATE,
                0,
                ctypes.byref(found),
            )
            if code < 0:
                raise RuntimeError(f"moonshine answered with error {code}")
            lines = self._transcriber._parse_transcript(found).lines
        return " ".join(line.text for line in lines)
