"""The feed inside a process: newcomers miss nothing, slow browsers hold up nobody."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import closing

import msgspec
import pytest
from sqlmodel import col, select

from dashboard.routes.feed import QUEUE, Feed, FeedListener, FeedMessage
from storage.db.engine import Database, open_database
from storage.labels.labels import correct
from storage.tables import Call as Row
from storage.tables import Outbox
from storage.viewer import Viewer
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, LABELS, SENTENCES, TURNS, Call, CallState, CallTakenOver, Label, Sentence
from tenor.settings import Settings
from tests.dashboard.floor import without
from tests.storage.conversations import NAMES
from tests.storage.rows import call as row
from tests.storage.rows import sentence as sentence_row
from tests.storage.rows import store

MANAGER, ANNA = Viewer("mia", "manager"), Viewer("anna", "agent")


@pytest.fixture
async def bus(embedded_settings: Settings) -> AsyncIterator[Bus]:
    async with open_bus(embedded_settings) as bus:
        yield bus


@pytest.fixture
async def feed(embedded_settings: Settings, bus: Bus) -> AsyncIterator[Feed]:
    database: Database = open_database(embedded_settings)
    feed = Feed(bus, database)
    following = asyncio.create_task(feed.run())
    await asyncio.sleep(0.2)
    yield feed
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    database.close()


def sentence(call: str, text: str) -> Sentence:
    return Sentence(
        call=call,
        channel=0,
        role="caller",
        sentence=f"{call}/0/{text}",
        revision=0,
        start_ms=0,
        end_ms=1,
        text=text,
        sentiment="neutral",
        sentiment_scores={},
        intent="unknown",
        intent_score=0.0,
    )


async def hear(feed: Feed, viewer: Viewer, until: str, call: str = "") -> str:
    said = ""
    async with asyncio.timeout(10):
        async for chunk in feed.stream(viewer, call, lambda: True):
            said += chunk.decode()
            if until in said:
                return said
    raise AssertionError(said)


async def test_a_newcomer_hears_what_the_database_has_not_yet(feed: Feed, bus: Bus) -> None:
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time(), agent="anna")
    await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=info))
    await bus.publish(SENTENCES, sentence("one", "first words"))
    await asyncio.sleep(0.5)
    said = await hear(feed, MANAGER, "first words")
    assert said.index("event: snapshot") < said.index("event: state") < said.index("event: sentence")
    assert "first words" in await hear(feed, ANNA, "first words")


async def test_a_call_nobody_knows_is_no_agents_to_see(feed: Feed, bus: Bus) -> None:
    """Whose call it is comes with its state: until then only those hear of it who may hear everything."""
    await bus.publish(SENTENCES, sentence("unknown", "whose is this"))
    assert "whose is this" in await hear(feed, MANAGER, "whose is this")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await hear(feed, ANNA, "whose is this")
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time(), agent="anna")
    await bus.publish(CALLS, CallState(call="unknown", state="live", at=time.time(), info=info))
    said = await hear(feed, ANNA, "whose is this")
    assert said.index("event: state") < said.index("event: sentence")


async def test_a_person_who_took_a_conversation_hears_it_on_when_its_medium_changes(
    feed: Feed, bus: Bus, embedded_settings: Settings
) -> None:
    """The shopper switches the microphone on: the state that says so names no agent."""
    info = Call(source="web", roles=("caller", "assistant"), started_at=time.time(), attributes={"assistant": "retail"})
    spoken = msgspec.structs.replace(info, medium="voice")
    await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=info))
    await bus.publish(TURNS, CallTakenOver(call="one", agent="anna", at=time.time()))
    await hear(feed, ANNA, '"state":"taken"')
    await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=spoken))
    await hear(feed, MANAGER, '"medium":"voice"')
    await bus.publish(SENTENCES, sentence("one", "said aloud"))
    assert "said aloud" in await hear(feed, ANNA, "said aloud")
    with closing(open_database(embedded_settings)) as database, database.begin() as session:
        session.add(Row(id="two", agent="anna", state="live", started_at=time.time()))  # taken before we began
    await bus.publish(CALLS, CallState(call="two", state="live", at=time.time(), info=spoken))
    await hear(feed, MANAGER, '"call":"two"')
    await bus.publish(SENTENCES, sentence("two", "said later"))
    assert "said later" in await hear(feed, ANNA, "said later")


async def test_words_that_overtook_their_call_are_told_again(feed: Feed, bus: Bus, embedded_settings: Settings) -> None:
    """Also when the database knew of the call already: a page knows only what it was told."""
    listening = asyncio.create_task(hear(feed, MANAGER, "last words"))
    await hear(feed, MANAGER, "event: now")
    with closing(open_database(embedded_settings)) as database, database.begin() as session:
        session.add(Row(id="one", agent="anna", state="live", started_at=time.time()))
    await bus.publish(SENTENCES, sentence("one", "first words"))
    await hear(feed, MANAGER, "first words")
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time(), agent="anna")
    await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=info))
    await hear(feed, MANAGER, "event: state")
    await bus.publish(SENTENCES, sentence("one", "last words"))
    said = await listening
    assert said.index("event: state") < said.rindex("first words")


async def test_a_call_that_goes_on_is_not_told_that_it_ended(feed: Feed, bus: Bus) -> None:
    listening = asyncio.create_task(hear(feed, MANAGER, "last words"))
    await hear(feed, MANAGER, "event: now")
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time(), agent="anna")
    for state in ("live", "ended", "analysed", "live"):
        await bus.publish(CALLS, CallState(call="one", state=state, at=time.time(), info=info))
    await hear(feed, MANAGER, '"state":"analysed"')
    await bus.publish(SENTENCES, sentence("one", "last words"))
    said = await listening
    assert said.rindex('"state":"live"') > said.rindex('"state":"analysed"') > said.rindex('"state":"ended"')


async def test_a_call_of_no_agent_is_told_once(feed: Feed, bus: Bus) -> None:
    listening = asyncio.create_task(hear(feed, MANAGER, "last words"))
    await asyncio.sleep(0.2)
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time())
    for words in ("first words", "more words", "last words"):
        await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=info))
        await bus.publish(SENTENCES, sentence("one", words))
        await asyncio.sleep(0.2)
    said = await listening
    assert said.count('"text":"more words"') == 1
    assert said.count('"text":"first words"') <= 2, "again only if the call's state came after it"


@pytest.mark.slow
async def test_without_the_database_the_bus_goes_on(feed: Feed, bus: Bus, embedded_settings: Settings) -> None:
    """Who listens hears on and is told; who comes gets the calls that go on; all start over when it is back."""
    info = Call(source="test", roles=("caller", "agent"), started_at=time.time(), agent="anna")
    await bus.publish(CALLS, CallState(call="one", state="live", at=time.time(), info=info))
    listening = asyncio.create_task(hear(feed, MANAGER, "back again"))
    await hear(feed, MANAGER, '"state":"live"')
    with closing(open_database(embedded_settings)) as database, without(database):
        told = [sentence("unknown", "nobody can look this up"), sentence("one", "said meanwhile")]
        await bus.publish_many(SENTENCES, told)
        said = await hear(feed, ANNA, "said meanwhile")
    assert said.index("event: trouble") < said.index('"state":"live"') < said.index("said meanwhile")
    assert "event: snapshot" not in said
    assert "nobody can look" not in said, "whose call it is, nobody can tell now"
    async with asyncio.timeout(15):
        while "event: snapshot" not in await hear(feed, MANAGER, "event: now"):
            await asyncio.sleep(0.1)
    await bus.publish(SENTENCES, sentence("one", "back again"))
    heard = await listening
    assert heard.count("event: trouble") == 1
    assert heard.count("event: snapshot") == 2
    assert heard.rindex("said meanwhile") > heard.rindex("event: snapshot"), "the database may not have it yet"


async def test_a_label_comes_with_what_counts(feed: Feed, bus: Bus, embedded_settings: Settings) -> None:
    """Not the newest: an agent's own counts only where nobody else made one."""
    with closing(open_database(embedded_settings)) as database:
        store(database, row("one", agent="anna"), sentence_row("one", 0))
        with database.begin() as session:
            correct(session, MANAGER, "one/0/0", "sentiment", "negative", names=NAMES)
            correct(session, ANNA, "one/0/0", "sentiment", "positive", names=NAMES)
            correct(session, ANNA, "one/0/0", "intent", "refund", names=NAMES)
            waiting = [
                LABELS.decode(one.event.encode()) for one in session.exec(select(Outbox).order_by(col(Outbox.id)))
            ]
    listening = asyncio.create_task(hear(feed, ANNA, '"kind":"intent","value":"refund","author":', "one"))
    stranger = asyncio.create_task(hear(feed, Viewer("ben", "agent"), "event: label"))
    await hear(feed, MANAGER, "event: now")
    await bus.publish_many(LABELS, waiting)
    told = [json.loads(line[6:]) for line in (await listening).splitlines() if line.startswith("data: ")]
    *_, label = [one for one in told if "as_left" in one]
    assert (label["value"], label["author"], label["author_role"]) == ("refund", "anna", "agent")
    assert {kind: one["author"] for kind, one in label["effective"].items()} == {"sentiment": "mia", "intent": "anna"}
    assert label["as_left"] == {"role": "caller", "text": "words at 0", "sentiment": "negative", "intent": "refund"}
    assert not stranger.done(), "somebody else's call"
    stranger.cancel()


async def test_a_label_of_a_sentence_that_is_gone_is_no_news(feed: Feed, bus: Bus) -> None:
    label = Label(call="gone", kind="text", value="x", author="mia", author_role="manager", at=1.0, sentence="gone/0/0")
    listening = asyncio.create_task(hear(feed, MANAGER, "still going"))
    await hear(feed, MANAGER, "event: now")
    await bus.publish(LABELS, label)
    await bus.publish(SENTENCES, sentence("one", "still going"))
    assert "event: label" not in await listening


async def test_unreadable_records_are_passed_over(feed: Feed, bus: Bus) -> None:
    await bus.publish(SENTENCES, CallState(call="one", state="live", at=0.0))
    await bus.publish(SENTENCES, sentence("one", "still going"))
    assert "still going" in await hear(feed, MANAGER, "still going")


async def test_a_slow_browser_starts_over_and_holds_up_nobody() -> None:
    slow = FeedListener(MANAGER, "")
    for number in range(QUEUE + 10):
        slow.offer(FeedMessage("one", "anna", 0.0, b"%d" % number))
    assert await slow.take(1) is None, "a snapshot takes the place of what was missed"
    slow.offer(FeedMessage("one", "anna", 0.0, b"next"))
    assert await slow.take(1) == b"next"
    assert await slow.take(0.01) == b""


async def test_a_session_that_ended_ends_the_stream(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.routes.feed.HEARTBEAT_S", 0.05)
    chunks = [chunk async for chunk in feed.stream(MANAGER, "", lambda: False)]
    assert chunks[-1].startswith(b"event: stale")
