"""The assistant put together: its flows, what understands, the parsers of its slots, its actions.

Usable from Python:

    chat = Assistant.load(settings).chat(clock=datetime.now)
    print((await chat.start()).replies, (await chat.say("will it rain in Boston tomorrow?")).replies)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dialog.chat import Chat, Clock
from dialog.engine import Engine
from dialog.engine.default_slots import with_slots
from dialog.flow.loading import SHIPPED, load
from dialog.fulfilment.registry import PROVIDED, actions, actions_of
from dialog.fulfilment.runner import ActionRunner
from dialog.understanding.types import Understander
from dialog.values.registry import parser
from dialog.values.types import Parser
from tenor.runtime.assistant.understanding import assistant_models, understander
from tenor.settings import AssistantSettings, Settings


@dataclass(frozen=True)
class Assistant:
    engine: Engine
    runner: ActionRunner

    @classmethod
    def load(
        cls,
        settings: Settings,
        *,
        flows: Path | Sequence[Path] | None = None,
        provider: str = "",
        model: bool = True,
    ) -> Assistant:
        """The assistant that the settings name, or of other flows; BadInput when they are wrong. A provider given here
        answers all actions. Without the model, rules understand."""
        chosen = settings.assistant
        flow = with_slots(load(flows or (Path(chosen.flows) if chosen.flows else SHIPPED)))
        shipped = actions(_with_provider(chosen, provider))
        parsers = parsers_of(slot.type for slot in flow.slots.values())
        runner = ActionRunner(
            {**shipped, **actions_of(flow.actions, shipped)}, timeout_s=chosen.timeout_s, retries=chosen.retries
        )

        def reader(folder: Path | None) -> Understander:
            return understander(folder, model=model, examples=flow.examples)

        reads = assistant_models(settings, reader).current().understander
        return cls(Engine(flow, reads, parsers), runner)

    def chat(self, clock: Clock = datetime.now, call: str = "chat") -> Chat:
        return Chat(self.engine, self.runner, clock, call)


def _with_provider(settings: AssistantSettings, provider: str) -> AssistantSettings:
    if not provider:
        return settings
    return settings.model_copy(update={"provider": provider, **dict.fromkeys(PROVIDED, "")})


def parsers_of(kinds: Iterable[str]) -> dict[str, Parser]:
    """Parsers by type; products and stores are known by the names of the sample shop."""
    from dialog.fulfilment.sample.matching import not_misspelt
    from dialog.fulfilment.sample.shop import SampleShop
    from dialog.values.shop.item import ItemParser
    from dialog.values.shop.store import StoreParser

    found = {kind: parser(kind) for kind in dict.fromkeys(kinds)}
    if "item" in found or "store" in found:
        shop = SampleShop()
        found["item"] = ItemParser(shop.item_names(), not_misspelt(), shop.misheard())
        found["store"] = StoreParser(shop.store_names(), not_misspelt())
        shop.close()
    return found
