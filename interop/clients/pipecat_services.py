"""Pipecat with its NVIDIA services, in pipelines of their own."""

import asyncio
import json
import sys
import wave

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.nvidia.stt import NvidiaSTTService
from pipecat.services.nvidia.tts import NvidiaTTSService
from pipecat.workers.runner import WorkerRunner

RATE = 16000


class Collector(FrameProcessor):
    """Keeps what reaches the end of the pipeline, and says when the frame that matters has come."""

    def __init__(self, awaited: type[Frame]) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self.came = asyncio.Event()
        self._awaited = awaited

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.frames.append(frame)
        if isinstance(frame, self._awaited):
            self.came.set()
        await self.push_frame(frame, direction)


async def run(service: FrameProcessor, frames: list[Frame], awaited: type[Frame]) -> list[Frame]:
    collector = Collector(awaited)
    worker = PipelineWorker(
        Pipeline([service, collector]),
        params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
    )

    async def feed() -> None:
        await worker.queue_frames(frames)
        await asyncio.wait_for(collector.came.wait(), 60)
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), feed())
    return collector.frames


async def main(server: str, recording: str) -> None:
    with wave.open(recording) as file:
        audio = file.readframes(file.getnframes())
    step = RATE // 50 * 2
    chunks = [InputAudioRawFrame(audio[start : start + step], RATE, 1) for start in range(0, len(audio), step)]
    heard = await run(NvidiaSTTService(server=server, use_ssl=False), chunks, TranscriptionFrame)
    transcript = "".join(frame.text for frame in heard if isinstance(frame, TranscriptionFrame))
    voice = NvidiaTTSService(server=server, use_ssl=False)
    said = await run(voice, [TTSSpeakFrame("Thank you for calling. How can I help you?")], TTSStoppedFrame)
    spoken = sum(len(frame.audio) for frame in said if isinstance(frame, TTSAudioRawFrame))
    print(json.dumps({"transcript": transcript, "speech_s": spoken / 2 / RATE}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
