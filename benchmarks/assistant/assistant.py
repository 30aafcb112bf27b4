"""The assistant in text: how soon it answers, how much a core does, what a conversation costs, 200 of them at once.

    python -m benchmarks assistant

Lines are those of `finetune/data/assistant/frozen.txt`, none of them seen before in a run, said in conversations of
five; the sample shop and the sample weather answer in the same process. One thread. How often the model is right is
measured by `python -m benchmarks assistant_model`.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

import msgspec

from dialog.chat import Chat
from dialog.engine import Engine
from dialog.engine.events import Call as CallAction
from dialog.engine.events import Done, Event, Failed, Heard
from dialog.engine.session import Session
from dialog.flow.loading import check_files
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionCall, ActionFailed
from dialog.understanding.types import Reading, Understander
from finetune.corpus import assistant_corpus
from finetune.evaluate.scores import percentile
from tenor.bus import Bus, Consumer
from tenor.bus.opening import open_bus
from tenor.events import CALLS, TRANSCRIPTS, TURNS, Call, CallState, Transcript, Turn
from tenor.runtime import running
from tenor.runtime.assistant.assistant import Assistant, parsers_of
from tenor.runtime.assistant.stage import AssistantStage
from tenor.runtime.assistant.understanding import understander
from tenor.settings import Settings

NOW = datetime(2026, 11, 18, 10)
TURNS_EACH = 5
CONVERSATIONS, EVERY_S = 200, 10.0
"""At once, with a line from each this often: as fast as people read and type."""
STATES = 1000
MEASURED_SESSIONS = 400
PROCESS = (
    "import asyncio, psutil; from tenor.runtime.assistant.assistant import Assistant;"
    "from tenor.settings import Settings;"
    "chat = Assistant.load(Settings(), provider='sample').chat(); asyncio.run(chat.start());"
    "[asyncio.run(chat.say(line)) for line in ('will it rain in boston', 'how much are jeans')];"
    "print(psutil.Process().memory_info().rss)"
)


class Row(NamedTuple):
    what: str
    figure: str
    target: str = ""
    holds: bool | None = None
    others: str = ""


def main() -> None:
    texts = list(dict.fromkeys(row.text for row in assistant_corpus.frozen()))
    assistant = Assistant.load(Settings(), provider="sample")
    rows = [*answers(assistant, texts), *throughput(assistant, texts), *memory(assistant, texts), *checking()]
    rows += asyncio.run(on_a_bus(texts))
    print_rows(rows)


def print_rows(rows: Iterable[Row]) -> None:
    print(f"\nload {os.getloadavg()[0]:.1f} at the end\n")
    print("| what | figure | target | holds | others publish |\n|---|---|---|---|---|")
    for row in rows:
        holds = "" if row.holds is None else "yes" if row.holds else "NO"
        print(f"| {row.what} | {row.figure} | {row.target} | {holds} | {row.others} |")


def conversations(texts: Sequence[str]) -> Iterable[Sequence[str]]:
    return (texts[at : at + TURNS_EACH] for at in range(0, len(texts), TURNS_EACH))


def answers(assistant: Assistant, texts: Sequence[str]) -> list[Row]:
    """The next line when the last is answered."""
    reads = understander()
    reads.read("warm up")
    model = [_ms(reads, text) for text in texts]
    asyncio.run(_talk(assistant, [["will it rain in denver", "how much is a laptop"]]))
    fresh = Assistant.load(Settings(), provider="sample")
    turns = asyncio.run(_talk(fresh, conversations(texts)))
    took, used = [1000 * elapsed for elapsed, _ in turns], [1000 * processor for _, processor in turns]
    p50, p95 = percentile(took, 0.5), percentile(took, 0.95)
    people = "people accept 800 ms p95 in speech"
    return [
        Row("text in to reply, p50 / p95", f"{p50:.1f} / {p95:.1f} ms", "p95 < 20 ms", p95 < 20, people),
        Row(
            "of that processor time, whatever else the machine does: p50 / p95 / longest",
            f"{percentile(used, 0.5):.1f} / {percentile(used, 0.95):.1f} / {max(used):.0f} ms",
        ),
        Row(
            "model computation of a line, p95 / longest",
            f"{percentile(model, 0.95):.1f} / {max(model):.0f} ms",
            "always < 300 ms",
            max(model) < 300,
            "the white paper's bound",
        ),
    ]


async def _talk(assistant: Assistant, lines: Iterable[Sequence[str]]) -> list[tuple[float, float]]:
    """Seconds of each turn: elapsed, and of the processor."""
    took = []
    for number, said in enumerate(lines):
        chat = assistant.chat(lambda: NOW, f"b{number}")
        await chat.start()
        for text in said:
            before, used = time.perf_counter(), time.process_time()
            await chat.say(text)
            took.append((time.perf_counter() - before, time.process_time() - used))
    return took


class Precomputed:
    """Readings that are there already the second time, so that the engine alone is measured."""

    def __init__(self) -> None:
        self._reads = understander()
        self._readings: dict[str, Reading] = {}

    def read(self, text: str) -> Reading:
        if text not in self._readings:
            self._readings[text] = self._reads.read(text)
        return self._readings[text]


def throughput(assistant: Assistant, texts: Sequence[str]) -> list[Row]:
    flows = assistant.engine.assistant
    engine = Engine(flows, Precomputed(), parsers_of(slot.type for slot in flows.slots.values()))
    results: dict[str, Event] = {}
    asyncio.run(_steps(engine, assistant.runner, results, texts))
    alone = _rate(len(texts), lambda: asyncio.run(_steps(engine, assistant.runner, results, texts)))
    fresh = Assistant.load(Settings(), provider="sample")
    whole = _rate(len(texts), lambda: asyncio.run(_talk(fresh, conversations(texts))))
    return [
        Row("turns per second and core, engine alone", f"{alone:,.0f}", "1,000", alone >= 1000),
        Row("turns per second and core, with the model and the sample shop", f"{whole:.0f}", "100", whole >= 100),
    ]


async def _steps(engine: Engine, runner: ActionRunner, results: dict[str, Event], texts: Sequence[str]) -> None:
    """Conversations without anything around them; what actions came to is remembered for the next time."""
    for number, said in enumerate(conversations(texts)):
        session = engine.start(f"b{number}", NOW).session
        for text in said:
            waiting: list[Event] = [Heard(text)]
            while waiting:
                step = engine.step(session, waiting.pop(0), NOW)
                session = step.session
                for effect in step.effects:
                    if isinstance(effect, CallAction):
                        key = f"{effect.key} {effect.id}"
                        if key not in results:
                            results[key] = await _carried_out(runner, effect)
                        waiting.append(results[key])


async def _carried_out(runner: ActionRunner, call: CallAction) -> Event:
    try:
        found = await runner.run(
            ActionCall(name=call.action, arguments=call.arguments, now=NOW, key=call.key, call="b"),
            timeout_s=call.deadline_ms / 1000,
            retries=call.retries,
            changes="nothing",
        )
    except ActionFailed as failed:
        return Failed(call.id, str(failed), failed.uncertain)
    return Done(call.id, found.result)


def _rate(turns: int, work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return turns / (time.process_time() - before)


def memory(assistant: Assistant, texts: Sequence[str]) -> list[Row]:
    """Of sessions after five turns: as they are kept on the bus, and as objects."""
    sizes, kept = [], list[Session]()
    engine = assistant.engine
    some = list(conversations(texts))
    for number in range(MEASURED_SESSIONS):
        chat = Chat(engine, assistant.runner, lambda: NOW, f"m{number}")
        asyncio.run(_say_all(chat, some[number % len(some)]))
        sizes.append(len(msgspec.json.encode(chat.session)))
        kept.append(chat.session)
    raw = [msgspec.json.encode(one) for one in kept]
    kept.clear()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [msgspec.json.decode(one, type=Session) for one in raw]
    in_process = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    tracemalloc.stop()
    done = subprocess.run([sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, check=True, text=True)
    process = int(done.stdout.split()[-1]) / 1e6
    largest = max(sizes)
    return [
        Row(
            "an idle text session, serialised: p50 / largest",
            f"{percentile(sizes, 0.5) / 1000:.1f} / {largest / 1000:.1f} kB",
            "50 kB",
            largest < 50_000,
        ),
        Row("the same in the process, mean", f"{in_process / 1000:.1f} kB", "50 kB", in_process < 50_000),
        Row(
            "the process with model, shop and a conversation, resident",
            f"{process:.0f} MB",
            "250 MB",
            process < 250,
            "users of others report 400 MB for a worker",
        ),
    ]


async def _say_all(chat: Chat, lines: Iterable[str]) -> None:
    await chat.start()
    for text in lines:
        await chat.say(text)


def checking() -> list[Row]:
    """A thousand states without a mistake, and the same with one in each."""
    took = {}
    with tempfile.TemporaryDirectory(prefix="tenor-") as folder:
        for name, wrong in (("right", False), ("wrong", True)):
            path = Path(folder) / name
            path.mkdir()
            (path / "main_flow.yml").write_text(_flow(wrong), encoding="utf-8")
            before = time.perf_counter()
            report = check_files(path)
            took[name] = time.perf_counter() - before
            placed = {(fault.where.line, fault.where.column) for fault in report.faults}
            assert len(report.faults) >= STATES - 1 if wrong else not report.faults, report.faults[:3]
            assert len(placed) >= STATES - 1 or not wrong
    slowest = max(took.values())
    return [
        Row(
            f"`check` of {STATES:,} states: without mistakes / with one in each",
            f"{took['right']:.2f} / {took['wrong']:.2f} s",
            "< 1 s, each with line and column",
            slowest < 1,
            "Rasa tells the line of the parent",
        )
    ]


def _flow(wrong: bool) -> str:
    states = ["  listen:\n    type: input_context\n"]
    for number in range(STATES - 1):
        after = f"s{number + 1}" if number < STATES - 2 else "listen"
        states.append(
            f"  s{number}:\n    type: message_text\n    properties:\n      text: 'This is number {number}.'\n"
            f"    transitions:\n      next_state: {f'nowhere{number}' if wrong else after}\n"
        )
    return f"name: Large\nintent_transitions:\n  price_check: s0\nstates:\n{''.join(states)}"


async def on_a_bus(texts: Sequence[str]) -> list[Row]:
    """Lines in, turns out, through the stage that is served: at the pace of people, then a line of each at once."""
    with tempfile.TemporaryDirectory(prefix="tenor-") as home:
        settings = Settings(home=Path(home))
        async with (
            open_bus(settings) as bus,
            bus.follower([TURNS]) as follower,
            running(AssistantStage(bus, settings)),
        ):
            talks = Talks(bus, texts)
            watching = asyncio.create_task(talks.watch(follower))
            await talks.open()
            paced = await talks.paced(rounds=3)
            burst = await talks.burst()
            watching.cancel()
    p50, p95 = percentile(paced, 0.5), percentile(paced, 0.95)
    return [
        Row(
            f"{CONVERSATIONS} conversations on the embedded bus, a line every {EVERY_S:.0f} s from each: p50 / p95",
            f"{1000 * p50:.0f} / {1000 * p95:.0f} ms",
        ),
        Row(
            f"the same, a line of all {CONVERSATIONS} in one moment: p50 / p95",
            f"{percentile(burst, 0.5):.2f} / {percentile(burst, 0.95):.2f} s",
        ),
    ]


class Talks:
    def __init__(self, bus: Bus, texts: Sequence[str]) -> None:
        self._bus, self._texts = bus, texts
        self._said = [0] * CONVERSATIONS
        self._answered: dict[tuple[str, int], asyncio.Future[float]] = {}

    async def watch(self, follower: Consumer) -> None:
        while True:
            for record in await follower.poll():
                event = TURNS.decode(record.value)
                if isinstance(event, Turn) and not (waiting := self._waiting(event.call, event.turn)).done():
                    waiting.set_result(time.perf_counter())

    def _waiting(self, call: str, turn: int) -> asyncio.Future[float]:
        return self._answered.setdefault((call, turn), asyncio.get_running_loop().create_future())

    async def open(self) -> None:
        for number in range(CONVERSATIONS):
            info = Call(
                source="page", roles=("caller", "assistant"), started_at=time.time(), medium="chat",
                attributes={"assistant": "retail", "timezone": "UTC"},
            )  # fmt: skip
            await self._bus.publish(CALLS, CallState(call=f"b{number}", state="live", at=time.time(), info=info))
        for number in range(CONVERSATIONS):
            await self._waiting(f"b{number}", 0)

    async def say(self, number: int) -> float:
        """Seconds until the turn is on the bus."""
        self._said[number] += 1
        turn, call = self._said[number], f"b{number}"
        text = self._texts[(number * 7 + turn * 31) % len(self._texts)]
        line = Transcript(
            call=call, channel=0, role="caller", utterance=f"{call}/0/{turn * 1000}", start_ms=turn * 1000,
            end_ms=turn * 1000, text=text, final=True, confidence=1.0,
        )  # fmt: skip
        before = time.perf_counter()
        await self._bus.publish(TRANSCRIPTS, line)
        return await asyncio.wait_for(self._waiting(call, turn), 60) - before

    async def paced(self, rounds: int) -> list[float]:
        async def one(number: int) -> list[float]:
            await asyncio.sleep(EVERY_S * number / CONVERSATIONS)
            took = []
            for _ in range(rounds):
                took.append(await self.say(number))
                await asyncio.sleep(max(0.0, EVERY_S - took[-1]))
            return took

        return [took for many in await asyncio.gather(*map(one, range(CONVERSATIONS))) for took in many]

    async def burst(self) -> list[float]:
        return list(await asyncio.gather(*map(self.say, range(CONVERSATIONS))))


def _ms(reads: Understander, text: str) -> float:
    before = time.perf_counter()
    reads.read(text)
    return 1000 * (time.perf_counter() - before)


if __name__ == "__main__":
    main()
