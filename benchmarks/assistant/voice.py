"""The assistant on the telephone: a dozen questions by synthetic voices, how soon it answers, how fast it falls silent.

    python -m benchmarks voice

    Twilio simulator <--> gateway --> bus --> asr --> tenor riva (a process of its own)
     8 kHz, real time        ^--- turns ---- assistant

Every question is a call of its own, in real time, two calls at once. It is right if the assistant calls the actions
that it calls for the same question typed, with the same arguments. Voices are Pico's, American and British, and those
of flite and espeak-ng where they are installed.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import soxr

from asr.local.tts.voices import Voice, find_voice
from benchmarks.assistant.assistant import Row, print_rows
from benchmarks.pipeline.memory import megabytes
from benchmarks.services import free_port, percentile, riva, tenor, wait_for
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.errors import BadInput
from tenor.events import TURNS, Turn, TurnSpoken
from tenor.g711 import Samples
from tenor.layers import load
from tenor.runtime.assistant.assistant import Assistant
from tenor.settings import Settings
from tests.ingest.gateway.simulators.twilio import TwilioCaller

QUESTIONS = (
    "will it rain next week in los angeles",
    "show me the jeans with the lowest price",
    "where can i get the best pasta in boston",
    "what is the temperature in boston tomorrow",
    "how much does a laptop cost",
    "where is the nearest supermarket in seattle",
    "do you have milk in stock",
    "find the highest rated sushi restaurant in chicago",
    "will it snow this weekend in denver",
    "how humid is it in miami today",
    "how much are two pounds of apples",
    "do you have the blue jacket in size large",
)
"""The white paper's, and others of the kinds that it names."""
LEAST_RIGHT = 11
AT_ONCE = 2
RATE, FRAME = 8000, 160
LEVEL = 3000
"""Loudness of a caller (RMS of 16-bit samples)."""
PATIENCE_S = 20.0
INTERRUPTIONS = 6
SESSIONS, MEASURED_S = 40, 12.0
"""Open voice calls whose memory is measured, and after how long."""
LONG_QUESTION = "will it rain next week in los angeles"


class SpeakingVoice(NamedTuple):
    name: str
    voice: Voice
    language: str

    def say(self, text: str) -> Samples:
        """The text as a telephone carries it, from its first sound to its last."""
        spoken = self.voice.synthesize(text, self.language).astype(np.float32)
        low = soxr.resample(spoken, self.voice.rate, RATE)
        sounding = np.flatnonzero(np.abs(low) > 0.02 * np.abs(low).max())
        low = low[sounding[0] : sounding[-1] + 1]
        samples = np.asarray((low * LEVEL / np.sqrt(np.mean(low**2))).clip(-32768, 32767), np.int16)
        return np.pad(samples, (-len(samples) % FRAME, 0))


@dataclass
class SpokenQuestion:
    question: str
    recognised: str = ""
    actions: tuple[tuple[str, Any], ...] = ()
    right: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


def main() -> None:
    speakers = voices()
    with tempfile.TemporaryDirectory() as folder, riva() as (address, _):
        gateway = {"gateway.port": free_port(), "gateway.audiosocket_port": free_port(), "gateway.insecure": True}
        values = {"home": folder, "speech.address": address, "gateway.assistant": '{"*": "retail"}', **gateway}
        settings = load(values, environment={}).settings
        flags = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        with tenor(*flags, "-q", "serve", "gateway") as process, tenor(*flags, "-q", "serve", "asr", "assistant"):
            wait_for(f"http://127.0.0.1:{settings.gateway.port}/health", process)
            rows = asyncio.run(measure(settings, speakers))
            rows += asyncio.run(memory(settings, process))
    print_rows(rows)


def voices() -> list[SpeakingVoice]:
    found = []
    for name, languages in {"ttspico": ("en-US", "en-GB"), "flite": ("en-US",), "espeak-ng": ("en-US",)}.items():
        try:
            voice = find_voice(name)
        except BadInput:
            continue
        if voice is not None:
            found += [SpeakingVoice(f"{name} {language}", voice, language) for language in languages]
    return found


async def measure(settings: Settings, speakers: Sequence[SpeakingVoice]) -> list[Row]:
    typed = await typed_actions()
    rows, spoken = [], list[SpokenQuestion]()
    async with open_bus(settings) as bus:
        await ask(bus, settings, speakers[0].say("how much is milk"), "warm-up")
        for number, speaker in enumerate(speakers):
            asked = await ask_all(bus, settings, speaker, f"v{number}")
            for one in asked:
                one.right = one.actions == typed[one.question]
                if not one.right:
                    print(f"{speaker.name}: {one.question!r} heard as {one.recognised!r}: {one.actions}", flush=True)
            right = sum(one.right for one in asked)
            what = f"{speaker.name}: the same actions as typed"
            wanted = f"{LEAST_RIGHT} of {len(QUESTIONS)}"
            rows.append(Row(what, f"{right} of {len(asked)}", wanted, right >= LEAST_RIGHT))
            spoken += asked
        silenced = await interruptions(settings, speakers[0])
    return [*rows, *latencies(spoken, silenced)]


def latencies(spoken: Sequence[SpokenQuestion], silenced: Sequence[float]) -> list[Row]:
    answered = [one.seconds["speech"] for one in spoken if "speech" in one.seconds]
    told = [one.seconds["final"] for one in spoken if "final" in one.seconds]
    p50, p95 = percentile(answered, 0.5), percentile(answered, 0.95)
    final, silence = percentile(told, 0.95), percentile(list(silenced), 0.95)
    return [
        Row(
            f"end of speech to first audio, {AT_ONCE} calls, p50 / p95", f"{p50:.2f} / {p95:.2f} s",
            "0.7 / 1.1 s", p50 < 0.7 and p95 < 1.1, "LiveKit users measured 1.4 / 3.4 s",
        ),
        Row(
            "final transcript to first audio, p50 / p95",
            f"{1000 * percentile(told, 0.5):.0f} / {1000 * final:.0f} ms", "p95 150 ms", final < 0.15,
        ),
        Row(
            "speech over playback to silence sent, p50 / p95",
            f"{1000 * percentile(list(silenced), 0.5):.0f} / {1000 * silence:.0f} ms", "p95 300 ms", silence < 0.3,
            "LiveKit waits 500 ms",
        ),
    ]  # fmt: skip


async def typed_actions() -> Mapping[str, tuple[tuple[str, Any], ...]]:
    assistant = Assistant.load(Settings(), provider="sample")
    found = {}
    for question in QUESTIONS:
        chat = assistant.chat()
        await chat.start()
        found[question] = tuple((done.name, _comparable(done.arguments)) for done in (await chat.say(question)).actions)
    return found


async def ask_all(bus: Bus, settings: Settings, speaker: SpeakingVoice, label: str) -> list[SpokenQuestion]:
    waiting = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, question: str) -> SpokenQuestion:
        async with waiting:
            asked = await ask(bus, settings, speaker.say(question), f"{label}-{number}")
            asked.question = question
            return asked

    return list(await asyncio.gather(*(one(number, text) for number, text in enumerate(QUESTIONS))))


class Caller(TwilioCaller):
    """Sends a frame every 20 ms, as a telephone does: silence, unless there is something to say."""

    def __init__(self, port: int, call_sid: str) -> None:
        super().__init__(port, call_sid)
        self._line: deque[Samples] = deque()
        self._silent = asyncio.Event()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._tasks.append(asyncio.create_task(self._send()))
        return self

    async def say(self, speech: Samples) -> tuple[float, float]:
        """When its first sound was sent, and its last."""
        self._silent.clear()
        began = asyncio.get_running_loop().time()
        self._line += np.split(speech, len(speech) // FRAME)
        await self._silent.wait()
        return began, asyncio.get_running_loop().time()

    async def quiet(self) -> None:
        """Until what was sent to us has been played."""
        heard = -1.0
        while heard != self.heard_s:
            heard = self.heard_s
            await asyncio.sleep(0.3)

    async def _send(self) -> None:
        loop = asyncio.get_running_loop()
        due, silence = loop.time(), np.zeros(FRAME, np.int16)
        while True:
            for message in self.frames("inbound", self._line.popleft() if self._line else silence):
                await self.send(message)
            if not self._line:
                self._silent.set()
            due += 0.02
            await asyncio.sleep(max(0.0, due - loop.time()))


async def ask(bus: Bus, settings: Settings, speech: Samples, sid: str) -> SpokenQuestion:
    """A call that asks one question, after the greeting."""
    call, asked = f"twilio-{sid}", SpokenQuestion("")
    async with bus.follower([TURNS]) as follower, Caller(settings.gateway.port, sid) as caller:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await _events(follower, call, lambda event: isinstance(event, TurnSpoken))
                await caller.quiet()
            before = len(caller.frames_at)
            _, ended = await caller.say(speech)
            ended_at = time.time()
            async with asyncio.timeout(PATIENCE_S):
                turn = await _events(follower, call, lambda event: isinstance(event, Turn) and event.event == "heard")
                assert isinstance(turn, Turn)
                asked.recognised = turn.input
                asked.actions = tuple((done.name, _comparable(done.arguments)) for done in turn.actions)
                while len(caller.frames_at) == before:  # noqa: ASYNC110 -- the simulator tells no event
                    await asyncio.sleep(0.005)
            asked.seconds["speech"] = caller.frames_at[before] - ended
            asked.seconds["final"] = asked.seconds["speech"] - (turn.at - ended_at)
        except TimeoutError:
            print(f"{call}: no answer to {asked.recognised!r}", flush=True)
        await caller.stop()
    return asked


async def interruptions(settings: Settings, speaker: SpeakingVoice) -> list[float]:
    """Seconds from the first sound over the greeting until what waits to be played is cleared."""
    took = []
    speech = speaker.say(LONG_QUESTION)
    for number in range(INTERRUPTIONS):
        async with Caller(settings.gateway.port, f"over-{number}") as caller, asyncio.timeout(2 * PATIENCE_S):
            while caller.heard_s < 0.5:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            began, _ = await caller.say(speech)
            if caller.cleared_at:
                took.append(caller.cleared_at[0] - began)
            await caller.stop()
    return took


async def memory(settings: Settings, gateway: Any) -> list[Row]:
    """What the gateway's process takes for a call that the assistant answers, with its audio flowing."""
    before = megabytes(gateway)
    callers = [Caller(settings.gateway.port, f"open-{number}") for number in range(SESSIONS)]
    try:
        for caller in callers:
            await caller.__aenter__()
        await asyncio.sleep(MEASURED_S)
        after = megabytes(gateway)
    finally:
        for caller in callers:
            await caller.__aexit__()
    each = (after - before) / SESSIONS
    return [
        Row(f"memory of a voice session, of {SESSIONS} in the gateway", f"{each:.2f} MB", "1 MB", each < 1),
        Row("memory of the gateway's process before", f"{before:.0f} MB", "250 MB", before < 250),
    ]


async def _events(follower: Any, call: str, wanted: Any) -> object:
    """The first wanted event of the call."""
    while True:
        for record in await follower.poll(timeout_s=0.2):
            if record.key == call:
                event = TURNS.decode(record.value)
                if wanted(event):
                    return event


def _comparable(arguments: Mapping[str, Any]) -> Any:
    """Without the words of a time, of which only its days count, and without capitals, which nobody speaks."""
    return {name: _comparable_value(value) for name, value in arguments.items()}


def _comparable_value(value: Any) -> Any:
    if isinstance(value, Mapping) and "from" in value:
        return {"from": value["from"], "to": value["to"]}
    return value.lower() if isinstance(value, str) else value


if __name__ == "__main__":
    main()
