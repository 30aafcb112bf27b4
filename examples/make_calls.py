"""The sample calls, made from their scripts: `python examples/make_calls.py [NAME ...] [--check]`.

A script (examples/calls/NAME.yaml) names a voice for each speaker and lists the turns. `pause` is the
time between the end of what was said so far and the turn, in seconds; a negative one talks over the
end. `say` is how a text is to be spoken where the synthesizer would get it wrong.

Needs flite (Debian: apt-get install flite) and ttspico (pip install 'tenor[voice]'). `--check` has the
recogniser that comes with Tenor read the calls and shows its word error rate against the scripts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt
import soundfile

CALLS = Path(__file__).parent / "calls"
RATE = 16_000
SPEAKERS = ("caller", "agent")
"""Left and right."""
BAND_HZ = (150, 6800)
"""What a wideband telephone (G.722) lets through, about."""
LEVEL = 0.08
"""Loudness of speech (RMS), 1.0 being full scale."""
NOISE = 0.0004
"""Loudness of the line's hiss: 46 dB under the speech."""
AFTER_S = 0.8
"""Silence after the last word."""

Signal = npt.NDArray[np.float64]


class Turn(msgspec.Struct, frozen=True):
    speaker: Literal["caller", "agent"]
    text: str
    pause: float
    say: str = ""


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    queue: str
    agent: str
    site: str
    customer: str
    voices: dict[str, str]
    turns: list[Turn]

    def text(self, speaker: str) -> str:
        return " ".join(turn.text for turn in self.turns if turn.speaker == speaker)


def read(name: str) -> Script:
    return msgspec.yaml.decode((CALLS / f"{name}.yaml").read_bytes(), type=Script)


def speak(voice: str, text: str) -> Signal:
    """`voice` is `flite:NAME` or `pico:LANGUAGE`."""
    synthesizer, name = voice.split(":")
    samples = {"flite": with_flite, "pico": with_pico}[synthesizer](name, text)
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    samples = samples[loud[0] : loud[-1] + RATE // 20]  # the synthesizer's own silence is not in the script
    voiced = samples[np.abs(samples) > 0.02]
    louder: Signal = samples * (LEVEL / np.sqrt(np.mean(voiced**2)))
    return louder.clip(-0.9, 0.9)


def with_flite(voice: str, text: str) -> Signal:
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", file.name], check=True)
        samples, rate = soundfile.read(file.name)
    assert rate == RATE, f"flite's {voice} speaks at {rate} Hz"
    return np.asarray(samples, dtype=np.float64)


def with_pico(language: str, text: str) -> Signal:
    import ttspico

    return np.frombuffer(ttspico.TtsEngine(language).speak(text), dtype=np.int16) / 32768


def perform(script: Script) -> Signal:
    """Both channels of the call, before the telephone."""
    placed: list[tuple[int, int, Signal]] = []
    end = 0
    for turn in script.turns:
        voice = speak(script.voices[turn.speaker], turn.say or turn.text)
        begin = max(0, end + round(turn.pause * RATE))
        placed.append((SPEAKERS.index(turn.speaker), begin, voice))
        end = max(end, begin + len(voice))
    call = np.zeros((end + round(AFTER_S * RATE), len(SPEAKERS)))
    for channel, begin, voice in placed:
        call[begin : begin + len(voice), channel] += voice
    return call


def telephone(call: Signal, seed: int) -> Signal:
    """Band-pass and a little hiss, different on each side."""
    spectrum = np.fft.rfft(call, axis=0)
    hertz = np.fft.rfftfreq(len(call), 1 / RATE)
    low, high = BAND_HZ
    gain = 1 / np.sqrt(1 + (low / np.maximum(hertz, 1)) ** 8) / np.sqrt(1 + (hertz / high) ** 16)
    heard = np.fft.irfft(spectrum * gain[:, None], len(call), axis=0)
    return heard + np.random.default_rng(seed).standard_normal(call.shape) * NOISE


def make(name: str) -> None:
    path = CALLS / f"{name}.ogg"
    # The seed is the name's, so that a call that is made again sounds the same.
    call = telephone(perform(read(name)), zlib.crc32(name.encode()))
    soundfile.write(path, call, RATE, format="OGG", subtype="VORBIS", compression_level=0.7)
    print(f"{path.name}: {len(call) / RATE:.0f} s, {path.stat().st_size / 1024:.0f} KB")


def check(names: list[str]) -> None:
    """Let the recogniser read every channel, and compare."""
    import jiwer
    from whisper_normalizer.english import EnglishTextNormalizer

    calls = [str(CALLS / f"{name}.ogg") for name in names]
    printed = subprocess.run(["tenor", "transcribe", "--json", *calls], check=True, text=True, stdout=subprocess.PIPE)
    plain = EnglishTextNormalizer()
    said, heard = [], []
    for name, line in zip(names, printed.stdout.splitlines(), strict=True):
        script, utterances = read(name), json.loads(line)["utterances"]
        for channel, speaker in enumerate(SPEAKERS):
            text = " ".join(utterance["text"] for utterance in utterances if utterance["channel"] == channel)
            said.append(plain(script.text(speaker)))
            heard.append(plain(text))
            print(f"{name} {speaker}: {jiwer.wer(said[-1], heard[-1]):.1%}\n    {text}")
    print(f"all: {jiwer.wer(said, heard):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="calls to make; none: all")
    parser.add_argument("--check", action="store_true", help="only have the recogniser read what is there")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.stem for path in CALLS.glob("*.yaml"))
    if arguments.check:
        check(names)
        return
    for name in names:
        make(name)


if __name__ == "__main__":
    main()
