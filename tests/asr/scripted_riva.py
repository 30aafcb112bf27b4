"""A Riva whose results are a function of the audio, and that fails on demand. Real gRPC, no model.

A word is 200 ms of a constant level, its number in the vocabulary times 50; words are 40 ms apart. After
`STOP_MS` of silence the utterance is over: the final is where the silence has lasted that long, so a
stream that begins there, or at any clean point, gives what an unbroken one gives.

    level   0 | w w | w w | 0 0 0 0 0 0 0 0 0
                             |--STOP_MS--| final, clean
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, Self

import grpc
import numpy as np
import numpy.typing as npt
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc as asr_grpc

from tenor.events import AudioChunk

_WORDS = """
zero one two three four five six seven eight nine oh double triple hello thanks please yes no my your card
number is account phone address email at dot com john smith gmail cancel order refund service was great
terrible today when will it arrive i would like to speak with an agent okay sure bye born on march third
nineteen eighty dollars fifty
"""
VOCABULARY = _WORDS.split()
LEVEL = {word: 50 * (number + 1) for number, word in enumerate(VOCABULARY)}
SECOND_VOICE = {"okay", "sure", "was", "great"}
"""Who says these is somebody else than who says the other words, for a server that tells speakers apart."""
WORD_MS, GAP_MS, STOP_MS, CLEAN_MS = 200, 40, 500, 1000

Fault = Literal["die", "internal", "hang", "idle", "start flag", "trtis"]


def silence(ms: int, rate: int = 8000) -> bytes:
    return bytes(2 * (ms * rate // 1000))


def speak(text: str, rate: int = 8000) -> bytes:
    """The audio of some words of the vocabulary."""
    words = []
    for word in text.split():
        level = np.full(WORD_MS * rate // 1000, LEVEL[word], np.int16)
        words += [level.tobytes(), silence(GAP_MS, rate)]
    return b"".join(words)


@dataclass(slots=True)
class _Run:
    level: int
    start: int
    length: int = 0


@dataclass
class Listener:
    """Hears one stream, counting samples."""

    rate: int
    max_utterance_ms: int = 20_000
    clean_points: bool = False
    finals: bool = True
    voices: dict[bool, int] | None = None
    """If speakers are told apart: the numbers of the voices, in the order in which they were first heard."""
    position: int = 0
    words: list[asr.WordInfo] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._run = _Run(0, 0)
        self._clean = 0

    def hear(self, samples: npt.NDArray[np.int16]) -> list[asr.StreamingRecognitionResult]:
        results: list[asr.StreamingRecognitionResult] = []
        samples = (np.round(samples / 50) * 50).astype(np.int16)
        edges = np.flatnonzero(np.diff(samples)) + 1
        for start, end in zip([0, *edges], [*edges, len(samples)], strict=True):
            if end > start:
                self._hear_run(int(samples[start]), int(end - start), results)
        return results

    def interim(self) -> str:
        spoken = [word.word for word in self.words]
        if self._run.level:
            spoken.append(self._word(self._run))
        return " ".join(spoken)

    def finish(self) -> asr.StreamingRecognitionResult | None:
        self._end_run()
        return self._final(self.position) if self.words else None

    def cut(self) -> asr.StreamingRecognitionResult | None:
        """What was said, but for a word that is being said."""
        if not self._run.level:
            return self.finish()
        return self._final(self._run.start) if self.words else None

    def _hear_run(self, level: int, length: int, results: list[asr.StreamingRecognitionResult]) -> None:
        if level != self._run.level:
            self._end_run()
            self._run = _Run(level, self.position)
        before, self._run.length = self._run.length, self._run.length + length
        start, self.position = self._run.start, self.position + length
        if level:
            return
        stop = self._samples(STOP_MS)
        if self.words and before < stop <= self._run.length and self.finals:
            results.append(self._final(start + stop))
        step = self._samples(CLEAN_MS)
        while not self.words and self.position - self._clean >= step and self.clean_points:
            self._clean = max(self._clean + step, start)
            if self._clean <= self.position:
                results.append(asr.StreamingRecognitionResult(audio_processed=self._clean / self.rate))

    def _end_run(self) -> None:
        run, self._run = self._run, _Run(0, self.position)
        if not run.level or run.length < self._samples(WORD_MS // 4):
            return
        start, end = run.start * 1000 // self.rate, (run.start + run.length) * 1000 // self.rate
        word = asr.WordInfo(word=self._word(run), start_time=start, end_time=end, confidence=0.9)
        if self.voices is not None:
            word.speaker_tag = self.voices.setdefault(word.word in SECOND_VOICE, len(self.voices) + 1)
        self.words.append(word)

    def _final(self, clean: int) -> asr.StreamingRecognitionResult:
        text = " ".join(word.word for word in self.words)
        alternative = asr.SpeechRecognitionAlternative(transcript=f"{text} ", confidence=0.9, words=self.words)
        self.words, self._clean = [], clean
        processed = clean if self.clean_points else self.position
        return asr.StreamingRecognitionResult(
            alternatives=[alternative], is_final=True, channel_tag=1, audio_processed=processed / self.rate
        )

    def _word(self, run: _Run) -> str:
        number = round(run.level / 50) - 1
        return VOCABULARY[number] if 0 <= number < len(VOCABULARY) else "?"

    def _samples(self, ms: int) -> int:
        return ms * self.rate // 1000


@dataclass
class Window:
    """Holds finals back until there are `size`, as our server does for the patient: all of them name the clean point
    before the first, and the one after the last follows them."""

    size: int
    clean_s: float = 0.0
    held: list[asr.StreamingRecognitionResult] = field(default_factory=list)

    def take(
        self, results: list[asr.StreamingRecognitionResult], *, last: bool = False
    ) -> list[asr.StreamingRecognitionResult]:
        told = []
        for result in results:
            if result.is_final:
                self.held.append(result)
            elif not self.held:
                self.clean_s = result.audio_processed
                told.append(result)
            if len(self.held) >= self.size:
                told += self._told()
        return told + self._told() if last and self.held else told

    def _told(self) -> list[asr.StreamingRecognitionResult]:
        held, self.held = self.held, []
        before, self.clean_s = self.clean_s, held[-1].audio_processed
        for final in held:
            final.audio_processed = before
        return [*held, asr.StreamingRecognitionResult(audio_processed=self.clean_s)]


@dataclass
class ScriptedRiva(asr_grpc.RivaSpeechRecognitionServicer):  # type: ignore[misc]
    """Use as `async with ScriptedRiva() as riva`, then connect to `riva.address`."""

    clean_points: bool = True
    """False: like NVIDIA's."""
    clean_lead_ms: int = 0
    """What it says of how early they lie."""
    diarizes: bool = True
    """It tells speakers apart."""
    finals: bool = True
    """False: interims and never a final, except at the end of a stream."""
    together: int = 3
    """So many finals come at once to those who are patient."""
    force_eou: bool = True
    port: int = 0
    limit: int = 0
    """Streams at once; 0: any number. Over it RESOURCE_EXHAUSTED, `retry_ms` later again."""
    retry_ms: int = 50
    languages: tuple[str, ...] = ("en-US",)
    models: tuple[str, ...] = ("scripted",)
    """The default first."""
    idle_s: float | None = None
    """A stream without audio this long is closed."""
    key: str = ""
    """Bearer token asked for."""
    credentials: Any = None
    """Of grpc, to serve TLS."""
    faults: list[tuple[Fault, int]] = field(default_factory=list)
    """What happens to the next streams that get that far, each once: (what, after ms of audio on it)."""
    configs: list[asr.StreamingRecognitionConfig] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    recordings: list[asr.RecognizeRequest] = field(default_factory=list)
    """What was asked for as a whole."""
    forced: int = 0
    opened: int = 0
    open: int = 0
    audio_s: float = 0.0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.http2.min_ping_interval_without_data_ms", 10_000)])
        asr_grpc.add_RivaSpeechRecognitionServicer_to_server(self, self._server)
        address = f"127.0.0.1:{self.port}"
        if self.credentials is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self.port = self._server.add_secure_port(address, self.credentials)
        await self._server.start()

    async def stop(self) -> None:
        """As if it had been killed: open streams end without a word."""
        await self._server.stop(None)
        self.open = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def GetRivaSpeechRecognitionConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        answer = asr.RivaSpeechRecognitionConfigResponse()
        for language, name in product(self.languages, self.models):
            for kind in ("online", "offline"):
                model = answer.model_config.add(model_name=f"{name}-{language}-asr-{kind}")
                model.parameters.update({"type": kind, "language_code": language})
                if self.clean_points:
                    model.parameters.update({"clean_points": "True", "clean_lead_ms": str(self.clean_lead_ms)})
                if self.diarizes:
                    model.parameters["speaker_diarization"] = "True"
        return answer

    async def StreamingRecognize(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:  # noqa: N802
        self.opened += 1
        self.metadata.append({str(key): str(value) for key, value in context.invocation_metadata()})
        if self.key and self.metadata[-1].get("authorization") != f"Bearer {self.key}":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong key")
        if self.limit and self.open >= self.limit:
            context.set_trailing_metadata((("retry-after-ms", str(self.retry_ms)),))
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"all {self.limit} streams are in use")
        self.open += 1
        try:
            async for response in self._recognise(requests, context):
                yield response
        finally:
            self.open -= 1

    async def Recognize(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.recordings.append(request)
        rate = request.config.sample_rate_hertz
        await self._fail(context, len(request.audio) * 500 / rate)
        listener = Listener(rate)
        finals = listener.hear(np.frombuffer(request.audio, np.int16))
        finals += [last] if (last := listener.finish()) else []
        seconds = len(request.audio) / 2 / rate
        return asr.RecognizeResponse(
            results=[
                asr.SpeechRecognitionResult(alternatives=one.alternatives, channel_tag=1, audio_processed=seconds)
                for one in finals
            ]
        )

    async def _recognise(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        request = await anext(aiter(requests))
        interims, config = request.streaming_config.interim_results, request.streaming_config.config
        self.configs.append(request.streaming_config)
        if config.language_code not in self.languages:
            wanted = f"language_code={config.language_code}; type=online; "
            text = f"Error: Unavailable model requested given these parameters: {wanted}"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        listener = Listener(
            config.sample_rate_hertz, clean_points=self.clean_points and "clean_points" in config.custom_configuration
        )
        listener.finals = self.finals
        if config.diarization_config.enable_speaker_diarization:
            listener.voices = {}
        known_ms = int(config.custom_configuration.get("known_ms", "0"))
        window = Window(self.together) if "patient" in config.custom_configuration else None
        async for request in self._patiently(requests, context):
            pcm = np.frombuffer(request.audio_content, np.int16)
            self.audio_s += len(pcm) / listener.rate
            await self._fail(context, (listener.position + len(pcm)) * 1000 / listener.rate)
            results = listener.hear(pcm) if len(pcm) else []
            results = [result for result in results if not known_ms or round(result.audio_processed * 1000) > known_ms]
            if request.runtime_config.get("force_eou") == "true":
                self.forced += 1
                if self.force_eou and (last := listener.cut()):
                    results.append(last)
            if interims and (text := listener.interim()):
                alternative = asr.SpeechRecognitionAlternative(transcript=text)
                results.append(
                    asr.StreamingRecognitionResult(
                        alternatives=[alternative], stability=0.1, audio_processed=listener.position / listener.rate
                    )
                )
            yield asr.StreamingRecognizeResponse(results=window.take(results) if window else results)
        last = listener.finish()
        results = [last] if last else []
        if rest := window.take(results, last=True) if window else results:
            yield asr.StreamingRecognizeResponse(results=rest)

    async def _patiently(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        rest = aiter(requests)
        while True:
            try:
                async with asyncio.timeout(self.idle_s):
                    request = await anext(rest)
            except StopAsyncIteration:
                return
            except TimeoutError:
                await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, f"no audio received for {self.idle_s:g} s")
            yield request

    async def _fail(self, context: Any, at_ms: float) -> None:
        for number, (fault, after_ms) in enumerate(self.faults):
            if at_ms >= after_ms:
                del self.faults[number]
                await _break(context, fault)
                return


async def _break(context: Any, fault: Fault) -> None:
    status = grpc.StatusCode
    if fault == "hang":
        await asyncio.sleep(3600)
    code, text = {
        "die": (status.UNAVAILABLE, "Socket closed"),
        "internal": (status.INTERNAL, "engine fault"),
        "idle": (status.DEADLINE_EXCEEDED, "no audio received for 60 s"),
        "start flag": (
            status.INVALID_ARGUMENT,
            "Error: inference request for sequence 17 to model 'x' must specify the START flag",
        ),
        "trtis": (status.UNKNOWN, "TRTIS response timeout"),
    }[fault]
    await context.abort(code, text)


def chunks(
    call: str, channel: int, pcm: bytes, rate: int = 8000, chunk_ms: int = 100, first: int = 0
) -> Iterable[AudioChunk]:
    """The audio as a source would publish it; `first` is the number of the first chunk."""
    step = 2 * chunk_ms * rate // 1000
    for number, at in enumerate(range(0, len(pcm), step), start=first):
        yield AudioChunk(
            call=call,
            channel=channel,
            seq=number,
            start_ms=number * chunk_ms,
            rate=rate,
            pcm=pcm[at : at + step],
            captured_at=time.time(),
        )
