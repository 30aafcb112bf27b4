"""A conversation with the assistant is analyzed like any other; what the assistant says raises no alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenor.events import CALLS, Alert
from tests.nlp.rig import Rig, said


async def test_the_assistants_own_words_raise_no_alert(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.start()
        about: dict[str, Any] = {
            "medium": "chat",
            "roles": ("caller", "assistant"),
            "attributes": {"assistant": "retail"},
        }
        await rig.state("live", **about)
        for number in range(6):
            await rig.say(said("I want a refund.", 2000 * number))
            terrible = "That is terrible, I am angry at our broken shop. Shall I get you my lawyer?"
            await rig.say(said(terrible, 2000 * number + 1000, channel=1, role="assistant"))
        await rig.state("ended", **about)
        await rig.analysed()
        assert {sentence.role for sentence in await rig.sentences()} == {"caller", "assistant"}
        assert not [event for event in await rig.events(CALLS) if isinstance(event, Alert)]
        assert "mood.caller" in (await rig.metrics())[-1].values
