"""All messages of a file, conversation by conversation, however the file mixes them and however long it is.

Nothing of a file is used before all of it was read, so a mistake on its last line leaves nothing half done. The
messages wait in a temporary database that SQLite keeps in memory while it is small and on disk when it is not.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator

import msgspec

from ingest.text.message import CLOCK_ONLY, Message

_BARE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
"""Characters that no caller types and no database likes."""
_NAMES = 500
"""Characters of a speaker's name, a conversation's and whatever else is told of it."""


class MessageStore:
    def __init__(self, messages: Iterable[Message]) -> None:
        self._db = sqlite3.connect("", check_same_thread=False)
        self._db.execute(
            "CREATE TABLE messages (position INTEGER PRIMARY KEY, conversation TEXT, speaker TEXT, said TEXT, at REAL,"
            " tags BLOB)"
        )
        rows = (
            (_name(m.conversation), _name(m.speaker), text, m.at, _tags(m))
            for m in messages
            if (text := _clean(m.text))
        )
        self._db.executemany(
            "INSERT INTO messages (conversation, speaker, said, at, tags) VALUES (?, ?, ?, ?, ?)", rows
        )
        self._db.execute("CREATE INDEX by_conversation ON messages (conversation, position)")

    def close(self) -> None:
        self._db.close()

    def conversations(self) -> Iterator[str]:
        """Their names, in the order in which they begin."""
        rows = self._db.execute("SELECT conversation FROM messages GROUP BY conversation ORDER BY MIN(position)")
        return (name for (name,) in rows)

    def speakers(self, conversation: str) -> list[str]:
        """Everybody who writes, in the order in which they begin."""
        first = "MIN(at), MIN(position)" if self._dated(conversation) else "MIN(position)"
        rows = self._db.execute(
            f"SELECT speaker FROM messages WHERE conversation = ? GROUP BY speaker ORDER BY {first}", [conversation]
        )
        return [speaker for (speaker,) in rows]

    def most_speakers(self) -> int:
        """How many write in the conversation with the most."""
        counts = "SELECT COUNT(DISTINCT speaker) AS number FROM messages GROUP BY conversation"
        [(most,)] = self._db.execute(f"SELECT MAX(number) FROM ({counts})")
        return int(most)

    def tags(self, conversation: str) -> dict[str, str]:
        """What is told of the conversation as a whole; the first word on each counts."""
        rows = self._db.execute(
            "SELECT DISTINCT tags FROM messages WHERE conversation = ? AND tags IS NOT NULL", [conversation]
        )
        found: dict[str, str] = {}
        for (tags,) in rows:
            found = msgspec.json.decode(tags, type=dict[str, str]) | found
        return found

    def messages(self, conversation: str) -> Iterator[Message]:
        """In the order of their times if all have one, else as they stand in the file."""
        order = "at, position" if self._dated(conversation) else "position"
        rows = self._db.execute(
            f"SELECT said, speaker, at FROM messages WHERE conversation = ? ORDER BY {order}", [conversation]
        )
        return (Message(said, speaker, at, conversation) for said, speaker, at in rows)

    def digest(self, conversation: str) -> str:
        """SHA-256 of what was said by whom and when."""
        digest = hashlib.sha256()
        for message in self.messages(conversation):
            digest.update(msgspec.json.encode((message.speaker, message.text, message.at)))
        return digest.hexdigest()

    def _dated(self, conversation: str) -> bool:
        [(least,)] = self._db.execute(
            f"SELECT MIN(COALESCE(at, 0)) >= {CLOCK_ONLY} FROM messages WHERE conversation = ?", [conversation]
        )
        return bool(least)


def _clean(text: str) -> str:
    return _BARE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _name(text: str) -> str:
    return _clean(text[:_NAMES])


def _tags(message: Message) -> bytes | None:
    return msgspec.json.encode({tag: _name(value) for tag, value in message.tags.items()}) if message.tags else None
