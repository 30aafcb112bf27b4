"""What the dashboard has to do with the voice: who gets a ticket, and where the gateway is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.assistant.voice import Voice
from tenor.assistant.voice_ticket import VoiceTickets
from tenor.errors import BadInput
from tenor.events import TRANSCRIPTS, Transcript
from tenor.settings import BusSettings, Settings
from tests.dashboard.assistant.conftest import SECRET, Shop, Visitor, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
TICKETS = VoiceTickets(SECRET)


def path(visitor: Visitor) -> str:
    return f"/assistant/api/sessions/{visitor.session}/voice"


async def test_the_holder_of_a_conversation_gets_a_ticket_for_it(shop: Shop) -> None:
    visitor, other = await shop.begin(timezone="America/Chicago"), await shop.begin()
    origin = str(shop.client.base_url).rstrip("/")
    answer = await shop.client.post(path(visitor), headers={**visitor.headers, "Origin": origin})
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    given = answer.json()
    assert given["url"] == "ws://127.0.0.1:8400/browser"
    ticket = TICKETS.read(given["ticket"], visitor.session)
    assert ticket is not None
    assert (ticket.session, ticket.visitor, ticket.origin) == (visitor.session, "127.0.0.1", origin)
    assert ticket.info.attributes == {"assistant": "retail", "timezone": "America/Chicago"}
    assert TICKETS.read(given["ticket"], other.session) is None
    assert TICKETS.read(visitor.token, visitor.session) is None


async def test_others_get_none(shop: Shop) -> None:
    visitor, other = await shop.begin(), await shop.begin()
    assert (await shop.client.post(path(visitor), headers=other.headers)).status_code == 401
    assert (await shop.client.post(path(visitor))).status_code == 401
    evil = {**visitor.headers, "Origin": "https://evil.example"}
    assert (await shop.client.post(path(visitor), headers=evil)).status_code == 403
    await shop.client.delete(f"/assistant/api/sessions/{visitor.session}", headers=visitor.headers)
    await visitor.next("ended")
    assert (await shop.client.post(path(visitor), headers=visitor.headers)).status_code == 400


async def test_a_spoken_line_is_told_as_such(shop: Shop) -> None:
    visitor = await shop.begin()
    said = Transcript(
        call=visitor.session, channel=0, role="caller", utterance=f"{visitor.session}/0/9000", start_ms=9000,
        end_ms=9500, text="how much is milk", final=True,
    )  # fmt: skip
    await shop.rig.bus.publish(TRANSCRIPTS, said)
    line = await visitor.next("line")
    assert (line["text"], line["spoken"]) == ("how much is milk", True)
    await visitor.next("turn")
    await visitor.post("and eggs")
    assert (await visitor.next("line"))["spoken"] is False


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mute")


async def test_without_a_voice_there_is_no_ticket_and_limits_count(home: Path) -> None:
    settings = Settings(home=home, bus=BusSettings(partitions=4, lease_s=2, patience_s=30))
    async with serving(settings, assistant={"voice_url": "off"}) as mute:
        visitor = await mute.begin()
        assert (await mute.client.post(path(visitor), headers=visitor.headers)).status_code == 404
        assert 'data-voice=""' in (await mute.client.get("/assistant")).text
    async with serving(settings, assistant={"messages_per_minute": 3}) as limited:
        visitor = await limited.begin()
        codes = [(await limited.client.post(path(visitor), headers=visitor.headers)).status_code for _ in range(5)]
        assert codes[0] == 201
        assert codes[-1] == 429


@pytest.mark.parametrize("address", ["https://calls.example.com/browser", "calls.example.com", "ws://"])
async def test_an_address_that_is_no_sockets_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="voice_url"):
        Voice(Settings.model_validate({"assistant": {"voice_url": address}}), SECRET)
