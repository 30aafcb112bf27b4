"""Bytes to an AES-GCM block and back. The same bytes under the same key make the same block, so that what did not
change has the hash it had: the nonce is a keyed hash of the content, and two contents never share one.
"""

from __future__ import annotations

import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tenor.errors import BadInput

NONCE_BYTES = 12
HEADER = b"tenor sealed 1\n"
"""How a file begins that is one block; the id of its key follows."""
ID_BYTES = 32


def seal(secret: bytes, content: bytes) -> bytes:
    nonce = hmac.digest(_derived(secret, b"nonce"), content, "sha256")[:NONCE_BYTES]
    return nonce + AESGCM(_derived(secret, b"cipher")).encrypt(nonce, content, None)


def unseal(secret: bytes, block: bytes) -> bytes:
    """BadInput when it is not what was sealed with this key."""
    try:
        return AESGCM(_derived(secret, b"cipher")).decrypt(block[:NONCE_BYTES], block[NONCE_BYTES:], None)
    except (InvalidTag, ValueError):
        raise BadInput("a sealed block of the archive is damaged, or its key is another's") from None


def to_file(key_id: str, secret: bytes, content: bytes) -> bytes:
    """A file that is one block."""
    return HEADER + key_id.encode("ascii") + seal(secret, content)


def key_of_file(content: bytes) -> str:
    """The id of the key that a file was sealed with; empty: it was not."""
    start = len(HEADER)
    return content[start : start + ID_BYTES].decode("ascii", "replace") if content.startswith(HEADER) else ""


def from_file(secret: bytes, content: bytes) -> bytes:
    return unseal(secret, content[len(HEADER) + ID_BYTES :])


def _derived(secret: bytes, purpose: bytes) -> bytes:
    return hmac.digest(secret, purpose, "sha256")
