"""What pages are shown with: settings, database, sign-in. Streamlit runs one app per process, so there is one context
per process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from dashboard.auth.accounts import Accounts
from dashboard.auth.sign_in import SignIn
from dashboard.auth.tokens import SignedTokens
from dashboard.model_tools import ModelTools
from dashboard.ui import elements
from storage.db.engine import Database
from storage.labels.allowed import allowed_names
from storage.labels.publisher import LabelPublisher
from storage.viewer import Viewer
from tenor.model_store.store import language_in_force
from tenor.settings import Settings
from tenor.taxonomy.in_force import NamesInForce, intents_in_force
from tenor.taxonomy.polarity import FELT

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PageContext:
    settings: Settings
    database: Database
    tokens: SignedTokens
    accounts: Accounts
    sign_in: SignIn
    tools: ModelTools
    publisher: LabelPublisher
    """To be woken when a page has written a label."""
    codes: dict[str, str]
    """With which people say how a call ended."""
    assets: str
    """Where the pages' scripts are served from: changes with their content, so that browsers may keep them."""

    def page(self, viewer: Viewer, **data: Any) -> dict[str, Any]:
        """What a live component of a page is given: where its scripts are, its token, who looks, what is felt."""
        token = self.tokens.for_page(viewer, self.sign_in.lasts_s)
        who = {"token": token, "name": viewer.name, "role": viewer.role}
        return {"assets": self.assets, "felt": FELT, **who, **data}

    def names(self) -> NamesInForce:
        """The sentiments and intents that a label may say."""
        with self.database.session() as session:
            return allowed_names(session, language_in_force(self.settings))

    def tasks(self) -> list[str]:
        """What a call can be about; other intents are the small talk of every call."""
        return sorted(intents_in_force(language_in_force(self.settings)).tasks)


_current: PageContext | None = None


def set_context(context: PageContext) -> None:
    global _current
    _current = context


def current_context() -> PageContext:
    """For the pages, which Streamlit starts without arguments."""
    if _current is None:
        raise RuntimeError("pages are shown by `tenor dashboard`, not by `streamlit run`")
    return _current


@contextmanager
def errors_explained() -> Iterator[None]:
    """Around every page: what goes wrong is told in words, and noted for whoever runs this."""
    try:
        yield
    except SQLAlchemyError as error:
        log.warning("a page cannot read the database", error=type(error).__name__)
        elements.notice(
            "The database does not answer",
            "Nothing is lost: what is said meanwhile is kept and written later. Live and My call go on; "
            "look at this page again in a moment.",
        )
    except Exception:
        log.exception("a page failed")
        elements.notice("This page has failed", "It has been noted. Look again in a moment, or choose another page.")
