"""Messages of JSON: a list of messages, conversations that hold such lists, or either of them a line (JSON lines)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.text.encoding import LONGEST
from ingest.text.field_names import Columns, find
from ingest.text.message import Message
from tenor.errors import BadInput
from tenor.reading import listed

_LISTS = ("messages", "turns", "utterances", "sentences", "segments", "transcript", "dialogue", "conversation")
_MANY = ("conversations", "calls", "chats", "threads", "data")
_IDS = ("id", "conversation_id", "call_id", "chat_id", "thread_id", "session_id", "ticket_id", "sid")


def read(lines: Iterable[str], name: str, columns: Columns) -> Iterator[Message]:
    """A whole document. It is read into memory at once; lines of JSON are not."""
    text, size = [], 0
    for line in lines:
        text.append(line)
        size += len(line)
        if size > LONGEST:
            raise BadInput(
                f"{name} is a JSON document of more than {LONGEST >> 20} MB", "write a message a line: .jsonl"
            )
    if not size or not any(line.strip() for line in text):
        return
    yield from _Reader(name, columns).everything(_parsed("".join(text), name))


def read_lines(lines: Iterable[str], name: str, columns: Columns) -> Iterator[Message]:
    """A message or a conversation a line."""
    reader = _Reader(name, columns)
    for number, line in enumerate(lines, 1):
        if line.strip():
            reader.place = f"{name}, line {number}"
            yield from reader.one(_parsed(line, name, number), str(number))


def _parsed(text: str, name: str, line: int = 0) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}, line {line or error.lineno}, column {error.colno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply to be a conversation") from None
    except ValueError:  # Python reads no longer ones
        place = f"{name}, line {line}" if line else name
        raise BadInput(f"{place}: a number of thousands of digits is none") from None


class _Reader:
    def __init__(self, name: str, columns: Columns) -> None:
        self.place = name
        """Where we are, for complaints."""
        self._columns = columns

    def everything(self, tree: Any) -> Iterator[Message]:
        if isinstance(tree, Mapping) and (many := _list_under(tree, _MANY)) is not None:
            tree = many
        if not isinstance(tree, list):
            yield from self.one(tree, "")
            return
        name = self.place
        for number, item in enumerate(tree, 1):
            self.place = f"{name}, item {number}"
            yield from self.one(item, str(number))

    def one(self, item: Any, number: str) -> Iterator[Message]:
        """A message, or a conversation with its messages."""
        if isinstance(item, list):
            yield from (self._message(message, number, {}) for message in item)
        elif isinstance(item, Mapping) and (messages := _list_under(item, _LISTS)) is not None:
            outer = {str(key): _text(value) for key, value in item.items()}
            call = item.get("call")
            if isinstance(call, Mapping):
                outer |= {str(key): _text(value) for key, value in call.items()}
            own = next((outer[key] for key in _IDS if outer.get(key)), number)
            tags = find(outer, Columns()).told(outer)
            yield from (self._message(message, own, tags) for message in messages)
        else:
            yield self._message(item, "", {})

    def _message(self, item: Any, conversation: str, tags: Mapping[str, str]) -> Message:
        if isinstance(item, str):
            return Message(item, conversation=conversation, tags=tags)
        if not isinstance(item, Mapping):
            raise BadInput(f"{self.place}: {str(item)[:40]!r} is no message", "a message is an object with a text")
        row = {str(key): _text(value) for key, value in item.items()}
        fields = find(row, self._columns)
        if not fields.text:
            keys = listed(row) or "none"
            raise BadInput(f"{self.place}: no key that holds the text; its keys: {keys}", "name it with --text-column")
        return Message(
            row[fields.text],
            row.get(fields.speaker, "").strip(),
            fields.at(row),
            row.get(fields.conversation, "").strip() or conversation,
            {**tags, **fields.told(row)},
        )


def _list_under(item: Mapping[str, Any], names: Sequence[str]) -> list[Any] | None:
    return next((item[name] for name in names if isinstance(item.get(name), list)), None)


def _text(value: Any) -> str:
    """What a key says in words; what is nested says nothing here."""
    if isinstance(value, Mapping):  # {"from": {"name": ...}}
        value = next((value[key] for key in ("role", "name", "text", "value") if isinstance(value.get(key), str)), "")
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
