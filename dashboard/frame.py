"""What the pages of this process stand on. Streamlit runs one app a process, so there is one frame a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboard.accounts import Accounts
from dashboard.sign_in import SignIn
from dashboard.tickets import Tickets
from storage.database import Database
from storage.viewer import Viewer
from tenor.settings import Settings


@dataclass(frozen=True, slots=True)
class Frame:
    settings: Settings
    database: Database
    tickets: Tickets
    accounts: Accounts
    sign_in: SignIn
    assets: str
    """Where the pages' scripts are served from: changes with their content, so that browsers may keep them."""

    def page(self, viewer: Viewer, **data: Any) -> dict[str, Any]:
        """What a live part of a page is given: where its scripts are, its ticket, who looks."""
        ticket = self.tickets.for_page(viewer, self.sign_in.lasts_s)
        return {"assets": self.assets, "ticket": ticket, "name": viewer.name, "role": viewer.role, **data}


_frame: Frame | None = None


def put_up(frame: Frame) -> None:
    global _frame
    _frame = frame


def current() -> Frame:
    """For the pages, which Streamlit starts without arguments."""
    if _frame is None:
        raise RuntimeError("pages are shown by `tenor dashboard`, not by `streamlit run`")
    return _frame
