"""What redaction takes out of telephone calls, what it leaves in, what it takes wrongly, and what it costs.

    python -m benchmarks.language.redaction [--calls 40 [--live] | --heard FILE] [--misses]

Data: Harper Valley Bank calls (CC BY 4.0) below TENOR_BENCH_DATA, by default ../shared/data beside the repository.
They are heard by `tenor transcribe` first, which takes minutes; `--heard` names a file of what its `--json` printed,
`--live` has them heard as calls are while they go on.

A name or number of the human transcript is found again in the recognised text by aligning the two word by word. It
counts as taken out only if every recognised word in its place is. What the recogniser left out needs no redaction and
is not counted. Names are those of both speakers; numbers are those read out digit by digit (telephones, house numbers,
postal codes), not amounts of money and not times of day.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

import jiwer

from benchmarks.services import heard_live
from finetune.evaluate.scores import percentile
from nlp.inference.name_finder import DEFAULT, NameFinder
from tenor.redaction import KINDS
from tenor.redaction.numbers.spoken import UNITS
from tenor.redaction.patterns import PatternRedactor
from tenor.redaction.utterance import confirms

DATA = Path(os.environ.get("TENOR_BENCH_DATA", Path(__file__).parents[3] / "shared" / "data"))
CALLS = DATA / "harper-valley" / "dev"
RECALL, MS, SLOWER = 0.9, 5.0, 0.25
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")
_WORD = re.compile(r"[a-z0-9']+")
_DIGITS = frozenset(UNITS) - {"nought", "naught"}
_MEASURES = frozenset({"dollars", "hundred", "thousand", "a", "p", "am", "pm", "percent", "thirty", "fifteen", "forty"})


@dataclass(frozen=True)
class Secret:
    """Words `first` to `last` of what a channel really said."""

    first: int
    last: int
    kind: str


@dataclass(frozen=True)
class Side:
    """One channel of one call: what was said, what was heard."""

    said: list[str]
    secrets: list[Secret]
    utterances: list[dict[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=40, help="how many recordings")
    parser.add_argument("--live", action="store_true", help="as calls are heard while they go on")
    parser.add_argument("--heard", type=Path, help="what `tenor transcribe --json` printed")
    parser.add_argument("--model", type=Path, default=DEFAULT, help="the folder of another head and its encoder")
    parser.add_argument("--misses", action="store_true", help="print what was left in and what was taken wrongly")
    options, _ = parser.parse_known_args()
    lines, hearing_s = (
        (options.heard.read_text("utf-8").splitlines(), 0.0)
        if options.heard
        else transcribed(options.calls, live=options.live)
    )
    heard = {Path(call["call"]["file"]).stem: call["utterances"] for call in map(json.loads, lines)}
    sides = [side for name in sorted(heard) for side in sides_of(CALLS / "calls" / f"{name}.json", heard[name])]
    redactor = PatternRedactor(KINDS, NameFinder(options.model))
    quality(sides, redactor, misses=options.misses)
    redacting_s = speed([said["text"] for side in sides for said in side.utterances], redactor)
    if hearing_s:
        more = redacting_s / hearing_s
        print(f"in batch: {hearing_s:.0f} s of processor time for hearing, {100 * more:+.1f} % for redacting", end="")
        print(verdict(more <= SLOWER, f"at most {100 * SLOWER:+.0f} %"))


def transcribed(calls: int, *, live: bool) -> tuple[list[str], float]:
    """What was heard, and the processor time it took."""
    paths = sorted((CALLS / "audio").glob("*.flac"))[:calls]
    how = heard_live() if live else []
    command = [sys.executable, "-m", "tenor", *how, "transcribe", "--json", *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout.splitlines(), used.ru_utime + used.ru_stime


# -- what was really said


def sides_of(path: Path, utterances: list[dict[str, Any]]) -> Iterator[Side]:
    call = json.loads(path.read_text("utf-8"))
    names = frozenset(
        f"{call['agent']['metadata'].get('agent_name', '')} {call['caller']['metadata'].get('first and last name', '')}"
        .lower().split()
    )  # fmt: skip
    places = [
        _WORD.findall(part.lower())
        for task in call["tasks"]
        for name in ("home address", "company address")
        for part in task.get(name, "").split(",")[:-1]
    ]
    for role in ("caller", "agent"):
        segments = sorted((s for s in call["segments"] if s["role"] == role), key=lambda s: s["offset_ms"])
        said: list[str] = []
        secrets: list[Secret] = []
        for segment in segments:
            words = _WORD.findall(_TAG.sub(" ", segment["text"].lower()))
            for first, last, kind in secrets_of(words, names, places):
                secrets.append(Secret(len(said) + first, len(said) + last, kind))
            said += words
        yield Side(said, secrets, [said for said in utterances if said["role"] == role])


def secrets_of(words: list[str], names: frozenset[str], places: list[list[str]]) -> Iterator[tuple[int, int, str]]:
    at = 0
    while at < len(words):
        end = at
        if words[at] in names:
            while end + 1 < len(words) and words[end + 1] in names:
                end += 1
            yield at, end, "person"
        elif words[at] in _DIGITS:
            while end + 1 < len(words) and words[end + 1] in _DIGITS:
                end += 1
            follows = words[end + 1] if end + 1 < len(words) else ""
            alone = len(words) == 1 and words[at] not in ("oh", "o")
            announced = words[at - 1 : at] == ["is"] and not follows
            if follows not in _MEASURES and (end > at or alone or announced):
                yield at, end, "number"
        else:
            for place in places:
                here = place[1:] if place[0].isdigit() else place
                if words[at : at + len(here)] == here and words[at + len(here) : at + len(here) + 1] != ["national"]:
                    end = at + len(here) - 1
                    yield at, end, "address"
                    break
        at = end + 1


# -- what is taken out


def quality(sides: list[Side], redactor: PatternRedactor, *, misses: bool) -> None:
    there: Counter[str] = Counter()
    out: Counter[str] = Counter()
    readable: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    masks = sentences = wrong_sentences = 0
    for side in sides:
        words, taken = masked(side, redactor)
        sentences += len(side.utterances)
        innocent = set(range(len(words)))
        for secret, places in zip(side.secrets, found_again(side, words), strict=True):
            innocent -= set(places)
            if not places:
                continue
            there[secret.kind] += 1
            left = [words[at] for at in places if taken[at] is None]
            out[secret.kind] += not left
            original = side.said[secret.first : secret.last + 1]
            readable[secret.kind] += any(word in original for word in left)
            if left and misses:
                print("left in:", secret.kind, original, "->", [words[at] for at in places], "left", left)
        previous: object = None
        for mask in taken:
            if mask is not None and mask != previous:
                masks += 1
                extent = [place for place in range(len(words)) if taken[place] == mask]
                if all(place in innocent for place in extent):
                    wrong[mask[1]] += 1
                    wrong_sentences += 1
                    if misses:
                        print("taken wrongly:", mask[1], [words[place] for place in extent])
            previous = mask
    for kind in there:
        share = out[kind] / there[kind]
        line = f"{kind:8} {there[kind]:4} heard, {100 * share:5.1f} % taken out, {readable[kind]} still readable"
        print(line + (verdict(share >= RECALL, f"at least {100 * RECALL:.0f} %") if kind != "address" else ""))
    both = sum(out[kind] for kind in ("person", "number")) / sum(there[kind] for kind in ("person", "number"))
    print(f"names and numbers: {100 * both:.1f} %" + verdict(both >= RECALL, f"at least {100 * RECALL:.0f} %"))
    print(
        f"{masks} masks, {100 * (1 - sum(wrong.values()) / max(1, masks)):.1f} % of them right; "
        f"{100 * wrong_sentences / sentences:.1f} wrong ones in 100 sentences ({dict(wrong)})"
    )


def masked(side: Side, redactor: PatternRedactor) -> tuple[list[str], list[tuple[int, str] | None]]:
    """Every recognised word, and the mask it is behind: its number and kind."""
    words: list[str] = []
    taken: list[tuple[int, str] | None] = []
    before, count = "", 0
    for said in side.utterances:
        redacted = redactor.redact(said["text"], (), before=before)
        before = before if confirms(redacted.text) else redacted.text
        for word in re.finditer(r"[a-z0-9']+", said["text"].lower()):
            hits = [span for span in redacted.spans if span.start < word.end() and span.end > word.start()]
            words.append(word[0])
            taken.append((count + redacted.spans.index(hits[0]), hits[0].kind) if hits else None)
        count += len(redacted.spans)
    return words, taken


def found_again(side: Side, words: list[str]) -> Iterator[list[int]]:
    """For each secret the recognised words in its place."""
    place: dict[int, list[int]] = {}
    if words and side.said:
        aligned = jiwer.process_words(" ".join(side.said), " ".join(words)).alignments[0]
        for chunk in aligned:
            if chunk.type in ("equal", "substitute"):
                for offset in range(chunk.ref_end_idx - chunk.ref_start_idx):
                    place[chunk.ref_start_idx + offset] = [chunk.hyp_start_idx + offset]
    for secret in side.secrets:
        places = [at for said in range(secret.first, secret.last + 1) for at in place.get(said, [])]
        yield list(range(min(places), max(places) + 1)) if places else []


# -- what it costs


def speed(texts: list[str], redactor: PatternRedactor) -> float:
    """Milliseconds of one; returns the seconds of processor time for all of them."""
    total_s = 0.0
    for text in texts[:20]:
        redactor.redact(text, ())
    for name, final in (("one sentence", True), ("one interim", False)):
        wall, cpu = [], []
        for text in texts:
            began, used = time.perf_counter(), time.process_time()
            redactor.redact(text, (), final=final)
            wall.append(1000 * (time.perf_counter() - began))
            cpu.append(1000 * (time.process_time() - used))
        total_s = total_s or sum(cpu) / 1000
        print(f"{name}: processor p50 {percentile(cpu, 0.5):.1f} ms, p95 {percentile(cpu, 0.95):.1f} ms", end="")
        print(verdict(percentile(cpu, 0.95) <= MS, f"at most {MS:.0f} ms"), end="")
        print(f"; by the clock p50 {percentile(wall, 0.5):.1f} ms, p95 {percentile(wall, 0.95):.1f} ms")
    return total_s


def verdict(good: bool, wanted: str) -> str:
    return f"  ({wanted}: {'yes' if good else 'NO'})"


if __name__ == "__main__":
    main()
