"""Conversations with the assistant are kept turn by turn, and go where their call goes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from sqlmodel import Session, select

from storage.db.engine import Database, open_database
from storage.db.vacuum import compact
from storage.labels.allowed import turn_names
from storage.labels.labels import correct_turn
from storage.privacy import pii_scan
from storage.privacy.erasure import erase
from storage.privacy.retention import prune
from storage.queries import calls
from storage.tables import Turn
from storage.transfer import importer
from storage.transfer.exporter import render
from storage.transfer.importer import FoundDocument
from storage.viewer import HOUSE, Viewer
from storage.writer.event_batch import EventBatch
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.errors import BadInput
from tenor.events import ActionDone, ActionStarted, Event, TurnReply
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import Settings, StorageSettings
from tests.storage.events import STARTED, info, looked_up, sentence, state, turn
from tests.storage.privacy.test_erasure import found_in, tables_with
from tests.storage.writing import all_kept, publish, rows, writing

SECRET = "xylophonist"
CARD = "4111 1111 1111 1111"
DAY_S = 86_400.0


def write(database: Database, *events: Event) -> None:
    with database.begin() as session:
        EventBatch((event, STARTED) for event in events).write(session)


def conversation(call: str, word: str = "jeans") -> list[Event]:
    about = info(medium="chat", roles=("caller", "assistant"), attributes={"assistant": "retail"}, agent="")
    found = {"items": [{"name": word, "price": 40.0}]}
    priced = looked_up("prices", {"item": word}, found, key="k", ms=12.5, source="sample")
    return [
        state(call, "live", info=about),
        turn(call, 0, replies=(TurnReply(text="Hi, welcome."),)),
        ActionStarted(call=call, turn=1, action="prices", key="k", arguments={"item": word}, at=STARTED),
        ActionDone(call=call, turn=1, key="k", done=priced, at=STARTED),
        turn(
            call, 1, f"how much are {word}", intent="price_check", intent_score=0.9, slots={"item": word},
            actions=(priced,), tags=("B-interrogative", "I-interrogative", "O", "B-item.type"),
            replies=(TurnReply(text=f"The {word} cost 40 dollars.", card={"action": "prices", "result": found}),),
            session={"call": call, "turn": 1, "context": {"text": f"how much are {word}"}},
        ),
        sentence(call, 1000, text=f"how much are {word}"),
        state(call, "ended", STARTED + 9),
        state(call, "analysed", STARTED + 10),
    ]  # fmt: skip


async def test_a_turn_is_kept_once_however_often_it_comes(bus: Bus, bus_settings: Settings) -> None:
    """A worker that was frozen may publish a turn again: the first counts."""
    database = open_database(bus_settings)
    async with writing(bus, bus_settings) as task:
        await publish(bus, conversation("one"))
        await publish(bus, [turn("one", 1, "how much are jeans", reply="Another answer.", replies=())])
        await all_kept(bus, task)
    kept = rows(database, "turns")["turns"]
    assert list(kept) == ["one/0", "one/1"]
    row = kept["one/1"]
    assert (row["input"], row["intent"], row["slots"], row["cause"]) == (
        "how much are jeans", "price_check", {"item": "jeans"}, ["one/0/1000"],
    )  # fmt: skip
    assert row["actions"][0]["result"] == {"items": [{"name": "jeans", "price": 40.0}]}
    assert row["replies"][0]["text"] == "The jeans cost 40 dollars."
    assert (row["at"], row["latency_ms"], row["tags"][3]) == (STARTED + 1, 250.0, "B-item.type")
    assert rows(database, "dead_letters")["dead_letters"] == {}
    database.close()


def test_turns_come_with_their_call_in_order(database: Database) -> None:
    write(database, *(turn("one", number, f"line {number}") for number in (11, 2, 0)), *conversation("two"))
    with database.session() as session:
        found = calls.whole(session, HOUSE, "one")
        assert found is not None
        assert [row.turn for row in found.turns] == [0, 2, 11]


async def test_an_erased_conversation_leaves_nothing_behind(database_settings: Settings) -> None:
    database = open_database(database_settings)
    async with open_bus(database_settings) as bus:
        await publish(bus, conversation("gone", SECRET))
    write(database, *conversation("gone", SECRET), *conversation("kept"))
    assert tables_with(database, SECRET)
    receipt = await erase(database, database_settings, by="root", call="gone")
    assert receipt.rows["turns"] == 2
    assert tables_with(database, SECRET) == []
    assert found_in(database_settings.home, SECRET) == []
    write(database, *conversation("gone", SECRET))  # a bus that still holds it cannot bring it back
    assert tables_with(database, SECRET) == []
    assert [row["call"] for row in rows(database, "turns")["turns"].values()] == ["kept", "kept"]
    database.close()


def test_turns_go_when_their_call_is_past_its_time(database: Database, database_settings: Settings) -> None:
    write(database, *conversation("old"))
    settings = database_settings.model_copy(
        update={"storage": database_settings.storage.model_copy(update={"keep_calls_days": 5})}
    )
    assert prune(database, settings, "test", STARTED + 4 * DAY_S).calls == 0
    assert prune(database, settings, "test", STARTED + 6 * DAY_S).calls == 1
    assert rows(database, "turns")["turns"] == {}


@pytest.mark.parametrize("form", ["json", "vcon"])
def test_an_exported_conversation_comes_in_with_its_turns(form: str, database: Database, tmp_path: Path) -> None:
    write(database, *conversation("one"))
    with database.begin() as session:
        names = turn_names(session)
        correct_turn(session, Viewer("ann", "analyst"), "one/1", "intent", "inventory_check", names=names, seconds=2.0)
    with database.session() as session:
        found = calls.whole(session, HOUSE, "one")
        assert found is not None
        content = render(session, found, form).encode()  # type: ignore[arg-type]
    settings = Settings(home=tmp_path / "elsewhere", storage=StorageSettings())
    settings.home.mkdir()
    there = open_database(settings)
    importer.store(there, settings, importer.read(FoundDocument("file", content)), by="root")
    assert rows(there, "turns") == rows(database, "turns")
    assert rows(there, "labels") == rows(database, "labels")
    again = importer.read(FoundDocument("file", content))
    assert importer.store(there, settings, again, by="root").outcome == "unchanged"
    there.close()


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        ({"call": "another"}, r"\$.turns\[1\].call"),
        ({"id": "one/0"}, r"\$.turns\[1\].id"),
        ({"turn": "first"}, r"\$.turns\[1\].turn"),
        ({"session": []}, r"\$.turns\[1\].session"),
    ],
)
def test_wrong_turns_in_a_document_are_refused_with_their_place(
    bad: dict[str, object], place: str, sqlite_settings: Settings
) -> None:
    database = open_database(sqlite_settings)
    write(database, *conversation("one"))
    with database.session() as session:
        found = calls.whole(session, HOUSE, "one")
        assert found is not None
        document = msgspec.json.decode(render(session, found, "json"))
    document["turns"][1] |= bad
    with pytest.raises(BadInput, match=place):
        importer.read(FoundDocument("file", msgspec.json.encode(document)))
    database.close()


def test_the_scan_finds_what_a_shopper_typed_and_leaves_the_shops_own_numbers(
    database: Database, database_settings: Settings
) -> None:
    telephone = "617-555-0134"  # of a store
    line = f"my card number is {CARD}"
    noted = looked_up("reserve", {"note": line, "card": CARD.replace(" ", "")}, {"stores": [{"telephone": telephone}]})
    told = turn(
        "one", 1, line, slots={"card": CARD.replace(" ", ""), "item": "jeans"}, actions=(noted,),
        replies=(TurnReply(text=f"You said {CARD}. Call the store at {telephone}."),),
        session={"context": {"text": line}, "slots": {"item": {"text": "jeans"}}},
        trace=(("failure", f"heard {CARD}"),),
    )  # fmt: skip
    write(database, *conversation("one")[:2], told, state("one", "ended"), state("one", "analysed"))
    redactor = PatternRedactor(("card", "phone"))
    totals = pii_scan.scan(database, redactor)
    report = totals.report()
    assert (report.affected, report.kinds) == (1, {"card": 7})
    assert CARD not in str(report)
    assert pii_scan.mask(database, redactor, totals, by="root").rows == {"turns": 1}
    compact(database)
    assert tables_with(database, CARD) == tables_with(database, CARD.replace(" ", "")) == []
    assert database.is_postgres or found_in(database_settings.home, CARD) == []
    with database.session() as session:
        row = _row(session, "one/1")
        assert row.input == "my card number is [card]"
        assert row.slots == {"card": "[card]", "item": "jeans"}
        assert row.replies[0]["text"] == f"You said [card]. Call the store at {telephone}."
        assert row.actions[0]["result"] == {"stores": [{"telephone": telephone}]}
        assert row.session["context"] == {"text": "my card number is [card]"}
    assert pii_scan.scan(database, redactor).affected == 0


def _row(session: Session, name: str) -> Turn:
    return session.exec(select(Turn).where(Turn.id == name)).one()
