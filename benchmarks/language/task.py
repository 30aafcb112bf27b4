"""What a call was about, found from recorded audio: Harper Valley's dev recordings, as our recogniser hears them.

    python -m benchmarks.language.task [--data FOLDER] [--heard FILE]

The recordings go through `tenor transcribe`, and what it hears through the language stage on a bus, as in a live call;
the task of each call's last figures is compared with the one its callers were given. `--heard` names the output of an
earlier `tenor transcribe --json` of the same recordings. The model was trained on other calls of the set, as text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.services import DATA
from finetune.corpus import harper_valley
from nlp.worker import NlpWorker
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, TRANSCRIPTS, Call, CallMetrics, CallState, Transcript, Word
from tenor.runtime import running
from tenor.settings import Settings

WANTED = 0.85


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public sets")
    parser.add_argument("--heard", type=Path, help="output of `tenor transcribe --json` of the recordings")
    options, _ = parser.parse_known_args()
    right = {call.id: call.task for call in harper_valley.calls(options.data, "dev-audio")}
    audio = options.data / "harper-valley" / "dev" / "audio"
    lines = options.heard.read_text().splitlines() if options.heard else transcribed(sorted(audio.glob("*.flac")))
    documents = {Path(document["call"]["file"]).stem: document for document in map(json.loads, lines)}
    began = time.process_time()
    found = asyncio.run(tasks(documents))
    used = time.process_time() - began
    wrong = {call: task for call, task in found.items() if task != right[call]}
    for call, task in sorted(wrong.items()):
        print(f"{call}: {task}, but it was {right[call]}")
    share = 1 - len(wrong) / len(found)
    print(f"task of a call found from audio in {len(found) - len(wrong)} of {len(found)}: {100 * share:.1f} %", end="")
    print(f"  (at least {100 * WANTED:.0f} %: {'yes' if share >= WANTED else 'NO'})")
    sentences = sum(len(document["utterances"]) for document in documents.values())
    print(f"{sentences} utterances through the language stage in {used:.1f} s of processor time")


def transcribed(recordings: Iterable[Path]) -> list[str]:
    command = [sys.executable, "-m", "tenor", "transcribe", "--json", *map(str, recordings)]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()


async def tasks(documents: dict[str, Any]) -> dict[str, str]:
    """The task of each call, as the language stage tells it in the end."""
    with tempfile.TemporaryDirectory(prefix="tenor-") as home:
        settings = Settings(home=Path(home))
        async with (
            open_bus(settings) as bus,
            bus.follower([CALLS]) as follower,
            running(NlpWorker(bus, settings)),
        ):
            for call, document in documents.items():
                await feed(bus, call, document)
            found: dict[str, str] = {}
            while len(found) < len(documents):
                for record in await follower.poll():
                    event = CALLS.decode(record.value)
                    if isinstance(event, CallMetrics) and event.final:
                        found[event.call] = event.task
            return found


async def feed(bus: Bus, call: str, document: dict[str, Any]) -> None:
    info = Call(source="file", roles=tuple(document["call"]["roles"]), started_at=document["call"]["started_at"])
    await bus.publish(CALLS, CallState(call=call, state="live", at=time.time(), info=info))
    await bus.publish_many(TRANSCRIPTS, finals(call, document["utterances"]))
    await bus.publish(CALLS, CallState(call=call, state="ended", at=time.time()))


def finals(call: str, utterances: Iterable[dict[str, Any]]) -> Iterator[Transcript]:
    for one in sorted(utterances, key=lambda one: int(one["end_ms"])):
        yield Transcript(
            call=call,
            channel=one["channel"],
            role=one["role"],
            utterance=f"{call}/{one['channel']}/{one['start_ms']}",
            start_ms=one["start_ms"],
            end_ms=one["end_ms"],
            text=one["text"],
            final=True,
            words=tuple(Word(**word) for word in one["words"]),
            heard_ms=one["end_ms"],
        )


if __name__ == "__main__":
    main()
