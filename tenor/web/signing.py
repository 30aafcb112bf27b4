"""What this installation signs, and its secret: tokens of the dashboard, and tickets that other stages check."""

from __future__ import annotations

import os
import secrets
import time
from hashlib import sha256
from pathlib import Path

from itsdangerous import URLSafeSerializer

from tenor.settings import Settings


def signer(secret: str, purpose: str) -> URLSafeSerializer:
    """Signs for one purpose: what it signed passes for no other."""
    return URLSafeSerializer(
        secret, salt=f"tenor {purpose}", signer_kwargs={"key_derivation": "hmac", "digest_method": sha256}
    )


def secret_of(settings: Settings) -> str:
    """The secret of the settings, or one made once and kept in home, readable by us alone."""
    if given := settings.dashboard.secret.get_secret_value():
        return given
    path = settings.home / "secret"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        pass
    return _read_when_written(path)


def _read_when_written(path: Path) -> str:
    """Another process may have made the file this very moment and not have written it yet."""
    for _ in range(50):
        if kept := path.read_text("ascii").strip():
            return kept
        time.sleep(0.02)
    raise RuntimeError(f"{path} is empty: delete it, and everyone signs in anew")
