"""The engines of one process and the streams that share them."""

from __future__ import annotations

from pathlib import Path

from asr.local.speakers.encoder import VoiceEncoder
from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.engines.base import RATE, Engine
from asr.local.stt.engines.ctc_folder import checked_ctc_folder
from asr.local.stt.engines.golden import open_checked
from asr.local.stt.engines.moonshine import MoonshineEngine
from asr.local.stt.engines.opening import open_engine
from asr.local.stt.engines.punctuated import Punctuate, PunctuatedEngine
from asr.local.stt.engines.whisper_folder import TELEPHONE
from asr.local.stt.stream import LocalRecognitionStream
from asr.local.stt.types import Busy, EngineInfo, RecognitionOptions
from asr.local.stt.vad import VadModel
from tenor.errors import BadInput
from tenor.events import AUDIO
from tenor.model_store.pool import ModelPool
from tenor.model_store.store import ModelStore
from tenor.settings import RivaSettings

_MAX_WAITING = 16
"""Utterances that wait for a decoder before a new stream is refused: more would all be late."""
_TELEPHONE = "whisper-telephone"
_TELEPHONE_RATE = 8000
_KEPT_S = float(AUDIO.retention_s)
"""A call that is recognised again asks for the model that it began with; older audio is no longer on the bus."""


class LocalRecognizer:
    """Loads the voice activity detector and the engines once; every stream has its own state.

    The recogniser is there in every version that calls may ask for: those that ship or the one that the settings name,
    and those that were promoted lately. A stream keeps the engine that it began with."""

    def __init__(self, settings: RivaSettings, models: Path | None = None, punctuate: Punctuate | None = None) -> None:
        """`models`: the registry's folder. `punctuate`: for engines that write no marks and capitals themselves."""
        self._punctuate = punctuate
        self.max_streams = settings.max_streams
        self._settings = settings
        self._open_streams = 0
        self._vad_model = VadModel()
        self._voice_encoder = VoiceEncoder()
        self._interim_engine = MoonshineEngine()
        given = _named_folder(settings)
        self._shipped = self._punctuated(open_engine(given, settings))
        self._telephone = None if given else open_engine(TELEPHONE, settings, _TELEPHONE)
        store = ModelStore(None if given else models)
        self._versions: ModelPool[Engine] = ModelPool("speech", store, self._load, keep_s=_KEPT_S)
        self._versions.prepare()
        self._pool = DecodePool(settings.threads)

    def _load(self, folder: Path | None) -> Engine:
        if folder is None:
            return self._shipped
        return self._punctuated(open_checked(folder, self._settings, name=folder.name))

    def _punctuated(self, engine: Engine) -> Engine:
        if self._punctuate is None or engine.punctuates:
            return engine
        return PunctuatedEngine(engine, self._punctuate)

    @property
    def _engines(self) -> dict[str, Engine]:
        """What can be asked for, the default first."""
        engines: list[Engine] = [self._versions.current(), self._shipped, *self._versions.in_memory]
        if self._telephone is not None:
            engines.append(self._telephone)
        return {engine.name: engine for engine in [*engines, self._interim_engine]}

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        champion = self._versions.current().name
        return tuple(
            EngineInfo(
                name,
                engine.language,
                _TELEPHONE_RATE if engine is self._telephone else RATE,
                replaces=self._shipped.name if name == champion else "",
            )
            for name, engine in self._engines.items()
        )

    def refresh(self) -> None:
        self._versions.prepare()
        self._versions.reports.clear()
        self._versions.release(())

    @property
    def streams(self) -> int:
        """Open streams."""
        return self._open_streams

    def open_stream(self, options: RecognitionOptions) -> LocalRecognitionStream:
        engine = self._engines[options.engine] if options.engine else self._default(options.rate)
        if self._open_streams >= self.max_streams or self._pool.waiting >= _MAX_WAITING:
            raise Busy(retry_ms=1000)
        self._open_streams += 1
        return LocalRecognitionStream(
            options,
            engine=engine,
            interim_engine=self._interim_engine,
            vad_model=self._vad_model,
            voice_encoder=self._voice_encoder,
            pool=self._pool,
            on_close=self._closed,
        )

    def close(self) -> None:
        self._pool.close()
        for engine in self._engines.values():
            engine.close()

    def _default(self, rate: int) -> Engine:
        """For clients that name none: what was promoted; otherwise telephones have an engine of their own."""
        current = self._versions.current()
        if current is self._shipped and self._telephone is not None and rate <= _TELEPHONE_RATE:
            return self._telephone
        return current

    def _closed(self) -> None:
        self._open_streams -= 1


def _named_folder(settings: RivaSettings) -> Path | None:
    """The folder of the recogniser that a setting names."""
    if settings.ctc_path and settings.whisper_path:
        raise BadInput("both riva.ctc_path and riva.whisper_path are set", "name one recogniser")
    if settings.ctc_path:
        return checked_ctc_folder(Path(settings.ctc_path))
    return Path(settings.whisper_path) if settings.whisper_path else None
