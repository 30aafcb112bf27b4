"""A small OpenID provider: discovery, authorization code, keys. Everyone who asks is whoever the test says."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "tenor", "the client's secret"


class Provider:
    def __init__(self, port: int) -> None:
        self.address = f"http://localhost:{port}"
        self.claims: dict[str, Any] = {}
        """Of whoever signs in next."""
        self._key = RSAKey.generate_key(2048, {"kid": "test", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, dict[str, str]] = {}
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._configuration),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/keys", self._keys),
            ]
        )

    async def _configuration(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token",
                "jwks_uri": f"{self.address}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def _keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        if asked.get("client_id") != CLIENT or asked.get("response_type") != "code":
            return JSONResponse({"error": "unauthorized_client"}, 400)
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != form.get("redirect_uri") or not _is_client(request, form):
            return JSONResponse({"error": "invalid_grant"}, 400)
        if challenge := asked.get("code_challenge"):
            proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(proof).rstrip(b"=").decode() != challenge:
                return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        told = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked.get("nonce", "")}
        token = jwt.encode({"alg": "RS256", "kid": "test"}, {**told, **self.claims}, self._key)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": token})


def _is_client(request: Request, form: dict[str, str]) -> bool:
    if form.get("client_secret"):
        return (form.get("client_id"), form["client_secret"]) == (CLIENT, SECRET)
    given = request.headers.get("authorization", "").removeprefix("Basic ")
    name, _, secret = base64.b64decode(given).decode().partition(":")
    return (name, secret.replace("+", " ").replace("%27", "'")) == (CLIENT, SECRET)


@contextmanager
def running_provider() -> Iterator[Provider]:
    listener = socket.create_server(("127.0.0.1", 0))
    provider = Provider(listener.getsockname()[1])
    server = uvicorn.Server(uvicorn.Config(provider.app, log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(10)
