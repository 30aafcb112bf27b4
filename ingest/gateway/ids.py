"""Ids of calls: the platform's name and its own id, made safe for keys, file names and URLs."""

from __future__ import annotations

import hashlib
import re

from ingest.gateway.errors import Malformed
from tenor.redaction.about import hidden

LONGEST = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def call_id(platform: str, theirs: str) -> str:
    """`twilio-CA12...`. An id that had to be changed or cut carries a digest, so that two stay two."""
    if not theirs:
        raise Malformed("the call has no id")
    safe = _UNSAFE.sub("_", hidden(theirs))[:LONGEST]
    if safe != theirs:
        digest = hashlib.sha256(theirs.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        safe = f"{safe[: LONGEST - 13]}-{digest}"
    return f"{platform}-{safe}"
