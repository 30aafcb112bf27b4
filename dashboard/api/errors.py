"""What goes wrong, as problem JSON (RFC 9457), and nothing of our insides in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from dashboard.api.models import Problem
from dashboard.routes.denied import Denied
from tenor.errors import BadInput, Refused, TenorError, Unavailable

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
TITLES = {400: "Bad request", 401: "Who are you?", 403: "Not allowed", 404: "Not found", 409: "Conflict"}
TITLES |= {413: "Too much", 416: "Range not satisfiable"}
TITLES |= {405: "Method not allowed", 421: "Misdirected request", 422: "Bad request", 429: "Too many requests"}
TITLES |= {500: "Our mistake", 503: "Not available now"}
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": TITLES[status], "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}}
    for status in (400, 401, 404, 422, 429, 503)
}


STATUSES: dict[type[TenorError], int] = {BadInput: 400, Refused: 403, Unavailable: 503}


def problem(
    status: int, detail: str = "", errors: Sequence[str] = (), headers: dict[str, str] | None = None
) -> Response:
    content = Problem(title=TITLES.get(status, "Problem"), status=status, detail=detail, errors=list(errors))
    return JSONResponse(content.model_dump(), status, headers, MEDIA_TYPE)


def install_error_handlers(app: FastAPI) -> None:
    """Every error of the app comes out as a problem."""

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        wrong = [f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors()]
        return problem(422, "a parameter is not what it should be", wrong)

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, TenorError)
        status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
        return problem(status, error.message)

    async def denied(_: Request, error: Exception) -> Response:
        assert isinstance(error, Denied)
        return problem(error.status, error.reason)

    async def database(request: Request, error: Exception) -> Response:
        log.warning("the API cannot read the database", path=request.url.path, error=type(error).__name__)
        return problem(503, "the database cannot be read now")

    async def unexpected(request: Request, error: Exception) -> Response:
        log.error("the API failed", path=request.url.path, error=type(error).__name__)
        return problem(500, "this has been noted")

    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(TenorError, ours)
    app.add_exception_handler(Denied, denied)
    app.add_exception_handler(SQLAlchemyError, database)
    app.add_exception_handler(Exception, unexpected)
