"""The signature of Genesys AudioHook: HTTP message signatures, HMAC-SHA256, one use each."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Mapping

from pydantic import SecretStr
from starlette.requests import HTTPConnection

from ingest.gateway.errors import Unauthorized
from ingest.gateway.public_url import addresses

OLDEST_S = 10
SKEW_S = 3
"""How far the platform's clock may run before ours."""
SHORTEST_NONCE = 22
MOST_NONCES = 100_000

REQUIRED = (
    "@request-target",
    "@authority",
    "audiohook-organization-id",
    "audiohook-session-id",
    "audiohook-correlation-id",
    "x-api-key",
)

_INPUT = re.compile(r'sig1=(\((?:"[a-z@-]+"(?: "[a-z@-]+")*)\)((?:;[a-z]+=(?:"[^"\\]*"|\d+))+))')
_PARAMETER = re.compile(r';([a-z]+)=(?:"([^"\\]*)"|(\d+))')
_SIGNATURE = re.compile(r"sig1=:([A-Za-z0-9+/=]+):")


class Nonces:
    """Nonces seen while their signatures could still be valid."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, float] = OrderedDict()

    def use(self, nonce: str, now: float) -> bool:
        """False when it was used before."""
        while self._seen and next(iter(self._seen.values())) < now - (OLDEST_S + SKEW_S):
            self._seen.popitem(last=False)
        if nonce in self._seen or len(self._seen) >= MOST_NONCES:
            return False
        self._seen[nonce] = now
        return True


def check(connection: HTTPConnection, keys: Mapping[str, SecretStr], public_url: str, nonces: Nonces) -> None:
    """Raises Unauthorized with the reason for our log; the peer only learns that it was refused."""
    headers = connection.headers
    parsed = _INPUT.fullmatch(headers.get("signature-input", ""))
    signature = _SIGNATURE.fullmatch(headers.get("signature", ""))
    if parsed is None or signature is None:
        raise Unauthorized("no readable Signature-Input and Signature")
    names = re.findall(r'"([^"]+)"', parsed[1].partition(")")[0])
    if len(set(names)) != len(names) or not set(REQUIRED) <= set(names):
        raise Unauthorized("the signature does not cover all it must")
    parameters = {name: text or number for name, text, number in _PARAMETER.findall(parsed[2])}
    now = time.time()
    _check_parameters(parameters, headers.get("x-api-key", ""), now)
    secret = keys.get(parameters["keyid"])
    if secret is None:
        raise Unauthorized("unknown API key (gateway.genesys_keys)")
    try:
        key = base64.b64decode(secret.get_secret_value(), validate=True)
        given = base64.b64decode(signature[1], validate=True)
    except (binascii.Error, ValueError):
        raise Unauthorized("the signature or our client secret is not base64") from None
    matches = []
    for authority, target in addresses(connection, public_url):
        derived = {"@request-target": target, "@authority": authority.lower()}
        lines = [f'"{name}": {derived[name] if name in derived else headers.get(name, "")}' for name in names]
        base = "\n".join([*lines, f'"@signature-params": {parsed[1]}'])
        matches.append(hmac.compare_digest(given, hmac.new(key, base.encode(), hashlib.sha256).digest()))
    if not any(matches):
        raise Unauthorized("the signature does not fit")
    # Only now, so that nobody without the key can use up nonces.
    if not nonces.use(parameters["nonce"], now):
        raise Unauthorized("the nonce was used before")


def _check_parameters(parameters: Mapping[str, str], api_key: str, now: float) -> None:
    if parameters.get("alg", "hmac-sha256") != "hmac-sha256":
        raise Unauthorized("the signature is not hmac-sha256")
    if not parameters.get("keyid") or not hmac.compare_digest(parameters["keyid"].encode(), api_key.encode()):
        raise Unauthorized("keyid is not the API key")
    if len(parameters.get("nonce", "")) < SHORTEST_NONCE:
        raise Unauthorized("the nonce is too short")
    created, expires = parameters.get("created", ""), parameters.get("expires", "")
    if not created.isdecimal() or len(created) > 12:
        raise Unauthorized("the signature has no time")
    if int(created) > now + SKEW_S or int(created) < now - OLDEST_S:
        raise Unauthorized("the signature is too old or from the future (are the clocks right?)")
    if expires and (not expires.isdecimal() or int(expires) < now):
        raise Unauthorized("the signature has expired")
