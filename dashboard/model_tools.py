"""What pages about models need of packages that the dashboard may not import; whoever starts it brings it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from tenor.model_store.card import Kind
from tenor.model_store.promotion_log import Promotion


@dataclass(frozen=True, slots=True)
class ModelTools:
    check: Callable[[Kind, Path], None]
    """Load a model and let it go. TenorError says what is wrong with it."""
    frozen: Callable[[], Collection[str]]
    """Sentences that every language model is measured with, which nothing may be trained with."""
    wake: Callable[[Promotion], None]
    """Tell the workers of a promotion; they look at the log by themselves, too."""
    pinned_by: Callable[[Kind], str]
    """The setting that keeps promotions of this kind from counting here; empty where none does."""
