"""The whole chain in one process, from the audio to the rows, the recordings and the webhooks, killed in the middle."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from storage.db.engine import Database, open_database
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, Call, CallEnded, CallStarted
from tenor.settings import BusSettings, Settings
from tests.asr.scripted_riva import ScriptedRiva, chunks, silence, speak
from tests.killing import TenorProcess
from tests.nlp.webhooks.web import Web, serving, status
from tests.storage.writing import rows
from tests.watching import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

NAMES = ("one", "two", "three")
CALLER = ("hello i would like to cancel my order", "service was terrible today", "okay thanks bye")
"""Only one side speaks: what two say at once is published in any order, and the model is told the sentence before."""
RULES = "cancels: {when: {says: cancel}, webhook: crm}\n"
BY_THE_CLOCK = {"calls": ("state_at", "ended_at"), "sentences": ("times", "latency_ms"), "alerts": ("at",)}
"""Columns that tell when something happened, which no two runs share."""


def chain_of(settings: Settings, riva: ScriptedRiva, web: Web) -> TenorProcess:
    """`tenor serve` with every stage that handles calls."""
    rules = settings.home / "rules.yaml"
    rules.write_text(RULES)
    return TenorProcess(
        settings,
        *("serve", "asr", "language", "webhooks", "storage", "recordings"),
        TENOR_SPEECH__ADDRESS=riva.address,
        TENOR_SPEECH__FORCE_FINAL_S="60",
        TENOR_SPEECH__WATCHDOG_S="60",
        TENOR_LANGUAGE__RULES=str(rules),
        TENOR_LANGUAGE__WEBHOOKS=json.dumps({"crm": web.url("/crm")}),
        TENOR_LANGUAGE__WEBHOOK_SECRET="a secret of ours",
        TENOR_TELEMETRY__LOG_LEVEL="error",
    )


async def outcome(home: Path, *, killed: bool) -> dict[str, Any]:
    """What is left of the calls; the chain killed, or not, as soon as something of them is kept."""
    home.mkdir()
    settings = Settings(home=home, bus=BusSettings(partitions=2, lease_s=1))
    database = open_database(settings)
    async with ScriptedRiva() as riva, serving(crm=[status(200)]) as web, open_bus(settings) as bus:
        chain = chain_of(settings, riva, web)
        chain.start()
        try:
            feeding = asyncio.create_task(_feed(bus))
            if killed:
                await until(lambda: rows(database, "sentences")["sentences"], timeout_s=90)
                chain.kill()
                chain.start()
            await feeding
            await until(lambda: _done(database, web), timeout_s=90)
        finally:
            chain.kill()
        left: dict[str, Any] = rows(database)
        left["letters"] = {json.loads(request.body)["id"] for request in web.requests}
    database.close()
    for table, columns in BY_THE_CLOCK.items():
        for row in left[table].values():
            for column in columns:
                del row[column]
    left["recordings"] = {path.name: path.read_bytes() for path in Path(settings.recordings_url).iterdir()}
    return left


async def _feed(bus: Bus) -> None:
    sides = {
        (call, channel): list(chunks(call, channel, b"".join(speak(line) + silence(1500) for line in lines)))
        for call in NAMES
        for channel, lines in enumerate((CALLER, ()))
    }
    info = Call(source="file", roles=("caller", "agent"), started_at=1.7e9, agent="ann", customer="555-0101")
    await bus.publish_many(AUDIO, [CallStarted(call=call, info=info) for call in NAMES])
    for moment in range(max(map(len, sides.values()))):
        await bus.publish_many(AUDIO, [side[moment] for side in sides.values() if moment < len(side)])
        await asyncio.sleep(0.02)
    await bus.publish_many(AUDIO, [CallEnded(call=call, reason="hangup", at=1.7e9 + 60) for call in NAMES])


def _done(database: Database, web: Web) -> bool:
    calls = rows(database, "calls")["calls"].values()
    letters = {json.loads(request.body)["id"] for request in web.requests}
    return len(calls) == len(letters) == len(NAMES) and all(
        row["state"] == "analysed" and row["recorded"] for row in calls
    )


async def test_a_chain_that_is_killed_leaves_what_one_that_lives_leaves(tmp_path: Path) -> None:
    calm = await outcome(tmp_path / "calm", killed=False)
    assert len(calm["sentences"]) >= 3 * len(NAMES)
    assert (len(calm["alerts"]), len(calm["letters"]), len(calm["recordings"])) == (3, 3, 3)
    assert await outcome(tmp_path / "killed", killed=True) == calm
