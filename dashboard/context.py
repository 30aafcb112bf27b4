"""What the pages of this process stand on. Streamlit runs one app a process, so there is one frame a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from dashboard import look
from dashboard.accounts import Accounts
from dashboard.feeling import FELT
from dashboard.sign_in import SignIn
from dashboard.tickets import Tickets
from storage.database import Database
from storage.viewer import Viewer
from tenor.settings import Settings

log = structlog.get_logger(__name__)


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
        """What a live part of a page is given: where its scripts are, its ticket, who looks, what is felt."""
        ticket = self.tickets.for_page(viewer, self.sign_in.lasts_s)
        who = {"ticket": ticket, "name": viewer.name, "role": viewer.role}
        return {"assets": self.assets, "felt": FELT, **who, **data}


_frame: Frame | None = None


def put_up(frame: Frame) -> None:
    global _frame
    _frame = frame


def current() -> Frame:
    """For the pages, which Streamlit starts without arguments."""
    if _frame is None:
        raise RuntimeError("pages are shown by `tenor dashboard`, not by `streamlit run`")
    return _frame


@contextmanager
def explaining() -> Iterator[None]:
    """Around every page: what goes wrong is told in words, and noted for whoever runs this."""
    try:
        yield
    except SQLAlchemyError as error:
        log.warning("a page cannot read the database", error=type(error).__name__)
        look.notice(
            "The database does not answer",
            "Nothing is lost: what is said meanwhile is kept and written later. Live and My call go on; "
            "look at this page again in a moment.",
        )
    except Exception:
        log.exception("a page failed")
        look.notice("This page has failed", "It has been noted. Look again in a moment, or choose another page.")
