"""Riva's realtime transcription protocol: audio in as base64, text out as events."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped]
from riva.client.proto import riva_asr_pb2

from asr.local.api.realtime.events import EventSocket, merged, text_field
from asr.local.api.recognition import RecognitionService
from asr.local.api.recognition_config import SessionConfig, model_name
from asr.local.api.request_memory import LARGEST_CHUNK
from asr.local.api.session import ChannelResult, RecognitionSession
from asr.local.errors import invalid
from asr.local.stt.types import RecognizedWord

_EVENT = "conversation.item.input_audio_transcription"
_ENDPOINTING = (
    "start_history",
    "start_threshold",
    "stop_history",
    "stop_threshold",
    "stop_history_eou",
    "stop_threshold_eou",
)
_FORMATS = {"none": "ENCODING_UNSPECIFIED", "pcm16": "LINEAR_PCM", "g711_ulaw": "MULAW", "g711_alaw": "ALAW"}


def default_session(recognition: RecognitionService) -> dict[str, Any]:
    engine = recognition.engines[0] if recognition.engines else None
    return {
        "id": f"sess_{uuid.uuid4()}",
        "object": "realtime.transcription_session",
        "modalities": ["text"],
        "input_audio_format": "pcm16",
        "input_audio_transcription": {
            "language": engine.language if engine else "",
            "model": model_name(engine, "online") if engine else "",
            "prompt": "",
        },
        "input_audio_params": {"sample_rate_hz": 16000, "num_channels": 1},
        "recognition_config": {
            "max_alternatives": 1,
            "enable_automatic_punctuation": False,
            "enable_word_time_offsets": False,
            "enable_profanity_filter": False,
            "enable_verbatim_transcripts": False,
        },
        "speaker_diarization": {"enable_speaker_diarization": False, "max_speaker_count": 8},
        "word_boosting": {"enable_word_boosting": False, "word_boosting_list": []},
        "endpointing_config": dict.fromkeys(_ENDPOINTING, 0),
        "client_secret": None,
    }


class TranscriptionSession:
    """One WebSocket. Audio is recognised when it is committed; `done` brings the last result."""

    def __init__(self, recognition: RecognitionService, events: EventSocket) -> None:
        self._recognition = recognition
        self._events = events
        self._settings = default_session(recognition)
        self._session: RecognitionSession | None = None
        self._buffer = bytearray()
        self._force = False
        self._item = f"item_{uuid.uuid4()}"
        """What is being said: one item for each utterance."""
        self._transcript = ""
        self._words: list[RecognizedWord] = []

    async def run(self) -> None:
        self._recognition.recognizer()
        with self._recognition.slot():
            await self._events.created()
            try:
                async for event in self._events.received():
                    if await self._on_event(event):
                        return
            finally:
                if self._session is not None:
                    self._session.close()

    async def _on_event(self, event: dict[str, Any]) -> bool:
        """True once the client is done."""
        match event.get("type"):
            case "transcription_session.update":
                await self._update(event)
            case "input_audio_buffer.append":
                self._append(event)
            case "input_audio_buffer.clear":
                self._buffer.clear()
            case "input_audio_buffer.commit":
                await self._commit()
            case "input_audio_buffer.done":
                await self._commit()
                await self._finish()
                return True
        return False

    async def _update(self, event: dict[str, Any]) -> None:
        if self._session is not None:
            raise invalid("the session must be set before audio is sent")
        settings = merged(self._settings, event.get("session", {}))
        self._config(settings)
        self._settings = settings
        await self._events.send("transcription_session.updated", session=settings)

    def _append(self, event: dict[str, Any]) -> None:
        try:
            self._buffer += base64.b64decode(text_field(event, "audio"), validate=True)
        except binascii.Error:
            raise invalid("audio must be base64") from None
        if len(self._buffer) > LARGEST_CHUNK:
            raise invalid("more than 4 MiB of audio were appended without a commit")
        runtime = event.get("runtime_config")
        if isinstance(runtime, dict) and runtime.get("force_eou") == "true":
            self._force = True

    async def _commit(self) -> None:
        session = self._open_session()
        data, force = bytes(self._buffer), self._force
        self._buffer.clear()
        self._force = False
        await self._events.send("input_audio_buffer.committed", item_id=self._item)
        results = await session.feed(data)
        if force:
            results += await session.end_utterance()
        await self._send_results(results)

    async def _finish(self) -> None:
        """The last event repeats the whole text: Riva's client keeps what came last as the result."""
        await self._send_results(await self._open_session().finish())
        await self._completed(self._transcript, self._words, last=True)

    async def _send_results(self, results: list[ChannelResult]) -> None:
        interim = "".join(one.alternatives[0].text for _, one in results if not one.final and one.alternatives)
        for _, one in results:
            if one.final and (text := one.alternatives[0].text.strip()):
                options = self._open_session().config.options
                words = list(one.alternatives[0].words) if options.word_times or options.speakers else []
                self._transcript += f"{text} "
                self._words += words
                await self._completed(f"{text} ", words, last=False)
        if interim:
            await self._events.send(f"{_EVENT}.delta", item_id=self._item, content_index=0, delta=interim)

    async def _completed(self, text: str, words: list[RecognizedWord], *, last: bool) -> None:
        words_info = [
            {
                "word": word.text,
                "start_time": word.start_ms,
                "end_time": word.end_ms,
                "confidence": word.confidence,
                "speaker_tag": word.speaker,
            }
            for word in words
        ]
        await self._events.send(
            f"{_EVENT}.completed",
            item_id=self._item,
            content_index=0,
            transcript=text,
            is_last_result=last,
            words_info={"words": words_info},
        )
        self._item = f"item_{uuid.uuid4()}"

    def _open_session(self) -> RecognitionSession:
        if self._session is None:
            self._session = RecognitionSession(self._recognition.recognizer(), self._config(self._settings))
        return self._session

    def _config(self, settings: dict[str, Any]) -> SessionConfig:
        """The session as Riva's own configuration, so that both protocols mean the same by it."""
        try:
            config = json_format.ParseDict(_as_config(settings), riva_asr_pb2.RecognitionConfig())
        except (json_format.ParseError, AttributeError, TypeError, ValueError) as error:
            raise invalid(f"session: {error}") from None
        return self._recognition.read_config(config, "online", interim=True)


def _as_config(settings: dict[str, Any]) -> dict[str, Any]:
    audio_format = settings["input_audio_format"]
    if audio_format not in _FORMATS:
        raise ValueError(f"input_audio_format must be one of {', '.join(_FORMATS)}, got {audio_format!r}")
    wanted = settings["recognition_config"]
    boosting = settings["word_boosting"]
    config: dict[str, Any] = {
        "encoding": _FORMATS[audio_format],
        "language_code": settings["input_audio_transcription"].get("language", ""),
        "model": settings["input_audio_transcription"].get("model", ""),
        "max_alternatives": wanted.get("max_alternatives", 1),
        "enable_automatic_punctuation": wanted.get("enable_automatic_punctuation", False),
        "enable_word_time_offsets": wanted.get("enable_word_time_offsets", False),
        "profanity_filter": wanted.get("enable_profanity_filter", False),
        "verbatim_transcripts": wanted.get("enable_verbatim_transcripts", False),
        "custom_configuration": {
            "context": settings["input_audio_transcription"].get("prompt") or "",
            **_pairs(wanted.get("custom_configuration") or ""),
        },
        "diarization_config": settings["speaker_diarization"],
        # NVIDIA's own default session has zeros here, which mean that nothing was asked for.
        "endpointing_config": {key: value for key, value in settings["endpointing_config"].items() if value},
    }
    if boosting.get("enable_word_boosting"):
        config["speech_contexts"] = boosting.get("word_boosting_list", [])
    if audio_format != "none":
        # A file says itself what it is, and the client's defaults beside it mean nothing.
        config["sample_rate_hertz"] = settings["input_audio_params"].get("sample_rate_hz", 0)
        config["audio_channel_count"] = settings["input_audio_params"].get("num_channels", 0)
    return config


def _pairs(text: str | dict[str, str]) -> dict[str, str]:
    """`key:value,key:value`, as the official client writes it."""
    if isinstance(text, dict):
        return text
    pairs = [pair.partition(":") for pair in text.replace(" ", "").split(",") if pair]
    return {key: value for key, _, value in pairs}
