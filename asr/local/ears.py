"""The engines of one process and the streams that share them."""

from __future__ import annotations

from pathlib import Path

from asr.local.engine import RATE, Engine
from asr.local.hearing import Busy, EngineInfo, HearingRequest
from asr.local.listener import LocalListener
from asr.local.moonshine import MoonshineEngine
from asr.local.pool import DecodePool
from asr.local.voice import VoiceModel
from asr.local.whisper import WhisperEngine


class LocalEars:
    """Loads the voice detector and the engines once; every stream gets a listener of its own."""

    def __init__(
        self,
        *,
        workers: int = 2,
        threads: int = 1,
        max_streams: int = 128,
        max_waiting: int = 16,
        whisper_path: Path | None = None,
        whisper_name: str = "whisper-tiny",
        window_s: float = 20.0,
        language: str = "en-US",
        device: str = "cpu",
        compute_type: str = "int8",
    ) -> None:
        """`workers` utterances are decoded at once, each with `threads` threads.

        A new stream is refused when `max_streams` are open or `max_waiting` utterances wait for a
        decoder. `whisper_path` is a folder with another Whisper model in CTranslate2's format, and `window_s` the
        sound it looks at for a short utterance: longer is more accurate, and later.
        """
        self.max_streams = max_streams
        self._max_waiting = max_waiting
        self._open = 0
        self._voice = VoiceModel()
        self._quick = MoonshineEngine()
        whisper = WhisperEngine(
            whisper_path,
            name=whisper_name,
            window_s=window_s,
            language=language,
            device=device,
            compute_type=compute_type,
            workers=workers,
            threads=threads,
        )
        self._engines: dict[str, Engine] = {whisper.name: whisper, self._quick.name: self._quick}
        self._pool = DecodePool(workers)

    @property
    def engines(self) -> tuple[EngineInfo, ...]:
        return tuple(EngineInfo(engine.name, engine.language, RATE) for engine in self._engines.values())

    @property
    def streams(self) -> int:
        """Open streams."""
        return self._open

    def listen(self, request: HearingRequest) -> LocalListener:
        engine = self._engines[request.engine or next(iter(self._engines))]
        if self._open >= self.max_streams or self._pool.waiting >= self._max_waiting:
            raise Busy(retry_ms=1000)
        self._open += 1
        return LocalListener(
            request,
            engine=engine,
            quick=self._quick,
            voice=self._voice,
            pool=self._pool,
            on_close=self._closed,
        )

    def close(self) -> None:
        self._pool.close()
        for engine in self._engines.values():
            engine.close()

    def _closed(self) -> None:
        self._open -= 1
