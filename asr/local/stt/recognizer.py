"""The engines of one process and the streams that share them."""

from __future__ import annotations

from pathlib import Path

from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.engines.base import RATE, Engine
from asr.local.stt.engines.moonshine import MoonshineEngine
from asr.local.stt.engines.whisper import WhisperEngine
from asr.local.stt.stream import LocalRecognitionStream
from asr.local.stt.types import Busy, EngineInfo, RecognitionOptions
from asr.local.stt.vad import VadModel
from tenor.settings import RivaSettings

_MAX_WAITING = 16
"""Utterances that wait for a decoder before a new stream is refused: more would all be late."""


class LocalRecognizer:
    """Loads the voice activity detector and the engines once; every stream has its own state."""

    def __init__(self, settings: RivaSettings) -> None:
        self.max_streams = settings.max_streams
        self._open_streams = 0
        self._vad_model = VadModel()
        self._interim_engine = MoonshineEngine()
        whisper = WhisperEngine(
            Path(settings.whisper_path) if settings.whisper_path else None,
            window_s=settings.window_s,
            workers=settings.threads,
        )
        self._engines: dict[str, Engine] = {whisper.name: whisper, self._interim_engine.name: self._interim_engine}
        self._pool = DecodePool(settings.threads)

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        return tuple(EngineInfo(engine.name, engine.language, RATE) for engine in self._engines.values())

    @property
    def streams(self) -> int:
        """Open streams."""
        return self._open_streams

    def open_stream(self, options: RecognitionOptions) -> LocalRecognitionStream:
        engine = self._engines[options.engine or next(iter(self._engines))]
        if self._open_streams >= self.max_streams or self._pool.waiting >= _MAX_WAITING:
            raise Busy(retry_ms=1000)
        self._open_streams += 1
        return LocalRecognitionStream(
            options,
            engine=engine,
            interim_engine=self._interim_engine,
            vad_model=self._vad_model,
            pool=self._pool,
            on_close=self._closed,
        )

    def close(self) -> None:
        self._pool.close()
        for engine in self._engines.values():
            engine.close()

    def _closed(self) -> None:
        self._open_streams -= 1
