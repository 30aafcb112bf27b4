"""The assistant as it is served: what shoppers reserved outlives the process."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest

from dialog.fulfilment.registry import actions
from dialog.fulfilment.types import ActionCall, ChangingAction
from dialog.understanding.keywords import Keywords
from tenor.runtime.assistant import stage as assistant_stage
from tenor.runtime.assistant.stage import AssistantStage
from tenor.runtime.profiles import change_settings
from tenor.runtime.running import running
from tenor.settings import Settings
from tests.dialog.rig import Rig


async def _reserve(settings: Settings, call: str) -> dict[str, Any]:
    """A process that starts, takes a reservation and ends."""
    async with Rig(settings) as rig, running(AssistantStage(rig.bus, settings)):
        await rig.open(call)
        asked = await rig.say("reserve two pairs of jeans in boston", 1, call)
        assert asked.reply.startswith("Shall I reserve")
        turn = await rig.say("yes please", 2, call)
        [done] = turn.actions
        assert done.name == "reserve"
        assert done.result is not None
        return {"key": done.key, **done.result}


async def _pieces(settings: Settings, kept: dict[str, Any]) -> int:
    """How many are left where it was reserved, as somebody else is told who starts now."""
    wanted = {"item": kept["name"], "location": "Boston", "store": kept["store"]}
    call = ActionCall(name="stock", arguments=wanted, now=datetime(2026, 11, 18, 10), key="", call="other")
    found = (await actions("sample", settings.home)["stock"].run(call)).result["items"]
    return sum(item["quantity"] for item in found if item["address"] == kept["address"])


async def test_a_reservation_is_still_there_after_a_restart(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assistant_stage, "understander", lambda folder: Keywords())
    first = await _reserve(sqlite_settings, "a")
    assert first["reserved"]
    left = await _pieces(sqlite_settings, first)
    second = await _reserve(sqlite_settings, "b")
    assert second["reference"] != first["reference"]
    assert second["address"] == first["address"]
    assert await _pieces(sqlite_settings, first) == left - 2
    shop = cast(ChangingAction, actions("sample", sqlite_settings.home)["reserve"])
    known = await shop.lookup(first["key"])
    assert known is not None
    assert known.result["reference"] == first["reference"]


LOYALTY = """
start: hello
intents: {loyalty.points: {like: [how many points do i have, what is on my bonus card]}}
intent_transitions: {loyalty.points: points, nomatch.none: sorry}
states:
  hello: {type: message_text, properties: {text: Hello}}
  ask: {type: input_context}
  points: {type: message_text, properties: {text: You have seven points}, transitions: {next_state: ask}}
  sorry: {type: message_text, properties: {text: Sorry}, transitions: {next_state: ask}}
"""


@pytest.mark.parametrize(
    ("reads", "line"),
    [
        pytest.param("model", "how many points have i got", marks=pytest.mark.slow),
        ("rules", "how many points do i have"),
    ],
)
async def test_intents_of_ones_own_are_understood_on_the_bus_as_in_the_terminal(
    embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: str, line: str
) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "main_flow.yml").write_text(LOYALTY)
    settings = change_settings(embedded_settings, assistant={"flows": str(tmp_path / "flows")})
    if reads == "rules":
        monkeypatch.setattr(assistant_stage, "understander", lambda folder: Keywords())
    async with Rig(settings) as rig, running(AssistantStage(rig.bus, settings)):
        await rig.open("c")
        turn = await rig.say(line, 1, "c")
        assert turn.reply == "You have seven points"
        assert turn.intent == "loyalty.points"
