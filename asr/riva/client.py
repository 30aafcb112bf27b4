"""The recogniser as the worker sees it: one address on Riva's gRPC API, and streams to it.

Everything here holds for NVIDIA Riva and for `tenor riva`. What ours can do beyond that is asked for
in `custom_configuration`, whose unknown keys Riva ignores:

    context           sentences that are often said, one per line, for the recogniser to know before it decodes; words
                      travel in `speech_contexts`, which Riva boosts
    clean_points      positions in silence at which the recogniser started afresh, as results without
                      alternatives; resuming there gives what an unbroken stream would have given
    max_utterance_ms  where an utterance is cut
    known_ms          what lies before is sent again only to tell the speakers of one channel apart
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import grpc
import structlog
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc as asr_grpc
from riva.client.proto import riva_audio_pb2 as audio

from asr.audio.resampling import StreamResampler
from asr.riva.errors import RivaError, classify
from asr.riva.recording import RecordingStream
from asr.riva.stream import OnResponse, RivaStream
from tenor.riva_channel import open_channel
from tenor.settings import SpeechSettings

log = structlog.get_logger(__name__)

EVERY_QUEUE = "*"
FAULT_S = 5.0
"""How long a server that is asked how it is may take."""
HOUSE_BOOST = 10.0
"""How strongly the words of the vocabulary are expected."""


class ExpectedPhrases(NamedTuple):
    """What a conversation is likely to be about."""

    phrases: Sequence[str]
    boost: float


def house_vocabulary(speech: SpeechSettings, queue: str) -> ExpectedPhrases:
    """What is said in calls of this queue, its own words last: what is last counts most."""
    entries = [*speech.vocabulary.get(EVERY_QUEUE, ()), *speech.vocabulary.get(queue, ())]
    return ExpectedPhrases(list(dict.fromkeys(entries)), HOUSE_BOOST)


def recognition_config(
    speech: SpeechSettings,
    rate: int,
    language: str,
    expected: Sequence[ExpectedPhrases] = (),
    model: str = "",
    speakers: int = 0,
    known_ms: int = 0,
) -> asr.RecognitionConfig:
    """`expected`: beyond the phrases that the settings boost."""
    config = asr.RecognitionConfig(
        encoding=audio.AudioEncoding.LINEAR_PCM,
        sample_rate_hertz=rate,
        audio_channel_count=1,
        language_code=language,
        model=model or speech.model,
        max_alternatives=1,
        enable_word_time_offsets=True,
        enable_automatic_punctuation=speech.punctuation,
        verbatim_transcripts=speech.verbatim,
        custom_configuration={
            "clean_points": "true",
            "max_utterance_ms": str(round(speech.max_utterance_s * 1000)),
        },
    )
    if speech.patient:
        config.custom_configuration["patient"] = "true"
    sentences: list[str] = []
    for one in (ExpectedPhrases(speech.boosted, speech.boost), *expected):
        if words := [phrase for phrase in one.phrases if not _is_sentence(phrase)]:
            config.speech_contexts.append(asr.SpeechContext(phrases=words, boost=one.boost))
        if one.boost > 0:
            sentences += filter(_is_sentence, one.phrases)
    if sentences:
        config.custom_configuration["context"] = "\n".join(sentences)
    if speech.diarization or speakers:
        config.diarization_config.enable_speaker_diarization = True
        config.diarization_config.max_speaker_count = speakers
    if speakers and known_ms:
        config.custom_configuration["known_ms"] = str(known_ms)
    if speech.stop_history_ms:
        config.endpointing_config.stop_history = speech.stop_history_ms
    if speech.stop_history_eou_ms:
        config.endpointing_config.stop_history_eou = speech.stop_history_eou_ms
    return config


def _is_sentence(phrase: str) -> bool:
    """A whole sentence says what is likely; looking for it word by word, as boosting does, would change others."""
    return phrase.endswith((".", "?", "!")) and len(phrase.split()) > 2


class RivaClient:
    """One connection, shared by all channels of a worker."""

    def __init__(self, speech: SpeechSettings) -> None:
        self._speech = speech
        self._kind = "offline" if speech.mode == "offline" else "online"
        self._metadata = tuple(speech.metadata.items())
        self._channel = open_channel(speech)
        self._stub = asr_grpc.RivaSpeechRecognitionStub(self._channel)
        self._asking: asyncio.Task[None] | None = None
        """What the server is and can do is being asked, or is known."""
        self._clean_points = False
        """The server says that it tells them,"""
        self._clean_lead_ms = 0
        """how far they lie before what decided them,"""
        self._diarizes = False
        """and that it tells speakers apart."""
        self._models: dict[str, list[str]] = {}
        """Names of what it can recognise in this mode, by language; its default first."""
        self._rates: dict[str, int] = {}

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._channel.close()

    async def open(
        self,
        rate: int,
        language: str,
        base_ms: float,
        on_response: OnResponse,
        *,
        expected: Sequence[ExpectedPhrases] = (),
        model: str = "",
        speakers: int = 0,
        known_ms: int = 0,
        careful: bool = False,
    ) -> RivaStream | RecordingStream:
        """A stream for audio of `rate`, whose first sample is at `base_ms` of the call. `model`: its name at the
        server; empty lets the settings or the server choose.

        `speakers` are told apart if the server can; `known_ms` of the stream are sent again only for that.
        `careful` waits a moment for a refusal: grpc.aio loses the server's reason when a message is
        being sent while it arrives."""
        await self._know_server()
        resampler = StreamResampler(rate)
        speakers = speakers if self._diarizes or self._speech.diarization else 0
        config = recognition_config(self._speech, resampler.rate, language, expected, model, speakers, known_ms)
        name = model or self.model(language, resampler.rate)
        if self._kind == "offline":
            return RecordingStream(self._stub, config, self._metadata, resampler, base_ms, on_response, model=name)
        call = self._stub.StreamingRecognize(metadata=self._metadata)
        stream = RivaStream(
            call,
            resampler,
            base_ms,
            on_response,
            model=name,
            clean_points=self._clean_points,
            clean_lead_ms=self._clean_lead_ms,
        )
        streaming = asr.StreamingRecognitionConfig(config=config, interim_results=self._speech.interim)
        await stream.write(asr.StreamingRecognizeRequest(streaming_config=streaming))
        stream.start()
        if careful:
            await stream.listen_for_refusal()
        return stream

    async def find_model(self, model: str, language: str) -> str:
        """The server's name for a model: `house-7` is `house-7-en-US-asr-streaming` there. Empty when it has none."""
        await self._know_server()
        if not (found := self._named(model, language)):
            self.forget_server()  # it may have loaded the model since it was asked
            await self._know_server()
            found = self._named(model, language)
        return found

    def _named(self, model: str, language: str) -> str:
        names = self._models.get(language, ())
        return next((name for name in names if name == model or name.startswith(f"{model}-")), "")

    async def _know_server(self) -> None:
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        await asyncio.shield(self._asking)

    def forget_server(self) -> None:
        """A stream broke: whoever answers next may be another server."""
        if self._asking is not None and self._asking.done():
            self._asking = None

    def model(self, language: str, rate: int = 0) -> str:
        """Name of the model that recognises this language, as far as the server told; one for exactly this rate comes
        before the others."""
        names = [self._speech.model] if self._speech.model else self._models.get(language, [])
        return next((name for name in names if rate and self._rates.get(name) == rate), names[0] if names else "")

    def rate(self, language: str) -> int:
        """Samples per second the model for this language works at, as far as the server told; 0: unknown."""
        return self._rates.get(self.model(language), 0)

    async def models(self) -> list[str]:
        """`name (language)` of what the server can recognise in this mode; raises RivaError when it does not say."""
        answer = await self._configuration(self._speech.timeout_s)
        found = []
        self._models.clear()
        self._clean_points = self._diarizes = False
        self._clean_lead_ms = 0
        for model in answer.model_config:
            if model.parameters.get("type", self._kind) != self._kind:
                continue
            language = model.parameters.get("language_code", "")
            found.append(f"{model.model_name} ({language})")
            if model.model_name not in (names := self._models.setdefault(language, [])):
                names.append(model.model_name)
            rate = model.parameters.get("sample_rate_hertz", "")
            self._rates[model.model_name] = int(rate) if rate.isdigit() else 0
            if model.parameters.get("clean_points", "").lower() == "true":
                self._clean_points = True
                lead = model.parameters.get("clean_lead_ms", "")
                self._clean_lead_ms = int(lead) if lead.isdigit() else 0
            if model.parameters.get("speaker_diarization", "").lower() == "true":
                self._diarizes = True
        return found

    async def fault(self) -> str:
        """Why the server does not serve us now; empty: it does. What is known of it stays as it is."""
        try:
            await self._configuration(FAULT_S)
        except RivaError as error:
            return f"the recogniser at {self._speech.address}: {error.reason}"
        return ""

    async def _configuration(self, timeout_s: float) -> Any:
        try:
            request = asr.RivaSpeechRecognitionConfigRequest()
            return await self._stub.GetRivaSpeechRecognitionConfig(request, metadata=self._metadata, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            raise classify(error, answered=False) from None

    async def _ask(self) -> None:
        with suppress(RivaError):
            self._models.clear()
            await self.models()
