"""The pages, one module each with `show(viewer, database)`. This list is the navigation."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from storage.db.engine import Database
from storage.viewer import TRAINS, Role, Viewer

EVERYONE: tuple[Role, ...] = ("agent", "manager", "analyst", "administrator")
OVERSIGHT: tuple[Role, ...] = ("manager", "analyst", "administrator")


class Page(NamedTuple):
    name: str
    """The module here, and the address: `/NAME`."""
    title: str
    icon: str
    section: str
    roles: tuple[Role, ...]

    def show(self, viewer: Viewer, database: Database) -> None:
        import_module(f"dashboard.pages.{self.name}").show(viewer, database)


PAGES = (
    Page("live", "Live calls", ":material/graphic_eq:", "Now", OVERSIGHT),
    Page("my_call", "My call", ":material/headset_mic:", "Now", ("agent",)),
    Page("call", "Calls", ":material/forum:", "Look back", OVERSIGHT),
    Page("call", "My calls", ":material/forum:", "Look back", ("agent",)),
    Page("agents", "Agents", ":material/groups:", "Look back", OVERSIGHT),
    Page("agents", "My figures", ":material/person:", "Look back", ("agent",)),
    Page("customers", "Customers", ":material/person_search:", "Look back", OVERSIGHT),
    Page("search", "Search", ":material/search:", "Look back", EVERYONE),
    Page("review", "Review", ":material/rate_review:", "Improve", OVERSIGHT),
    Page("flows", "Assistant", ":material/account_tree:", "Improve", OVERSIGHT),
    Page("datasets", "Datasets", ":material/dataset:", "Training", TRAINS),
    Page("runs", "Training runs", ":material/show_chart:", "Training", TRAINS),
    Page("models", "Models", ":material/model_training:", "Training", OVERSIGHT),
    Page("drift", "Drift", ":material/water:", "Training", OVERSIGHT),
    Page("operations", "Operations", ":material/monitor_heart:", "System", OVERSIGHT),
)


def pages_of(viewer: Viewer) -> list[Page]:
    """What this viewer finds in the navigation; the first is where they arrive."""
    return [page for page in PAGES if viewer.role in page.roles]
