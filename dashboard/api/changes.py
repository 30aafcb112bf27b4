"""Who asks at an endpoint that changes something."""

# Annotations are evaluated where they stand: FastAPI could not find `auth` by its name.

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from dashboard.api.auth import ApiAuth, Requester
from dashboard.auth.origins import is_allowed_origin


def changing(auth: ApiAuth, origins: list[str]) -> Callable[..., Awaitable[Requester]]:
    """Where nobody signs in, a page of another web site must not do it in the name of whoever looks at it."""

    async def requester(request: Request, who: Annotated[Requester, Depends(auth.requester)]) -> Requester:
        if not who.token and not is_allowed_origin(request, origins):
            raise HTTPException(403, "pages of this web site may not do this")
        return who

    return requester
