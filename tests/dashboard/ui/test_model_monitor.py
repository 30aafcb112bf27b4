"""Operations knows which models are in force and what could not be loaded."""

from __future__ import annotations

import time

from dashboard.ui.lag_monitor import LagMonitor
from tenor.bus.opening import open_bus
from tenor.events import MODELS, ModelLoaded
from tenor.settings import Settings
from tests.model_folders import promoted, promotion


def loaded(model: str, reason: str = "", process: str = "here:1", at: float | None = None) -> ModelLoaded:
    moment = time.time() if at is None else at
    return ModelLoaded(
        call="", kind="language", model=model, stage="language", process=process, at=moment, reason=reason
    )


async def test_what_is_in_force_and_what_cannot_be_loaded_is_told(sqlite_settings: Settings) -> None:
    monitor = LagMonitor(sqlite_settings)
    monitor.measure()
    assert monitor.models.in_force() == []
    assert sqlite_settings.models_folder is not None
    promoted(sqlite_settings.models_folder, promotion("house-1", "a" * 64, time.time() - 5))
    told = {one.kind: (one.model, one.by) for one in monitor.models.in_force()}
    assert told["language"] == ("house-1", "ann")
    assert told["speech"] == ("whisper-tiny-1", "")
    async with open_bus(sqlite_settings) as bus:
        await bus.publish(MODELS, loaded("house-1", "a file changed"))
        await bus.publish(MODELS, loaded("house-1", "long ago", process="gone:2", at=time.time() - 9999))
        await monitor.models.read(bus)
        assert [(one.model, one.reason) for one in monitor.models.failures()] == [("house-1", "a file changed")]
        await bus.publish(MODELS, loaded("house-1"))  # somebody restored the file
        await monitor.models.read(bus)
    assert monitor.models.failures() == []
