"""LiveKit Agents with its NVIDIA plug-in."""

import asyncio
import json
import sys
import wave

from livekit import rtc
from livekit.agents import stt
from livekit.plugins import nvidia


async def transcribe(server: str, recording: str) -> str:
    with wave.open(recording) as file:
        rate, audio = file.getframerate(), file.readframes(file.getnframes())
    stream = nvidia.STT(server=server, use_ssl=False, sample_rate=rate).stream()
    step = rate // 10 * 2
    for start in range(0, len(audio), step):
        chunk = audio[start : start + step]
        stream.push_frame(rtc.AudioFrame(chunk, rate, 1, len(chunk) // 2))
    stream.end_input()
    finals = []
    interims = 0
    async for event in stream:
        if event.type is stt.SpeechEventType.FINAL_TRANSCRIPT:
            finals.append(event.alternatives[0].text)
        interims += event.type is stt.SpeechEventType.INTERIM_TRANSCRIPT
    assert interims
    return "".join(finals)


async def speak(server: str) -> float:
    stream = nvidia.TTS(server=server, use_ssl=False).stream()
    stream.push_text("Thank you for calling. How can I help you?")
    stream.end_input()
    return sum([event.frame.duration async for event in stream])


async def main(server: str, recording: str) -> None:
    transcript = await transcribe(server, recording)
    print(json.dumps({"transcript": transcript, "speech_s": await speak(server)}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
