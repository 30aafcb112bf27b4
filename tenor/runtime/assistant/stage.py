"""The assistant as a stage: its flows, its actions and what understands, on a bus."""

from __future__ import annotations

from pathlib import Path

from dialog.engine import Engine
from dialog.engine.default_slots import with_slots
from dialog.flow.loading import SHIPPED, AssistantFolder
from dialog.flow.model import Assistant
from dialog.flow_versions import FlowVersion, FlowVersions
from dialog.fulfilment.registry import actions, actions_of
from dialog.fulfilment.runner import ActionRunner
from dialog.worker import AssistantWorker
from tenor.bus import Bus
from tenor.model_store.watching import watching_promotions
from tenor.runtime.assistant.assistant import parsers_of
from tenor.runtime.assistant.understanding import PromotedUnderstanders, assistant_models, understander
from tenor.settings import Settings


class AssistantStage(AssistantWorker):
    def __init__(self, bus: Bus, settings: Settings) -> None:
        """BadInput when the flows are wrong: all faults are told before anything is answered."""
        wanted = settings.assistant
        self._models = PromotedUnderstanders(assistant_models(settings, understander))
        reads = self._models.pool.current().understander
        shipped = actions(wanted, settings.home)

        def make(flows: Assistant) -> FlowVersion:
            flows = with_slots(flows)
            own = {**shipped, **actions_of(flows.actions, shipped)}
            engine = Engine(flows, reads, parsers_of(slot.type for slot in flows.slots.values()))
            return FlowVersion(engine, ActionRunner(own, timeout_s=wanted.timeout_s, retries=wanted.retries))

        folder = AssistantFolder(Path(wanted.flows) if wanted.flows else SHIPPED)
        super().__init__(bus, FlowVersions(folder, make, settings.flow_versions), self._models)
        self._stage_bus = bus

    async def run(self) -> None:
        async with watching_promotions([self._models.pool], self._stage_bus, self.name):
            await super().run()
