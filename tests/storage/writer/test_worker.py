"""From the bus into the tables: everything once, the newest, whatever the order and however often."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from storage.db.engine import Database
from storage.labels.labels import swap_sides
from storage.privacy import tombstones
from storage.queries.calls import whole
from storage.summaries import in_a_line, left
from storage.tables import Call
from storage.viewer import HOUSE
from storage.writer.event_batch import EventBatch
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import (
    DEAD,
    SENTENCES,
    CallSummary,
    DeadLetter,
    Event,
    Note,
    NoteAcknowledged,
    Sentence,
    SummaryMended,
    SummaryPoint,
    Topic,
    Turn,
    WrapUp,
)
from tenor.settings import Settings
from tests.storage.events import STARTED, alert, info, metrics, sentence, state, whole_call
from tests.storage.writing import all_kept, publish, rows, writing
from tests.watching import until


@pytest.fixture
async def bus(database_settings: Settings) -> AsyncIterator[Bus]:
    async with open_bus(database_settings) as opened:
        yield opened


def write(database: Database, *events: Event) -> None:
    with database.begin() as session:
        EventBatch((event, STARTED + 5) for event in events).write(session)


async def test_a_call_is_kept_with_all_that_belongs_to_it(
    bus: Bus, database: Database, database_settings: Settings
) -> None:
    events = [
        state("one", "live", info=info(site="north", queue="help", redact="text", attributes={"file": "a.wav"})),
        sentence("one", 0, "caller", -0.5),
        sentence("one", 1000, "agent", 0.5),
        sentence("one", 2000, "caller", -1.0, slots={"amount": "£5 \U0001f600"}, labels={"topic": "x"}),
        metrics("one", 3000, task="refund", task_score=0.5),
        alert("one", 2000, escalation=True),
        Note(call="one", note="n1", author="maria", text="offer a refund", at=STARTED + 3, sentence="one/0/2000"),
        NoteAcknowledged(call="one", note="n1", by="amir", at=STARTED + 4),
        NoteAcknowledged(call="one", note="n1", by="bea", at=STARTED + 5),
        state("one", "ended", STARTED + 3, reason="hangup"),
        state("one", "analysed", STARTED + 4),
    ]
    async with writing(bus, database_settings) as task:
        await publish(bus, events)
        await all_kept(bus, task)
    with database.session() as session:
        found = whole(session, HOUSE, "one")
    assert found is not None
    call = found.call
    assert (call.state, call.reason, call.state_at, call.ended_at) == ("analysed", "hangup", STARTED + 4, STARTED + 3)
    assert (call.agent, call.customer, call.site, call.queue, call.redact) == ("amir", "c-17", "north", "help", "text")
    assert (call.roles, call.attributes) == (["caller", "agent"], {"file": "a.wav"})
    assert (call.sentences, call.alerts, call.escalations, call.duration_ms) == (3, 1, 1, 3000)
    assert (call.mood_caller, call.mood_agent) == (-0.75, 0.5)
    assert (call.talk_share_agent, call.silence_share) == (0.25, 0.125)
    assert (call.task, call.task_score) == ("refund", 0.5)
    assert [one.spoken_at for one in found.sentences] == [STARTED, STARTED + 1, STARTED + 2]
    assert {one.latency_ms for one in found.sentences} == {625.0}
    assert found.sentences[2].slots == {"amount": "£5 \U0001f600"}
    assert [(note.id, note.acknowledged_by, note.acknowledged_at) for note in found.notes] == [
        ("n1", "amir", STARTED + 4)
    ]
    kept = rows(database, "agents", "customers")
    assert (list(kept["agents"]), kept["agents"]["amir"]["site"], list(kept["customers"])) == (
        ["amir"],
        "north",
        ["c-17"],
    )


SUMMARY = CallSummary(
    headline="Refund",
    outcome="open",
    points=(
        SummaryPoint(id="wanted:one/0/0", kind="wanted", text="I want a refund", sentence="one/0/0"),
        SummaryPoint(id="detail.amount:one/0/0", kind="detail", name="amount", text="five", sentence="one/0/0"),
    ),
)


def test_the_summary_is_the_newest_and_what_a_person_puts_right_in_it_stays(database: Database) -> None:
    wrong = SummaryMended(call="one", point="detail.amount:one/0/0", text="nine", author="amir", at=STARTED + 4)
    done = SummaryMended(call="one", point="outcome", text="done", author="amir", at=STARTED + 5)
    gone = SummaryMended(call="one", point="wanted:one/0/0", text="", author="amir", at=STARTED + 6)
    write(database, state("one", "live"), metrics("one", 3000, summary=SUMMARY), wrong, done, gone)
    write(database, WrapUp(call="one", code="callback", author="amir", at=STARTED + 6), wrong)
    again = msgspec.structs.replace(SUMMARY, headline="Refund: five")
    write(database, metrics("one", 5000, summary=again), metrics("one", 7000), metrics("one", 2000, summary=SUMMARY))
    call = Call(**rows(database, "calls")["calls"]["one"])
    assert left(call) == {
        "headline": "Refund: five",
        "outcome": "done",
        "points": [{**msgspec.to_builtins(SUMMARY.points[1]), "text": "nine", "mended_by": "amir"}],
    }
    assert (in_a_line(call), call.wrap_up) == ("Refund: five (done)", "callback")
    older = msgspec.structs.replace(wrong, text="eight", at=STARTED + 3)
    back = msgspec.structs.replace(gone, at=STARTED + 7, withdrawn=True)
    write(database, older, back)
    call = Call(**rows(database, "calls")["calls"]["one"])
    assert [point["text"] for point in left(call)["points"]] == ["I want a refund", "nine"]


def test_any_order_and_any_number_of_times_end_in_the_same_rows(database: Database) -> None:
    """Topics are read each at its own pace, and again after a crash."""
    calls = [list(whole_call(f"call {n}", 20)) for n in range(3)]
    for call in calls:
        write(database, *call)
    expected = rows(database)
    said: list[Event] = [event for call in calls for event in call if isinstance(event, Sentence)]
    told = [event for call in calls for event in call if not isinstance(event, Sentence)]
    orders: list[list[list[Event]]] = [
        [told, said],
        [said[:30], said[20:], told[:10], told[5:]],
        [said, told, said, told],
    ]
    for batches in orders:
        with database.begin() as session:
            for table in ("calls", "agents", "customers"):
                session.connection().exec_driver_sql(f"DELETE FROM {table}")
        for batch in batches:
            write(database, *batch)
        assert rows(database) == expected


def test_a_sentence_before_its_call_is_dated_later(database: Database) -> None:
    write(database, sentence("one", 1500))
    (call,), (said,) = (list(rows(database)[name].values()) for name in ("calls", "sentences"))
    assert (call["state"], call["started_at"], said["spoken_at"]) == ("ringing", 0.0, 0.0)
    write(database, state("one", "live"))
    assert rows(database)["sentences"]["one/0/1500"]["spoken_at"] == STARTED + 1.5


def test_only_a_higher_revision_replaces(database: Database) -> None:
    write(database, sentence("one", 0, revision=1, text="one"), sentence("one", 0, revision=2, text="two"))
    write(database, sentence("one", 0, revision=1, text="late"), sentence("one", 0, revision=2, text="same"))
    assert [row["text"] for row in rows(database)["sentences"].values()] == ["two"]
    write(database, sentence("one", 0, revision=3, text="three", mood=1.0))
    assert [row["text"] for row in rows(database)["sentences"].values()] == ["three"]
    assert rows(database)["calls"]["one"]["mood_caller"] == 1.0


WAYS = [
    ("live ended analysed", "analysed"),
    ("live ended analysed live ended", "analysed"),
    ("ended live", "ended"),
    ("ringing ended ringing", "ended"),
    ("live failed analysed ended", "failed"),
    ("live failed live ended analysed", "analysed"),
    ("live ended analysed failed", "failed"),
]


def test_states_only_go_forward(database: Database) -> None:
    for told, end in WAYS:
        for number, name in enumerate(told.split()):
            write(database, state(told, name, STARTED + number, reason="a reason"))
        assert rows(database)["calls"][told]["state"] == end, told


def test_a_call_whose_audio_had_stopped_goes_on(database: Database) -> None:
    told = [
        state("one", "live"),
        state("one", "ended", STARTED + 60, reason="audio stopped"),
        state("one", "live", STARTED + 70),
    ]
    for _ in range(2):
        write(database, *told)
        call = rows(database)["calls"]["one"]
        assert (call["state"], call["ended_at"], call["reason"]) == ("live", None, "")
    write(database, state("one", "ended", STARTED + 80, reason="hangup"))
    write(database, *told)
    assert rows(database)["calls"]["one"]["state"] == "ended"


def test_a_failed_call_that_is_heard_anew_is_no_longer_failed(database: Database) -> None:
    told = [state("one", "live"), state("one", "failed", STARTED + 5, reason="no such model")]
    for _ in range(2):
        write(database, *told)
        assert rows(database)["calls"]["one"]["reason"] == "no such model"
    write(database, state("one", "live", STARTED + 60, info=info(language="de-DE")))
    write(database, state("one", "ended", STARTED + 90, reason="hangup"), state("one", "analysed", STARTED + 91))
    call = rows(database)["calls"]["one"]
    assert (call["state"], call["reason"], call["language"]) == ("analysed", "hangup", "de-DE")


def test_a_call_that_is_over_does_not_become_another(database: Database) -> None:
    """Heard again with other redaction, it is neither called redacted for that nor mixed with what is not."""
    write(database, state("one", "live", info=info(redact="audio")), sentence("one", 0), state("one", "ended"))
    write(
        database, state("one", "analysed", STARTED + 30), state("one", "live", STARTED + 600, info=info(redact="off"))
    )
    write(database, sentence("one", 900, text="read late", times={"sentence_published": STARTED + 29}))
    write(database, sentence("one", 950, text="heard anew", times={"sentence_published": STARTED + 630}))
    assert rows(database)["calls"]["one"]["redact"] == "audio"
    assert [row["text"] for row in rows(database)["sentences"].values()][1:] == ["read late"]


def test_figures_only_get_newer(database: Database) -> None:
    write(database, state("one", "live"), metrics("one", 5000, values={"silence_share": 0.5}))
    write(database, metrics("one", 3000, values={"silence_share": 0.1}, task="early"))
    call = rows(database)["calls"]["one"]
    assert (call["silence_share"], call["duration_ms"], call["task"]) == (0.5, 5000, "")


def test_swapped_sides_stay_swapped(database: Database) -> None:
    write(database, state("one", "live"), sentence("one", 0, "caller", -1.0), metrics("one", 1000))
    with database.begin() as session:
        assert swap_sides(session, HOUSE, "one").mood_agent == -1.0
    write(database, sentence("one", 2000, "caller", 0.0))
    call = rows(database)["calls"]["one"]
    assert (call["mood_agent"], call["mood_caller"], call["talk_share_agent"]) == (-0.5, None, 0.75)
    with database.begin() as session:
        assert swap_sides(session, HOUSE, "one").mood_caller == -0.5


async def test_poison_goes_to_the_dead_letters_and_the_rest_is_kept(
    bus: Bus, database: Database, database_settings: Settings
) -> None:
    anything = Topic(SENTENCES.name, Turn, SENTENCES.retention_s)
    strange = Turn(call="one", turn=0, input="the words", states=(), slots={}, action="", reply="")
    with_nul = sentence("one", 0, text="a NUL \x00 in the words")
    too_late = sentence("one", 10**12)
    spelled_out = sentence("one", 5000, text=r"spelled out: \u0000")
    await bus.publish(anything, strange)
    await publish(bus, [state("one", "live"), with_nul, sentence("one", 1000), too_late, spelled_out])
    await bus.publish(Topic(DEAD.name, Turn, DEAD.retention_s), strange)
    async with writing(bus, database_settings) as task:
        await until(lambda: len(rows(database, "dead_letters")["dead_letters"]) >= 3 + database.is_postgres, task)
        await all_kept(bus, task)
    kept = rows(database)
    assert {"one/0/1000", "one/0/5000"} <= kept["sentences"].keys()
    assert "one/0/0" not in kept["sentences"]
    letters = list(kept["dead_letters"].values())
    reasons = {letter["topic"]: letter["reason"] for letter in letters}
    assert set(reasons) == {SENTENCES.name, DEAD.name}
    assert any("NUL" in letter["reason"] for letter in letters)
    if database.is_postgres:  # SQLite's numbers are big enough
        assert any("integer out of range" in letter["reason"] for letter in letters)
    assert not any("words" in letter["reason"] for letter in letters)


async def test_other_stages_dead_letters_are_kept_without_their_bytes(
    bus: Bus, database: Database, database_settings: Settings
) -> None:
    place = {"topic": "tenor.audio", "partition": 3, "offset": 2**40}
    letter = DeadLetter(call="one", stage="asr", reason="no", value=b"the words", at=STARTED, **place)  # type: ignore[arg-type]
    async with writing(bus, database_settings) as task:
        await publish(bus, [letter, letter])
        await all_kept(bus, task)
    ((name, row),) = rows(database)["dead_letters"].items()
    assert name == f"tenor.audio/3/{2**40}"
    assert (row["stage"], row["reason"], row["call"]) == ("asr", "no", "one")
    assert rows(database)["calls"] == {}


async def test_an_erased_call_does_not_come_back(bus: Bus, database: Database, database_settings: Settings) -> None:
    with database.begin() as session:
        tombstones.mark(session, "gone", STARTED)
        tombstones.mark(session, "gone", STARTED)
    letter = DeadLetter(
        call="gone", stage="asr", reason="no", value=b"", at=STARTED, topic="tenor.audio", partition=0, offset=0
    )
    note = Note(call="gone", note="n", author="maria", text="!", at=STARTED)
    async with writing(bus, database_settings) as task:
        await publish(bus, [*whole_call("gone", 10), *whole_call("kept", 10), letter, note])
        await all_kept(bus, task)
    kept = rows(database)
    assert list(kept["calls"]) == ["kept"]
    assert {row["call"] for name in ("sentences", "alerts") for row in kept[name].values()} == {"kept"}
    assert (kept["notes"], kept["dead_letters"]) == ({}, {})
    with database.session() as session:
        assert tombstones.is_erased(session, "gone")
        assert not tombstones.is_erased(session, "kept")
