"""The engines of one process and the streams that share them."""

from __future__ import annotations

from pathlib import Path

from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.engines.base import RATE, Engine
from asr.local.stt.engines.golden import open_checked
from asr.local.stt.engines.moonshine import MoonshineEngine
from asr.local.stt.engines.whisper import WhisperEngine
from asr.local.stt.stream import LocalRecognitionStream
from asr.local.stt.types import Busy, EngineInfo, RecognitionOptions
from asr.local.stt.vad import VadModel
from tenor.events import AUDIO
from tenor.model_store.pool import ModelPool
from tenor.model_store.store import ModelStore
from tenor.settings import RivaSettings

_MAX_WAITING = 16
"""Utterances that wait for a decoder before a new stream is refused: more would all be late."""


_KEPT_S = float(AUDIO.retention_s)
"""A call that is recognised again asks for the model that it began with; older audio is no longer on the bus."""


class LocalRecognizer:
    """Loads the voice activity detector and the engines once; every stream has its own state.

    Whisper is there in every version that calls may ask for: the one that ships or that the settings name, and those
    that were promoted lately. A stream keeps the engine that it began with."""

    def __init__(self, settings: RivaSettings, models: Path | None = None) -> None:
        """`models`: the registry's folder."""
        self.max_streams = settings.max_streams
        self._settings = settings
        self._open_streams = 0
        self._vad_model = VadModel()
        self._interim_engine = MoonshineEngine()
        given = Path(settings.whisper_path) if settings.whisper_path else None
        self._shipped = WhisperEngine(given, window_s=settings.window_s, workers=settings.threads)
        store = ModelStore(None if given else models)
        self._whispers: ModelPool[WhisperEngine] = ModelPool("speech", store, self._load, keep_s=_KEPT_S)
        self._whispers.prepare()
        self._pool = DecodePool(settings.threads)

    def _load(self, folder: Path | None) -> WhisperEngine:
        return self._shipped if folder is None else open_checked(folder, self._settings, name=folder.name)

    @property
    def _engines(self) -> dict[str, Engine]:
        """What can be asked for, the default first."""
        engines: list[Engine] = [self._whispers.current(), self._shipped, *self._whispers.in_memory]
        return {engine.name: engine for engine in [*engines, self._interim_engine]}

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        champion = self._whispers.current().name
        return tuple(
            EngineInfo(name, engine.language, RATE, replaces=self._shipped.name if name == champion else "")
            for name, engine in self._engines.items()
        )

    def refresh(self) -> None:
        self._whispers.prepare()
        self._whispers.reports.clear()
        self._whispers.release(())

    @property
    def streams(self) -> int:
        """Open streams."""
        return self._open_streams

    def open_stream(self, options: RecognitionOptions) -> LocalRecognitionStream:
        engines = self._engines
        engine = engines[options.engine or next(iter(engines))]
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
