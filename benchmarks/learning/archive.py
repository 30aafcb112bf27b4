"""The archive: bringing it up to date, snapshots, datasets, erasing a call, with a million sentences there.

    python -m benchmarks.learning.archive [sentences]

Days of calls are written into a SQLite database, then archived; processor time and the size of what was written are
measured. Then one day changes, and everything is done again.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from benchmarks.pipeline.store import WORDS
from storage.archive.archiver import archive
from storage.archive.forget import forget
from storage.datasets.making import make
from storage.db.engine import Database, open_database
from storage.place import Place
from storage.snapshots import restore, take, verify
from storage.tables import Call
from tenor.settings import Settings

SENTENCES = 1_000_000
DAYS, CALL_SENTENCES = 30, 40
START = 1_760_000_000 // 86_400 * 86_400
CALLS, SAID = (Call.metadata.tables[name] for name in ("calls", "sentences"))
VOCABULARY = [*WORDS, *(f"word{number}" for number in range(4_000))]
"""So many that sentences compress as little as spoken ones do."""


def fill(database: Database, sentences: int, seed: int = 1) -> None:
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(VOCABULARY))]
    words = chance.choices(VOCABULARY, weights, k=200_000)
    usual = {name: field.get_default(call_default_factory=True) for name, field in Call.model_fields.items()}
    with database.begin() as session:
        for number in range(sentences // CALL_SENTENCES):
            call = f"call-{seed}-{number:06}"
            started = START + number % DAYS * 86_400 + chance.randrange(80_000)
            about: dict[str, Any] = {
                "id": call,
                "customer": f"customer-{number % 9_000}",
                "agent": f"agent{number % 50}",
            }
            about |= {
                "queue": chance.choice(("cards", "loans", "billing")),
                "state": "analysed",
                "state_at": started + 200,
            }
            session.execute(insert(CALLS), {**usual, **about, "started_at": started, "sentences": CALL_SENTENCES})
            session.execute(insert(SAID), list(_said(call, started, words, chance)))


def _said(call: str, started: float, words: list[str], chance: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(CALL_SENTENCES):
        first = chance.randrange(len(words) - 12)
        score = round(chance.random(), 4)
        yield {
            "id": f"{call}/{number % 2}/{number * 3000}", "call": call, "channel": number % 2,
            "role": ("caller", "agent")[number % 2], "revision": 0, "start_ms": number * 3000,
            "end_ms": number * 3000 + 2500, "spoken_at": started + number * 3.0,
            "text": " ".join(words[first : first + chance.randint(3, 12)]),
            "sentiment": "neutral", "sentiment_scores": {"neutral": score, "negative": round(1 - score, 4)},
            "mood": 0.0, "intent": "return_refund", "intent_score": score, "slots": {}, "labels": {},
            "language": "en", "models": {"sentiment": "house-1"}, "times": {}, "latency_ms": None,
        }  # fmt: skip


@contextmanager
def measured(what: str) -> Iterator[None]:
    wall, processor = time.monotonic(), time.process_time()
    yield
    print(f"{what:44}{time.monotonic() - wall:8.2f} s  {time.process_time() - processor:8.2f} CPU s", flush=True)


def main(sentences: int = SENTENCES) -> None:
    with tempfile.TemporaryDirectory(prefix="tenor-bench-") as folder:
        settings = Settings(home=Path(folder))
        database = open_database(settings)
        fill(database, sentences)
        with measured(f"archive, {sentences:,} sentences"):
            counts = archive(database, settings)
        print(f"{'size of the archive':44}{counts.bytes / 1e6:8.1f} MB")
        with measured("snapshot"):
            taken = take(settings, by="benchmark")
        with measured("archive, current"):
            archive(database, settings)
        with database.begin() as session:
            of_day = (CALLS.c.started_at >= START, CALLS.c.started_at < START + 86_400)
            session.execute(update(CALLS).where(*of_day).values(swapped=True))
        with measured("archive, one day changed"):
            archive(database, settings)
        with measured("next snapshot"):
            following = take(settings, by="benchmark")
        print(f"{'it costs':44}{following.new_bytes / 1e6:8.1f} MB ({following.new_bytes / following.bytes:.1%})")
        place = Place(settings.learn_url)
        with measured("verify"):
            assert verify(place, following.name).sound
        with measured("restore"):
            assert restore(settings, taken.name, str(Path(folder) / "restored")).sound
        with measured("select the sentences of one agent of fifty"):
            made = make(database, settings, "agent7", "agent:agent7", snapshot=following.name, by="me", unlabelled=True)
        print(f"{'rows in it':44}{sum(made.counts.values()):8,}")
        with measured("erase a call from the archive and all snapshots"):
            forget(settings, ["call-1-000000"], "benchmark")
        print(f"{'most memory':44}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:8.0f} MB")
        database.close()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SENTENCES)
