"""A written conversation is a call on the bus: live, its words, ended; redacted before anything is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingest.text.publisher import publish_conversation
from tenor.bus import Bus
from tenor.events import CALLS, TRANSCRIPTS, CallState, Transcript
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import SpeechSettings
from tests.ingest.text.reading import read

CHAT = "[10:00] Customer: My card is 4111 1111 1111 1111.\n[10:01] Agent: Thank you.\n[10:02] Customer: Bye.\n"
REDACTOR = PatternRedactor(SpeechSettings().redact_kinds)


async def everything(bus: Bus) -> tuple[list[CallState], list[Transcript]]:
    async with bus.follower([CALLS, TRANSCRIPTS], from_start=True) as follower:
        records = await follower.poll()
    states = [CALLS.decode(record.value) for record in records if record.topic == CALLS.name]
    return states, [TRANSCRIPTS.decode(record.value) for record in records if record.topic == TRANSCRIPTS.name]


@pytest.fixture
def bus_settings(embedded_settings: object) -> object:
    return embedded_settings


def words(*events: Any) -> str:
    """All words of the events. Their times are numbers, which may have any digits."""

    def inside(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for item in value.items() for part in item for text in inside(part)]
        if isinstance(value, list):
            return [text for part in value for text in inside(part)]
        return [] if isinstance(value, float) else [str(value)]

    return " ".join(inside(msgspec.to_builtins(events)))


async def test_what_lies_on_the_bus(bus: Bus, tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "chat.txt", CHAT, agent="nadia", queue="cards")
    published = await publish_conversation(bus, conversation, SpeechSettings(), REDACTOR)
    (live, ended), said = await everything(bus)
    assert (live.state, ended.state) == ("live", "ended")
    assert live.info is not None
    assert (live.info.medium, live.info.source, live.info.agent, live.info.queue) == ("chat", "file", "nadia", "cards")
    assert [final.role for final in said] == ["caller", "agent", "caller"]
    assert [final.start_ms for final in said] == [0, 60_000, 120_000]
    assert all(
        final.final and final.utterance == f"{published.call}/{final.channel}/{final.start_ms}" for final in said
    )
    assert said[0].text == "My card is 4111 1111 1111 1111."
    assert published.chunks == 3


@pytest.mark.parametrize(
    "speech",
    [SpeechSettings(redact="text"), SpeechSettings(redact_queues={"cards": "audio"})],
    ids=["all calls", "calls of the queue"],
)
async def test_what_is_to_be_redacted_never_reaches_the_bus(bus: Bus, tmp_path: Path, speech: SpeechSettings) -> None:
    mail = f"From: a@b.example\nSubject: card 4111 1111 1111 1111\n\n{CHAT}"
    [conversation] = read(tmp_path / "mail.eml", mail, queue="cards")
    await publish_conversation(bus, conversation, speech, REDACTOR)
    (live, _), said = await everything(bus)
    assert "1111" not in words(live, *said)
    assert "[card]" in said[0].text


async def test_no_card_is_in_what_the_platform_says_of_a_call(bus: Bus, tmp_path: Path) -> None:
    """In the names of files and queues, in ids and attributes; other numbers stay, for the call is known by them."""
    card, attributes = "4111-1111-1111-1111", {"url": "https://shop.example/?pan=4111%201111%201111%201111&step=2"}
    path = tmp_path / f"chat {card}.json"
    attributes["order"] = "48213990"
    chat = '[{"speaker": "caller", "text": "Hello there"}]'
    own = {"queue": f"pay/{card}", "customer": "+12065550193"}
    [conversation] = read(path, chat, None, redact="text", attributes=attributes, **own)
    published = await publish_conversation(bus, conversation, SpeechSettings(), REDACTOR)
    (live, _), said = await everything(bus)
    assert "1111" not in published.call + words(live, *said)
    assert live.info is not None
    assert live.info.queue == "pay/[card]"
    assert live.info.attributes["url"] == "https://shop.example/?pan=[card]&step=2"
    assert (live.info.attributes["order"], live.info.customer) == ("48213990", "+12065550193")


async def test_a_calls_own_wish_comes_first(bus: Bus, tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "chat.txt", CHAT, redact="off")
    await publish_conversation(bus, conversation, SpeechSettings(redact="text"), REDACTOR)
    _, said = await everything(bus)
    assert "4111" in said[0].text


async def test_paced_it_comes_as_it_was_written(bus: Bus, tmp_path: Path) -> None:
    [conversation] = read(tmp_path / "chat.txt", CHAT)
    await publish_conversation(bus, conversation, SpeechSettings(), REDACTOR, pace=120)
    (live, _), said = await everything(bus)
    assert live.info is not None
    waits = [final.times["published"] - live.info.started_at for final in said]
    assert waits == pytest.approx([0, 0.5, 1.0], abs=0.25)
