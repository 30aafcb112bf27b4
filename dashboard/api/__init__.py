"""The HTTP API: what the dashboard shows, for other people's programs. docs/api.md is its guide.

    /calls /calls/{call} /calls/{call}/sentences /calls/{call}/recording /calls/{call}/export
    /calls/{call}/take /calls/{call}/lines /calls/{call}/give-back    change something, and so do
    /calls/{call}/summary /calls/{call}/wrap-up /calls/{call}/erase /calls/{call}/notes
    /sentences/{sentence}/labels /calls/{call}/scorecard and PUT /models/{model}
    /live /alerts /agents /agents/{name}/history /agents/{name}/scorecard /fits
    /customers/{id} /search
    /suggestions/sentence/{sentence} /suggestions/turn/{turn} /models    for labelling tools
    /events          the live feed, as server-sent events
    /openapi.json    the specification, and /docs to read it

Whoever asks sees what they would see on the pages: an agent only their own calls.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from dashboard.api import calls, events, export_and_erase, people, registry, search, suggestions, takeover
from dashboard.api.auth import ApiAuth
from dashboard.api.bodies import LimitedBody
from dashboard.api.errors import install_error_handlers
from dashboard.api.reference import reference_routes
from dashboard.assistant.takeover import Takeovers
from dashboard.auth.tokens import SignedTokens
from dashboard.corrections import Corrections
from dashboard.routes.feed import Feed
from dashboard.routes.recordings import Recordings
from dashboard.summaries import SummaryChanges
from storage.db.engine import Database
from tenor import __version__
from tenor.settings import Settings

ROOT = "/api/v1"
"""Where the dashboard mounts it."""
ASSISTANT_ROOT = "/assistant/api"
LONGEST_BODY = 64 * 1024
"""Of what is no model."""


def create(
    settings: Settings,
    database: Database,
    tokens: SignedTokens,
    feed: Feed,
    audio: Recordings,
    takeovers: Takeovers,
    summaries: SummaryChanges,
    corrections: Corrections,
    assistant: FastAPI | None = None,
) -> FastAPI:
    """`assistant` is served elsewhere; its specification is part of this one."""
    auth = ApiAuth(settings.dashboard, tokens)
    app = FastAPI(
        title=f"{settings.dashboard.title} API",
        version=__version__,
        description=__doc__.partition("\n")[0],
        docs_url=None,  # FastAPI's own page loads its script from another host
        redoc_url=None,
    )
    install_error_handlers(app)
    app.include_router(takeover.router(auth, takeovers, settings.dashboard.api_origins))
    app.include_router(export_and_erase.router(settings, database, auth, settings.dashboard.api_origins))
    app.include_router(calls.router(database, auth, audio, summaries, corrections, settings.dashboard.api_origins))
    app.include_router(people.router(database, auth))
    app.include_router(search.router(settings, database, auth))
    app.include_router(suggestions.router(database, auth))
    app.include_router(registry.router(settings, database, auth))
    app.include_router(events.router(auth, feed))
    app.include_router(reference_routes(app))
    if assistant is not None:
        _specify_too(app, assistant)
    app.add_middleware(LimitedBody, most=LONGEST_BODY, counted=("PUT",))
    if settings.dashboard.api_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.dashboard.api_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "If-None-Match", "Range"],
            expose_headers=["ETag", "Content-Range"],
        )
    return app


def _specify_too(app: FastAPI, assistant: FastAPI) -> None:
    """One document for both: paths of the assistant's API are whole ones, with a server of their own."""
    own = app.openapi

    def both() -> dict[str, Any]:
        document = own()
        if f"{ASSISTANT_ROOT}/sessions" not in document["paths"]:
            other = assistant.openapi()
            for path, operations in other["paths"].items():
                served = {method: {**one, "servers": [{"url": "/"}]} for method, one in operations.items()}
                document["paths"][ASSISTANT_ROOT + path] = served
            for kind, found in other.get("components", {}).items():
                components = document.setdefault("components", {}).setdefault(kind, {})
                components.update({name: one for name, one in found.items() if name not in components})
        return document

    app.openapi = both  # type: ignore[method-assign]
