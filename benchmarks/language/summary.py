"""Summaries of calls: are the task, the values and the outcome right?

    python -m benchmarks.language.summary [--data FOLDER] [--heard FILE] [--show]

Harper Valley's dev calls go through the language stage on a bus, twice: as people wrote them down, and as our
recogniser heard them (`--heard` names the output of an earlier `tenor transcribe --json` of the recordings). A summary
is right if its task is the one the callers were given, every value of the caller's form that was said in the call is in
it, and its outcome is what a reader of the call finds. It also says how long the summaries are, for a summary that
repeats the whole call would have every value.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.language.task import feed, transcribed
from benchmarks.services import DATA
from finetune.corpus import harper_valley
from nlp.evaluation.alignment import plain
from nlp.worker import NlpWorker
from tenor.bus.opening import open_bus
from tenor.events import CALLS, CallMetrics, CallSummary
from tenor.runtime import running
from tenor.settings import Settings

WANTED = 0.90
PROMISED = ("0bf2b746d42b4f84", "6913f7cf2f2144a7", "49afef8ec24c4fff")
"""Calls in which the agent only says what will be done,"""
UNCONFIRMED = ("a9e3c325f4fd47de", "7f63d5fd91954113", "29cd0c6856ba42f6", "f78667d43e34400b")
"""in which the agent asks for everything and does not say what came of it,"""
OPEN = ("8e5f2787249d463f",)
"""and one that breaks off. In all others the agent says that it is done, or answers the question. By reading them."""
NOT_VALUES = ("task_type", "password dest")
ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Expected(NamedTuple):
    task: str
    values: dict[str, list[str]]
    """By name, the words of which each has to be there; a word may be said in several ways, divided by `|`."""
    outcome: str
    words: int
    """Of the whole call."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public sets")
    parser.add_argument("--heard", type=Path, help="output of `tenor transcribe --json` of the recordings")
    parser.add_argument("--show", action="store_true", help="print every summary")
    options, _ = parser.parse_known_args()
    folder = options.data / "harper-valley" / "dev"
    written = {path.stem: json.loads(path.read_text()) for path in sorted((folder / "calls").glob("*.json"))}
    tasks = {call.id: call.task for call in harper_valley.calls(options.data, "dev-audio")}
    right = {call: expected(record, tasks[call]) for call, record in written.items()}
    report("written down", {call: document(record) for call, record in written.items()}, right, show=options.show)
    recordings = sorted((folder / "audio").glob("*.flac"))
    lines = options.heard.read_text().splitlines() if options.heard else transcribed(recordings)
    heard = {Path(one["call"]["file"]).stem: one for one in map(json.loads, lines)}
    report("as heard", heard, right, show=options.show)


def report(name: str, documents: dict[str, Any], right: dict[str, Expected], *, show: bool) -> None:
    found = asyncio.run(summaries(documents))
    counts = dict.fromkeys(("task", "values", "values that were heard", "outcome", "all three"), 0)
    words = of_calls = 0
    for call, (task, summary) in found.items():
        missing = [value for value, ways in right[call].values.items() if not said(ways, text_of(summary))]
        heard = " ".join(one["text"] for one in documents[call]["utterances"])
        not_heard = [value for value in missing if not said(right[call].values[value], heard)]
        answers = {
            "task": task == right[call].task,
            "values": not missing,
            "outcome": summary.outcome == right[call].outcome,
        }
        counts["values that were heard"] += set(missing) <= set(not_heard)
        for part, answer in {**answers, "all three": all(answers.values())}.items():
            counts[part] += answer
        words, of_calls = words + len(text_of(summary).split()), of_calls + right[call].words
        if not all(answers.values()):
            wrong = [part for part, answer in answers.items() if not answer]
            print(f"{call}: {', '.join(wrong)}: {task}, {summary.outcome} for {right[call].outcome}", end="")
            print(f", without {missing}, of which the recogniser did not hear {not_heard}" if missing else "")
        if show:
            print(f"  {summary.headline}")
            for point in summary.points:
                print(f"    {point.kind:8} {point.name:12} {point.text}", point.by, point.until)
    for part, count in counts.items():
        share = count / len(found)
        print(f"{name}: {part} right in {count} of {len(found)}: {100 * share:.1f} %", end="")
        print(f"  (at least {100 * WANTED:.0f} %: {'yes' if share >= WANTED else 'NO'})")
    print(f"{name}: summaries have {100 * words / of_calls:.0f} % of the words of their calls")


async def summaries(documents: dict[str, Any]) -> dict[str, tuple[str, CallSummary]]:
    """Of each call its task and summary, as the language stage tells them in the end."""
    found: dict[str, tuple[str, CallSummary]] = {}
    with tempfile.TemporaryDirectory(prefix="tenor-") as home:
        settings = Settings(home=Path(home))
        async with open_bus(settings) as bus, bus.follower([CALLS]) as follower, running(NlpWorker(bus, settings)):
            for call, one in documents.items():
                await feed(bus, call, one)
            while len(found) < len(documents):
                for record in await follower.poll():
                    event = CALLS.decode(record.value)
                    if isinstance(event, CallMetrics) and event.final and event.summary:
                        found[event.call] = event.task, event.summary
    return found


def document(record: dict[str, Any]) -> dict[str, Any]:
    """What people wrote down, as `tenor transcribe --json` would have it."""
    said = [(one, plain(one["text"])) for one in record["segments"]]
    utterances = [
        {
            "channel": one["ch"] - 1,
            "role": one["role"],
            "start_ms": one["offset_ms"],
            "end_ms": one["offset_ms"] + one["dur_ms"],
            "text": text,
            "words": [],
        }
        for one, text in said
        if text.strip()
    ]
    return {"call": {"roles": ["caller", "agent"], "started_at": 1.0}, "utterances": utterances}


def expected(record: dict[str, Any], task: str) -> Expected:
    """A value of the form that nobody said, or that the agent got wrong, is in no summary of what was said."""
    call = record["sid"]
    spoken = " ".join(plain(one["text"]) for one in record["segments"])
    values = {
        f"{name} {part}": ways
        for name, value in record["tasks"][0].items()
        if name not in NOT_VALUES
        for part, ways in parts(name, value)
        if said(ways, spoken)
    }
    others = {"promised": PROMISED, "unconfirmed": UNCONFIRMED, "open": OPEN}
    outcome = next((outcome for outcome, calls in others.items() if call in calls), "done")
    return Expected(task, values, outcome, len(spoken.split()))


def parts(name: str, value: Any) -> Iterator[tuple[str, list[str]]]:
    """An address has several parts, and each may be left out of a call; every other value has one."""
    if name in ("account balance", "money amount", "transfer amount"):
        yield str(value), [f"{cardinal(value)}|{digits(str(value))}"]
    elif "address" in name:
        street, city, state, code = str(value).split(", ")
        number, *street_name = street.split()
        yield number, [digits(number)]
        yield from ((part, [part.lower()]) for part in (" ".join(street_name), city, state))
        yield code, [digits(code)]
    elif name == "phone":
        yield value, [digits(value.replace("-", ""))]
    elif name in ("time", "branch hours"):
        for hour, minute in re.findall(r"(\d+):(\d+)", value):
            half = "" if minute == "00" else f" {cardinal(int(minute))}|{digits(hour)} {digits(minute)}"
            yield f"{hour}:{minute}", [f"{cardinal(int(hour))}{half}|{digits(hour)}"]
    else:
        yield from ((word, [word.lower()]) for word in str(value).split())


def said(ways: list[str], text: str) -> bool:
    read = spelled(text)
    return all(any(re.search(rf"\b{re.escape(way)}", read) for way in word.split("|")) for word in ways)


def spelled(text: str) -> str:
    """In small letters, digits as words, without marks."""
    text = re.sub(r"\d", lambda digit: f" {ONES[int(digit[0])]} ", text.lower())
    text = re.sub(r"[^a-z ]+", " ", text)
    return " ".join("zero" if word in ("o", "oh") else word for word in text.split() if word != "and")


def digits(text: str) -> str:
    return " ".join(ONES[int(digit)] for digit in text)


def cardinal(number: int) -> str:
    if number < 20:
        return ONES[number]
    if number < 100:
        return f"{TENS[number // 10]} {ONES[number % 10]}" if number % 10 else TENS[number // 10]
    rest = f" {cardinal(number % 100)}" if number % 100 else ""
    return f"hundred{rest}" if number < 200 else f"{ONES[number // 100]} hundred{rest}"


def text_of(summary: CallSummary) -> str:
    return " . ".join(point.text for point in summary.points if point.kind != "mood")


if __name__ == "__main__":
    main()
