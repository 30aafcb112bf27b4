"""The HTTP API: what the dashboard shows, for other people's programs. It only reads. docs/api.md is its guide.

    /calls /calls/{call} /calls/{call}/sentences /calls/{call}/recording
    /live /alerts /agents /agents/{name}/history /customers/{id} /search
    /events          the live feed, as server-sent events
    /openapi.json    the specification, and /docs to read it

Whoever asks sees what they would see on the pages: an agent only their own calls.
"""

from __future__ import annotations

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from dashboard.api import calls, events, people, search
from dashboard.api.entrance import Entrance
from dashboard.api.manual import manual
from dashboard.api.problems import explain
from dashboard.audio import Audio
from dashboard.feed import Feed
from dashboard.tickets import Tickets
from storage.database import Database
from tenor import __version__
from tenor.settings import Settings

ROOT = "/api/v1"
"""Where the dashboard mounts it."""


def create(settings: Settings, database: Database, tickets: Tickets, feed: Feed, audio: Audio) -> FastAPI:
    entrance = Entrance(settings.dashboard, tickets)
    app = FastAPI(
        title=f"{settings.dashboard.title} API",
        version=__version__,
        description=__doc__.partition("\n")[0],
        docs_url=None,  # FastAPI's own page loads its script from another host
        redoc_url=None,
    )
    explain(app)
    app.include_router(calls.router(database, entrance, audio))
    app.include_router(people.router(database, entrance))
    app.include_router(search.router(database, entrance))
    app.include_router(events.router(entrance, feed))
    app.include_router(manual(app))
    if settings.dashboard.api_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.dashboard.api_origins,
            allow_methods=["GET"],
            allow_headers=["Authorization", "If-None-Match", "Range"],
            expose_headers=["ETag", "Content-Range"],
        )
    return app
