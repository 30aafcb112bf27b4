"""Calls at once while everything is killed, frozen and cut off at random: rows and recordings as if nothing had been.

`make chaos RUNS=20 MINUTES=3` runs it as often and as long as one likes; the suite leaves it out. A fault is
over before the next begins, and each kind comes sooner or later. Only one side speaks: what two say at once is
published in any order, and the model is told the sentence before.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from storage.db.engine import Database, open_database
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, SENTENCES, TRANSCRIPTS, Call, CallEnded, CallStarted, Sentence, Transcript
from tests.asr.scripted_riva import chunks
from tests.chaos.stand import Stand
from tests.readings import RATE, calls
from tests.storage.writing import rows
from tests.watching import events, until

RUNS, MINUTES = int(os.environ.get("RUNS", "0")), float(os.environ.get("MINUTES", "3"))
AT_ONCE = int(os.environ.get("CALLS", "8"))
RECOVERY_S = 900.0
"""How long the stages may take to come to the end of everything, on a machine that does more than this."""
BY_THE_CLOCK = {
    "calls": ("state_at", "ended_at", "recording", "attributes"),
    "sentences": ("times", "latency_ms"),
    "alerts": ("at",),
}
"""Columns that tell when something happened, a name made of the call's, or what the recogniser said of itself when the
call began; no two runs share them."""

Kept = dict[tuple[str, str, str], str]
"""Values by table, row and column."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.kafka,
    pytest.mark.postgres,
    pytest.mark.timeout(MINUTES * 60 + 2 * RECOVERY_S),
]


async def feed(bus: Bus, wave: str) -> None:
    """All calls at once, as fast as people speak."""
    names = [f"{wave}-{number}" for number in range(AT_ONCE)]
    info = Call(source="file", roles=("caller", "agent"), started_at=1.7e9, rate=RATE)
    await bus.publish_many(AUDIO, [CallStarted(call=name, info=info) for name in names])
    sides = [
        list(chunks(name, channel, pcm, RATE))
        for name, (spoken, _) in zip(names, calls(AT_ONCE), strict=True)
        for channel, pcm in enumerate((spoken, bytes(len(spoken))))
    ]
    began = time.monotonic()
    for moment in range(max(map(len, sides))):
        await bus.publish_many(AUDIO, [side[moment] for side in sides if moment < len(side)])
        await asyncio.sleep(max(0.0, began + moment * 0.1 - time.monotonic()))
    await bus.publish_many(AUDIO, [CallEnded(call=name, reason="hangup", at=1.7e9 + 60) for name in names])


def left(database: Database, folder: Path, wave: str) -> Kept:
    """What is kept of a wave, whatever it was called."""
    kept: Kept = {}
    found = rows(database, *BY_THE_CLOCK)
    recordings = {row["id"]: row["recording"] for row in found["calls"].values()}
    for table, columns in BY_THE_CLOCK.items():
        key = "id" if table == "calls" else "call"
        mine = [row for row in found[table].values() if row[key].startswith(f"{wave}-")]
        for row in mine:
            name = row["id"].replace(f"{wave}-", "call-")
            for column in row.keys() - {*columns}:
                value = json.dumps(row[column], sort_keys=True, default=str).replace(f"{wave}-", "call-")
                kept[table, name, column] = value
            if table == "calls":
                sound = (folder / recordings[row["id"]]).read_bytes()
                kept["recordings", name, "sha256"] = hashlib.sha256(sound).hexdigest()
    return kept


def differences(expected: Kept, found: Kept) -> list[str]:
    """Each column that is not as it would have been, with both values."""
    nothing = "no such row"
    return [
        f"{table} {row} {column}: {expected.get((table, row, column), nothing)} in the undisturbed run, "
        f"{found.get((table, row, column), nothing)} here"
        for table, row, column in sorted(expected.keys() | found.keys())
        if expected.get((table, row, column)) != found.get((table, row, column))
    ]


def all_kept(database: Database, waves: list[str]) -> bool:
    try:
        found = rows(database, "calls")["calls"].values()
    except OperationalError:  # it was just killed
        return False
    done = [row for row in found if row["state"] == "analysed" and row["recorded"]]
    return len(done) == AT_ONCE * len(waves)


@pytest.mark.parametrize("run", range(RUNS))
async def test_whatever_is_killed_frozen_and_cut_off_nothing_is_lost_and_nothing_doubled(run: int) -> None:
    seed = int(os.environ.get("SEED", time.time_ns() % 100_000)) + run
    with tempfile.TemporaryDirectory(prefix="tenor-chaos-") as name:  # where the database's own user gets to
        folder = Path(name)
        folder.chmod(0o755)
        stand = Stand(folder, random.Random(seed))
        async with stand.running(), open_bus(stand.settings) as bus:
            database = await asyncio.to_thread(open_database, stand.settings)
            await feed(bus, "calm")
            await until(lambda: all_kept(database, ["calm"]), timeout_s=RECOVERY_S)
            recordings = Path(stand.settings.recordings_url)
            expected = left(database, recordings, "calm")
            assert sum(column == "sentiment" for _, _, column in expected) >= AT_ONCE

            waves, over = ["calm"], asyncio.Event()
            disturbing = asyncio.create_task(stand.disturb(over))
            deadline = time.monotonic() + MINUTES * 60
            while time.monotonic() < deadline:
                waves.append(f"wave{len(waves)}")
                await feed(bus, waves[-1])
            over.set()
            await disturbing
            began = time.monotonic()

            async def caught_up() -> bool:
                await stand.revive()
                return await asyncio.to_thread(all_kept, database, waves)

            await until(caught_up, timeout_s=RECOVERY_S)
            caught_up_s = time.monotonic() - began
            found = {wave: left(database, recordings, wave) for wave in waves}
            dead = rows(database, "dead_letters")["dead_letters"]
            database.close()
            told = [*await events(bus, TRANSCRIPTS), *await events(bus, SENTENCES)]
        finals = Counter(event.utterance for event in told if isinstance(event, Transcript) and event.final)
        sentences = Counter((event.sentence, event.revision) for event in told if isinstance(event, Sentence))
        twice = {
            "finals": sum(count > 1 for count in finals.values()),
            "sentences": sum(count > 1 for count in sentences.values()),
        }
        differ = {wave: differences(expected, kept) for wave, kept in found.items() if kept != expected}
        report = {
            "seed": seed, "minutes": MINUTES, "calls": AT_ONCE * len(waves), "faults": dict(stand.done),
            "ended by themselves": stand.restarts, "caught up after (s)": round(caught_up_s, 1),
            "on the bus twice": twice, "differ": differ,
        }  # fmt: skip
        with Path(os.environ.get("REPORT", os.devnull)).open("a") as file:
            file.write(f"{json.dumps(report)}\n")
        if differ:  # what the stages told each other of these calls says which of them it was
            history = [str(event) for event in told if event.call.rpartition("-")[0] in {"calm", *differ}]
            Path(os.environ.get("HISTORY", os.devnull)).write_text("\n".join(history))
        assert dead == {}, report
        assert differ == {}, report
