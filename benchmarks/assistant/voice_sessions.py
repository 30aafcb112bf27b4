"""How many telephone calls the assistant answers per core, where the recogniser and the voice run elsewhere.

    python -m benchmarks voice_sessions

    Twilio simulator <--> gateway, asr and assistant in one process <--> speech server (a process of its own)
     8 kHz, real time                  measured                          answers at once, no model

Every call asks a question, hears the answer to its end, and asks the next one. What counts is the processor time of the
measured process per second of a call: one core holds as many calls as that goes into a second.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Any

import grpc
import numpy as np
import psutil
from riva.client.proto import riva_asr_pb2 as asr
from riva.client.proto import riva_asr_pb2_grpc as asr_grpc
from riva.client.proto import riva_tts_pb2_grpc as tts_grpc

from benchmarks.assistant.assistant import Row, print_rows
from benchmarks.assistant.voice import FRAME, QUESTIONS, RATE, Caller
from benchmarks.services import free_port, tenor, wait_for
from tenor.layers import load
from tests.ingest.gateway.simulators.synthesis import ScriptedSynthesis
from tests.ingest.gateway.simulators.tones import tone

CALLS = 12
MEASURED_S = 60.0
GREETED_S = 15.0
"""By then every call has been greeted."""
QUESTION_S = 2.0
PAUSE_S = 1.0
"""Between an answer and the next question."""
STOP_MS = 500
"""Silence after which an utterance is over."""
GOAL = 25


class Recogniser(asr_grpc.RivaSpeechRecognitionServicer):  # type: ignore[misc]
    """Hears any sound as the next question: interims while it lasts, a final when it is over."""

    def __init__(self) -> None:
        self._questions = itertools.cycle(QUESTIONS)

    async def GetRivaSpeechRecognitionConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        answer = asr.RivaSpeechRecognitionConfigResponse()
        model = answer.model_config.add(model_name="scripted-en-US-asr-online")
        model.parameters.update({"type": "online", "language_code": "en-US"})
        return answer

    async def StreamingRecognize(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:  # noqa: N802
        rate, heard, began, quiet = RATE, 0, -1, 0
        async for request in requests:
            if request.HasField("streaming_config"):
                rate = request.streaming_config.config.sample_rate_hertz
                continue
            samples = np.frombuffer(request.audio_content, np.int16)
            if samples.any():
                began, quiet = (heard if began < 0 else began), 0
            elif began >= 0:
                quiet += len(samples)
            heard += len(samples)
            if began < 0:
                continue
            final = quiet * 1000 >= STOP_MS * rate
            words = next(self._questions).split() if final else ["hello"]
            yield asr.StreamingRecognizeResponse(results=[_result(words, began, heard - quiet, heard, rate, final)])
            if final:
                began, quiet = -1, 0


def _result(words: list[str], began: int, ended: int, heard: int, rate: int, final: bool) -> Any:
    alternative = asr.SpeechRecognitionAlternative(transcript=" ".join(words), confidence=0.9)
    if final:
        edges = np.linspace(began * 1000 // rate, ended * 1000 // rate, len(words) + 1).astype(int).tolist()
        for word, start, end in zip(words, edges, edges[1:], strict=False):
            alternative.words.add(word=word, start_time=start, end_time=end, confidence=0.9)
    return asr.StreamingRecognitionResult(
        alternatives=[alternative], is_final=final, stability=0.9, channel_tag=1, audio_processed=heard / rate
    )


def _serve_speech(told: Connection) -> None:
    async def serve() -> None:
        server = grpc.aio.server()
        asr_grpc.add_RivaSpeechRecognitionServicer_to_server(Recogniser(), server)
        tts_grpc.add_RivaSpeechSynthesisServicer_to_server(ScriptedSynthesis(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        told.send(f"127.0.0.1:{port}")
        await server.wait_for_termination()

    asyncio.run(serve())


@contextmanager
def speech_server() -> Iterator[str]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve_speech, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, speech_server() as address:
        gateway = {"gateway.port": free_port(), "gateway.audiosocket_port": free_port(), "gateway.insecure": True}
        values = {"home": folder, "speech.address": address, "gateway.assistant": '{"*": "retail"}', **gateway}
        settings = load(values, environment={}).settings
        flags = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        with tenor(*flags, "-q", "serve", "gateway", "asr", "assistant") as process:
            wait_for(f"http://127.0.0.1:{settings.gateway.port}/health", process)
            print_rows(asyncio.run(measure(settings.gateway.port, process)))


async def measure(port: int, process: psutil.Process) -> list[Row]:
    idle = await _used(process, MEASURED_S / 6)
    async with AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(Caller(port, f"talk-{number}")) for number in range(CALLS)]
        talking = [asyncio.create_task(_talk(caller, number)) for number, caller in enumerate(callers)]
        await asyncio.sleep(GREETED_S)
        before = [caller.heard_s for caller in callers]
        used = await _used(process, MEASURED_S)
        spoken = [caller.heard_s - heard for caller, heard in zip(callers, before, strict=True)]
        for task in talking:
            if task.done():
                task.result()  # tells why
            task.cancel()
    each = used / CALLS
    return [
        Row(
            "voice sessions per core, recogniser elsewhere", f"{1 / each:.0f}", f"{GOAL}", 1 / each >= GOAL,
            "LiveKit 6 to 7.5",
        ),
        Row(f"processor time per second of a call, of {CALLS} at once", f"{1000 * each:.1f} ms"),
        Row("the same without any call", f"{1000 * idle:.1f} ms"),
        Row("of a call the assistant speaks", f"{sum(spoken) / CALLS / MEASURED_S:.0%}"),
    ]  # fmt: skip


async def _used(process: psutil.Process, seconds: float) -> float:
    """Processor seconds per second."""
    loop = asyncio.get_running_loop()
    before, began = sum(process.cpu_times()[:2]), loop.time()
    await asyncio.sleep(seconds)
    return float(sum(process.cpu_times()[:2]) - before) / (loop.time() - began)


async def _talk(caller: Caller, number: int) -> None:
    speech = tone(300, QUESTION_S, RATE)
    speech = speech[: len(speech) - len(speech) % FRAME]
    await asyncio.sleep(number * 0.37)  # not all in the same moment
    while True:
        before = caller.heard_s
        await caller.say(speech)
        while caller.heard_s == before:  # noqa: ASYNC110 -- the simulator tells no event
            await asyncio.sleep(0.05)
        await caller.quiet()
        await asyncio.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
