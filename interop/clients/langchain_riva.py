"""LangChain's runnables for Riva: one that hears a stream of audio, one that speaks a text."""

import json
import sys
import wave

from langchain_community.utilities.nvidia_riva import AudioStream, RivaASR, RivaTTS

RATE = 16000
TEXT = "Thank you for calling. How can I help you?"


def main(server: str, recording: str) -> None:
    url = f"http://{server}"
    with wave.open(recording) as file:
        audio = file.readframes(file.getnframes())
    hearing, stream, heard = RivaASR(url=url, sample_rate_hertz=RATE), AudioStream(), []
    step = RATE // 50 * 2
    for start in range(0, len(audio), step):
        stream.put(audio[start : start + step])
    stream.close()
    while not stream.complete:
        heard.append(hearing.invoke(stream))
    spoken = RivaTTS(url=url, sample_rate_hertz=RATE).invoke(TEXT)
    print(json.dumps({"transcript": " ".join(heard), "speech_s": len(spoken) / 2 / RATE}))


if __name__ == "__main__":
    main(*sys.argv[1:])
