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
    Page("live", "Live", ":material/graphic_eq:", "Now", OVERSIGHT),
    Page("my_call", "My call", ":material/headset_mic:", "Now", ("agent",)),
    Page("call", "Call", ":material/forum:", "Now", EVERYONE),
    Page("agents", "Agents", ":material/groups:", "Look back", OVERSIGHT),
    Page("agents", "My calls", ":material/person:", "Look back", ("agent",)),
    Page("customers", "Customers", ":material/person_search:", "Look back", OVERSIGHT),
    Page("search", "Search", ":material/search:", "Look back", EVERYONE),
    Page("review", "Review", ":material/rate_review:", "Improve", OVERSIGHT),
    Page("flows", "Flows", ":material/account_tree:", "Improve", OVERSIGHT),
    Page("datasets", "Datasets", ":material/dataset:", "Learn", TRAINS),
    Page("runs", "Runs", ":material/show_chart:", "Learn", TRAINS),
    Page("models", "Models", ":material/model_training:", "Learn", OVERSIGHT),
    Page("drift", "Drift", ":material/water:", "Learn", OVERSIGHT),
    Page("operations", "Operations", ":material/monitor_heart:", "House", OVERSIGHT),
)


def pages_of(viewer: Viewer) -> list[Page]:
    """What this viewer finds in the navigation; the first is where they arrive."""
    return [page for page in PAGES if viewer.role in page.roles]
