"""What the dashboard's pages about models need of the stages."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from tenor.model_store.promotion_log import Promotion
from tenor.runtime.frozen import frozen_sentences
from tenor.runtime.models import check_model, pinned_by, wake_workers
from tenor.settings import Settings

if TYPE_CHECKING:
    from dashboard.model_tools import ModelTools


def model_tools(settings: Settings) -> ModelTools:
    from dashboard.model_tools import ModelTools

    def wake(promotion: Promotion) -> None:  # pages run in threads of their own, without an event loop
        asyncio.run(wake_workers(settings, promotion))

    check = partial(check_model, riva=settings.riva)
    return ModelTools(check=check, frozen=frozen_sentences, wake=wake, pinned_by=partial(pinned_by, settings))
