"""Short-lived secrets for browsers: given to who knows the API key, shown when the WebSocket opens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

_VALID_S = 600


class ClientSecrets:
    """Signed, not stored: a secret is its own expiry time and a signature that only this process can make."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def issue(self) -> tuple[str, int]:
        """A secret, and when it expires (Unix seconds)."""
        expires = int(time.time()) + _VALID_S
        return f"{expires}.{self._sign(expires)}", expires

    def is_valid(self, secret: str) -> bool:
        stamp, _, signature = secret.partition(".")
        if not stamp.isascii() or not stamp.isdigit() or int(stamp) < time.time():
            return False
        return hmac.compare_digest(signature.encode(), self._sign(int(stamp)).encode())

    def _sign(self, expires: int) -> str:
        return hmac.new(self._key, str(expires).encode(), hashlib.sha256).hexdigest()
