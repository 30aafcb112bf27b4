"""The store: sentences written and live views read a second, on SQLite and PostgreSQL, with a million sentences there.

    python -m benchmarks.pipeline.store [sentences]

Sentences are written the way the writer stage writes them, in batches of events, with the calls' sums worked out
again after each. Then the database is filled up, and the Live page's query is asked again and again, first alone,
then by a process a core while another goes on writing. PostgreSQL runs with its own defaults, fsync included.
"""

from __future__ import annotations

import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from sqlalchemy import insert, text

from deploy.postgres.server import Server
from storage.db.engine import Database, open_database
from storage.queries.live import live_calls
from storage.search import SearchQuery, search, search_calls
from storage.tables import Call as CallRow
from storage.viewer import HOUSE
from storage.writer.event_batch import EventBatch
from tenor import telemetry
from tenor.events import Alert, Call, CallMetrics, CallState, Event, Sentence
from tenor.settings import Settings, StorageSettings, TelemetrySettings

STORED = 1_000_000
LIVE, CALL_SENTENCES = 50, 100
WRITTEN, BATCH = 20_000, 500
LOOKS, READING_S = 200, 5.0
TABLES = CallRow.metadata.tables
WORDS = (
    "refund",
    "was",
    "told",
    "that",
    "my",
    "would",
    "be",
    "here",
    "by",
    "Tuesday",
    "and",
    "it",
    "still",
    "has",
    "not",
    "come",
)


def sentence(call: str, number: int, chance: random.Random, revision: int = 0) -> Sentence:
    role = "agent" if number % 2 else "caller"
    spoken = 1_700_000_000 + number * 3.0
    sentiments = {"negative": 0.1, "neutral": 0.8, "positive": 0.1}
    return Sentence(
        call=call,
        channel=number % 2,
        role=role,
        sentence=f"{call}/{number % 2}/{number * 3000}",
        revision=revision,
        start_ms=number * 3000,
        end_ms=number * 3000 + 2500,
        text=" ".join(chance.choices(WORDS, k=10)),
        sentiment=chance.choices(("neutral", "positive", "negative"), (90, 9, 1))[0],
        sentiment_scores=sentiments,
        mood=chance.uniform(-1, 1),
        intent="return_refund",
        intent_score=0.9,
        models={"sentiment": "tenor-understanding-1", "intent": "tenor-understanding-1"},
        times={"captured": spoken, "recognised": spoken + 0.5, "published": spoken + 0.51, "understood": spoken + 0.52},
    )


def begin(call: str, number: int) -> CallState:
    agent, customer = f"agent-{number % 40}", f"customer-{number % 5000}"
    info = Call(source="file", roles=("caller", "agent"), started_at=1.7e9 + number, agent=agent, customer=customer)
    return CallState(call=call, state="live", at=1.7e9 + number, info=info)


def stream(prefix: str, count: int) -> Iterator[Event]:
    """Events of calls going on side by side, as the writer finds them."""
    chance = random.Random(prefix)
    calls = [f"{prefix}-{number}" for number in range(LIVE)]
    yield from (begin(call, number) for number, call in enumerate(calls))
    for number in range(count // LIVE):
        for call in calls:
            yield sentence(call, number, chance)
        for call in calls[number % 5 :: 5]:
            yield CallMetrics(call=call, at_ms=number * 3000, values={"silence_share": 0.1, "talk_share.agent": 0.5})


def batches(events: Iterable[Event]) -> Iterator[list[Event]]:
    found: list[Event] = []
    for event in events:
        found.append(event)
        if len(found) == BATCH:
            yield found
            found = []
    if found:
        yield found


def write(database: Database, events: list[Event]) -> None:
    with database.begin() as session:
        EventBatch((event, 1.7e9) for event in events).write(session)


def batches_of_one(prefix: str) -> tuple[list[Event], list[Event]]:
    """The beginning of calls, and what is said in them."""
    events = list(stream(prefix, 10 * LIVE))
    return events[:LIVE], [event for event in events if isinstance(event, Sentence)]


def measure_writing(name: str, database: Database) -> None:
    ready = list(batches(stream("written", WRITTEN)))
    started = time.perf_counter()
    for events in ready:
        write(database, events)
    bulk = WRITTEN / (time.perf_counter() - started)
    begun, said = batches_of_one("single")
    write(database, begun)
    started = time.perf_counter()
    for event in said:
        write(database, [event])
    rate = len(said) / (time.perf_counter() - started)
    print(f"{name}: {bulk:,.0f} sentences written a second in batches of {BATCH}, {rate:,.0f} one by one")


def fill(database: Database, count: int) -> None:
    """The past: calls that are over, put in by the shortest way. And the calls that are live, by ours."""
    chance = random.Random(1)
    plain = CallRow(id="").model_dump()
    for first in range(0, count // CALL_SENTENCES, 200):
        numbers = range(first, min(first + 200, count // CALL_SENTENCES))
        with database.begin() as session:
            connection = session.connection()
            calls = [
                {**plain, "id": f"past-{n}", "state": "analysed", "started_at": 1.6e9 + n, "agent": f"agent-{n % 40}"}
                for n in numbers
            ]
            connection.execute(insert(TABLES["calls"]), calls)
            said = [sentence(f"past-{n}", m, chance) for n in numbers for m in range(CALL_SENTENCES)]
            connection.execute(insert(TABLES["sentences"]), [row_of(one) for one in said])
    for events in batches(stream("live", LIVE * 200)):
        write(database, events)
    raised = [
        Alert(call=f"live-{n}", alert=f"live-{n}/angry/0", rule="angry", severity="warning", text="!", at_ms=0, at=0.0)
        for n in range(0, LIVE, 3)
    ]
    write(database, list(raised))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE" if database.is_postgres else "ANALYZE"))


def row_of(said: Sentence) -> dict[str, object]:
    fields = {name: getattr(said, name) for name in said.__struct_fields__ if name not in ("v", "sentence")}
    number = int(said.call.rpartition("-")[2])
    return {**fields, "id": said.sentence, "spoken_at": 1.6e9 + number + said.start_ms / 1000, "latency_ms": 500.0}


def look(database: Database) -> float:
    started = time.perf_counter()
    with database.session() as session:
        found = live_calls(session, HOUSE)
    assert len(found) == LIVE, len(found)
    assert all(call.last and len(call.moods) == 2 for call in found)
    return (time.perf_counter() - started) * 1000


def end_others(database: Database) -> None:
    """Only the calls of `fill` stay live."""
    with database.begin() as session:
        session.execute(text("UPDATE calls SET state = 'analysed' WHERE id NOT LIKE 'live-%'"))


def settle(database: Database) -> None:
    """Let PostgreSQL do at once what it else does in the minutes after so many rows came in."""
    if database.is_postgres:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM (ANALYZE)"))
            connection.execute(text("CHECKPOINT"))


def measure_looking(name: str, database: Database, count: int) -> None:
    cpu = time.process_time()
    times = sorted(look(database) for _ in range(LOOKS))
    cpu = (time.process_time() - cpu) * 1000 / LOOKS
    print(
        f"{name}: Live query with {LIVE} calls live and {count:,} sentences stored: p50 {times[LOOKS // 2]:.1f} ms, "
        f"p95 {times[LOOKS * 95 // 100]:.1f} ms (target 20); {cpu:.1f} ms of our processor time"
    )


def measure_search(name: str, database: Database) -> None:
    """The newest page of what people search for most, without and with a word, and one that nothing answers to."""
    for words, sentiment in (("", "negative"), ("refund", "negative"), ("", "unheard of")):
        times = sorted(searched(database, SearchQuery(words=words, sentiment=(sentiment,))) for _ in range(20))
        told = f"{sentiment!r}{f' and {words!r}' if words else ''}"
        print(f"{name}: Search for {told}: p50 {times[10]:.1f} ms, p95 {times[18]:.1f} ms")

    alone = sorted(searched(database, SearchQuery(words="refund", sentiment=("negative",))) for _ in range(5))[2]
    for said in (
        "(role:caller refund sentiment:negative) then (role:agent told)",
        "(sentiment:negative) then (sentiment:positive)",
    ):
        began = time.perf_counter()
        with database.session() as session:
            found = search_calls(session, HOUSE, SearchQuery(said=said))
        took = (time.perf_counter() - began) * 1000
        print(
            f"{name}: Search for calls with {said}: {found.total:,} in {took:.0f} ms, {took / alone:.1f} times as long"
        )


def searched(database: Database, query: SearchQuery) -> float:
    started = time.perf_counter()
    with database.session() as session:
        search(session, HOUSE, query)
    return (time.perf_counter() - started) * 1000


def measure_both(name: str, settings: Settings, database: Database) -> None:
    """A process a core that looks, while this one writes what is said in the live calls."""
    readers = os.cpu_count() or 1
    with ProcessPoolExecutor(readers, get_context("spawn")) as pool:
        list(pool.map(look_on, [settings] * readers, [0.1] * readers))  # they are all there
        alone = sum(pool.map(look_on, [settings] * readers, [READING_S] * readers)) / READING_S
        looking = [pool.submit(look_on, settings, READING_S) for _ in range(readers)]
        chance, number, started = random.Random(2), 200, time.perf_counter()
        while time.perf_counter() - started < READING_S:
            write(database, [sentence(f"live-{n}", number, chance) for n in range(LIVE)])
            number += 1
        seconds = time.perf_counter() - started
        looks = sum(look.result() for look in looking)
    print(
        f"{name}: {alone:,.0f} live views a second in {readers} processes; {looks / READING_S:,.0f} "
        f"while another writes {(number - 200) * LIVE / seconds:,.0f} sentences a second in batches of {LIVE}"
    )


def look_on(settings: Settings, seconds: float) -> int:
    telemetry.configure(TelemetrySettings(log_level="error"))
    database, count, started = open_database(settings), 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        look(database)
        count += 1
    database.close()
    return count


def measure(name: str, settings: Settings, count: int) -> None:
    database = open_database(settings)
    try:
        measure_writing(name, database)
        fill(database, count)
        end_others(database)
        settle(database)
        measure_looking(name, database, count)
        measure_search(name, database)
        measure_both(name, settings, database)
    finally:
        database.close()


def main() -> None:
    telemetry.configure(TelemetrySettings(log_level="error"))
    count = int(sys.argv[1]) if len(sys.argv) == 2 and sys.argv[1].isdigit() else STORED
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite", Settings(storage=StorageSettings(url=f"sqlite:///{folder}/tenor.db")), count)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        Path(folder).chmod(0o755)
        server = Server(Path(folder) / "data", port)
        server.start()
        try:
            measure("PostgreSQL", Settings(storage=StorageSettings(url=server.url())), count)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
