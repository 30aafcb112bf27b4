"""Written conversations for tests, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.text.conversation import Conversation, TextOptions, WrittenTurn, open_text


def read(path: Path, content: str | bytes, reading: TextOptions | None = None, **options: object) -> list[Conversation]:
    """The conversations in a file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(open_text(Source("file", str(path)), IngestOptions(**options), reading))  # type: ignore[arg-type]


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in conversation.turns()]


def turns(conversation: Conversation) -> list[WrittenTurn]:
    return list(conversation.turns())
