"""Shoppers who write to the real assistant on a house's bus, for pages that show what came of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from sqlmodel import Session, col, func, select

from storage.tables import Call, Turn
from tenor.runtime.assistant.stage import AssistantStage
from tests.dashboard.conftest import House
from tests.dialog.rig import Rig

TALKS: Mapping[str, Sequence[str]] = {
    "jeans": ("how much are jeans", "will it rain tomorrow", "boston", "and in seattle", "thank you, goodbye"),
    "person": ("do you have milk", "i want to talk to a person"),
    "lost": ("how warm will it get",),
    "words": ("<b>*how*</b> much is [milk](http://example.com) :red[now]",),
}
OVER = ("jeans", "lost", "words")


class _StageRig(Rig):
    def worker(self) -> AssistantStage:
        return AssistantStage(self.bus, self.settings)


def shoppers_write(house: House) -> None:
    """All conversations, one after the other; waits until they are kept."""
    asyncio.run(_write(house))

    def kept(session: Session) -> bool:
        turns = session.exec(select(func.count()).select_from(Turn)).one()
        over = session.exec(select(func.count()).select_from(Call).where(col(Call.state) == "ended")).one()
        return turns >= sum(len(lines) + 1 for lines in TALKS.values()) and over >= len(OVER)

    house.floor.stored(kept)


async def _write(house: House) -> None:
    async with _StageRig(house.settings) as rig:
        rig.start()
        for ago, (call, lines) in enumerate(TALKS.items()):
            await rig.open(call, started_at=time.time() - 60 * ago)
            await rig.turn(0, call)
            for number, text in enumerate(lines, 1):
                await rig.say(text, number, call)
            if call in OVER:
                await rig.end(call)
