"""Does the assistant hear words where nobody speaks? Its recogniser is told what shoppers are likely to ask before it
decodes, and could say it back.

    python -m benchmarks noise

    sounds --telephone (8 kHz, mu-law) or browser (16 kHz)--> stream of `tenor riva`, told and not told --> words

The sounds are made here, from a seed, each at three levels.
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import soxr
from whisper_normalizer.english import EnglishTextNormalizer

from asr.local.api.recognition_config import read_config
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions
from asr.riva.client import ExpectedPhrases, recognition_config
from finetune.train.whisper.sound import Noise
from tenor.g711 import Samples, decode_ulaw, encode_ulaw
from tenor.runtime.assistant.expected_phrases import expected_phrases
from tenor.settings import Settings

RATE, TELEPHONE = 16_000, 8000
SECONDS = 20
LEVELS = (12_000, 4000, 800)
"""Peaks of 16-bit samples: loud, as speech is, and faint."""
normalise = EnglishTextNormalizer()
Signal = Any


def sounds() -> dict[str, Signal]:
    """Without speech, between -1 and 1."""
    time, random = np.arange(SECONDS * RATE) / RATE, np.random.default_rng(1)

    def sine(hertz: Any) -> Signal:
        return np.sin(2 * np.pi * np.cumsum(np.broadcast_to(hertz, time.shape)) / RATE)

    def notes(count: int, base: float) -> Signal:
        drawn = base * 2 ** (random.choice([0, 2, 4, 5, 7, 9, 11, 12], count) / 12)
        return np.repeat(drawn, -(-len(time) // count))[: len(time)]

    def bursts(seconds: float, every: float) -> Signal:
        return np.exp(-((time % every) / seconds))

    def noise() -> Signal:
        return random.normal(0, 0.3, len(time))

    melody = notes(40, 220)
    chords = notes(10, 110)
    voice = melody * (1 + 0.01 * np.sin(2 * np.pi * 5.5 * time))
    pink = Noise(-40, seed=2).add((3000 * sine(50)).astype(np.int16)) / 32768
    made = {
        "silence": np.zeros(len(time)),
        "hum": sine(50) + sine(150) / 3 + sine(250) / 5,
        "hum and noise": Noise(0, seed=2).add((3000 * sine(60)).astype(np.int16)) / 32768,
        "noise of a room": pink,
        "music: a melody": sum(sine(melody * over) / over for over in (1, 2, 3)) * bursts(0.2, 0.5),
        "music: chords": sum(sine(chords * tone) for tone in (1, 1.25, 1.5, 2)),
        "music: chords and drums": sum(sine(chords * tone) for tone in (1, 1.2, 1.5)) + 4 * noise() * bursts(0.05, 0.5),
        "music: humming": sum(sine(voice * over) / over for over in range(1, 9))
        * (0.6 + 0.4 * np.sin(2 * np.pi * time)),
        "ringing": (sine(440) + sine(480)) * ((time % 6) < 2),
        "ringing, European": sine(425) * ((time % 5) < 1),
        "engaged tone": (sine(480) + sine(620)) * ((time % 1) < 0.5),
        "keys": (sine(770) + sine(1336)) * ((time % 0.7) < 0.12),
        "coughs and knocks": noise() * bursts(0.06, 1.3),
        "breath": noise() * np.maximum(0, np.sin(2 * np.pi * time / 3)) ** 2,
    }
    return {name: sound / max(1e-9, np.abs(sound).max()) for name, sound in made.items()}


def heard(sound: Signal, level: int, line: str) -> Samples:
    """As the recogniser gets it."""
    whole: Samples = (sound * level).astype(np.int16)
    if line == "browser":
        return whole
    low = soxr.resample(whole.astype(np.float32), RATE, TELEPHONE).clip(-32768, 32767).astype(np.int16)
    return decode_ulaw(encode_ulaw(low)).astype(np.int16)


def options(recognizer: LocalRecognizer, settings: Settings, rate: int, told: bool) -> RecognitionOptions:
    phrases = [ExpectedPhrases(expected_phrases(settings), settings.assistant.boost)] if told else []
    config = recognition_config(settings.speech, rate, settings.speech.language, phrases)
    return read_config(config, "online", recognizer.engines, interim=False).with_rate(rate)


async def streamed(recognizer: LocalRecognizer, wanted: RecognitionOptions, samples: Samples) -> list[str]:
    stream, results = recognizer.open_stream(wanted), []
    try:
        for at in range(0, len(samples), wanted.rate // 50):
            results += await stream.feed(samples[at : at + wanted.rate // 50])
        results += await stream.finish()
    finally:
        stream.close()
    return [one.alternatives[0].text for one in results if one.final and one.alternatives]


async def measure() -> None:
    settings = Settings()
    recognizer = LocalRecognizer(settings.riva)
    everything = sounds()
    minutes = len(everything) * len(LEVELS) * SECONDS / 60
    for line, rate in (("telephone", TELEPHONE), ("browser", RATE)):
        for told in (False, True):
            wanted = options(recognizer, settings, rate, told)
            words = 0
            for name, sound in everything.items():
                for level in LEVELS:
                    found = await streamed(recognizer, wanted, heard(sound, level, line))
                    words += sum(len(normalise(text).split()) for text in found)
                    if found:
                        print(f"  {name} at {level}: {found}", flush=True)
            how = "told what is likely" if told else "not told"
            print(f"{line}, {how}: {words} words in {minutes:.0f} minutes without speech", flush=True)
    recognizer.close()


def main() -> None:
    asyncio.run(measure())


if __name__ == "__main__":
    main()
