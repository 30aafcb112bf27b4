"""What exports call things: the columns of a table and the keys of a JSON object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingest.text.timestamps import parse

_TEXT = (
    "text message body content utterance message_text message_body text_body msg sentence transcript comment "
    "description chat_message"
)
_SPEAKER = (
    "role speaker_role sender_role author_role sender_type author_type speaker_type participant_role speaker from "
    "sender author participant side direction who from_name sender_name name user username"
)
_TIME = "timestamp datetime date_time sent_at created_at sent created time at when date"
_MILLIS = "start_ms offset_ms time_ms timestamp_ms"
_CONVERSATION = (
    "conversation_id conversation call_id call chat_id chat thread_id thread session_id session ticket_id ticket "
    "case_id case dialogue_id dialog_id"
)
_TAGS = {
    "agent": "agent agent_id agent_name",
    "customer": "customer customer_id client_id",
    "queue": "queue queue_name department",
    "site": "site location",
    "subject": "subject title topic",
}
UNREAD_TIME = "unread time"
"""The tag of a message that tells a time in a form nobody here can read."""


@dataclass(frozen=True)
class Columns:
    """Names that a person gave, where ours would not be found."""

    text: str = ""
    speaker: str = ""
    time: str = ""
    conversation: str = ""


@dataclass(frozen=True)
class Fields:
    """Where each thing stands in a row or object; an empty name: nowhere."""

    text: str
    speaker: str
    time: str
    millis: str
    day: str
    conversation: str
    tags: Mapping[str, str]

    def at(self, row: Mapping[str, str]) -> float | None:
        if self.time:
            day = row.get(self.day, "").strip() if self.day else ""
            when = row.get(self.time, "")
            return parse(f"{day} {when.strip()}" if day else when)
        if self.millis:
            start = parse(row.get(self.millis, ""))
            return None if start is None else start / 1000
        return None

    def told(self, row: Mapping[str, str]) -> dict[str, str]:
        """The tags that the row has, and its time when that cannot be read."""
        found = {tag: row.get(name, "").strip() for tag, name in self.tags.items()}
        if self.at(row) is None:
            found[UNREAD_TIME] = row.get(self.time or self.millis, "").strip()
        return {tag: value for tag, value in found.items() if value}


def find(names: Iterable[str], columns: Columns) -> Fields:
    """Our names for what is there; the text's is empty when nothing looks like it."""
    there = {_plain(name): name for name in reversed(list(names))}  # of two alike the first

    def one(candidates: str, given: str = "") -> str:
        if given:
            return there.get(_plain(given), "")
        return next((there[name] for name in candidates.split() if name in there), "")

    text, speaker = one(_TEXT, columns.text), one(_SPEAKER, columns.speaker)
    time, conversation = one(_TIME, columns.time), one(_CONVERSATION, columns.conversation)
    taken = {text, speaker, time, conversation}
    return Fields(
        text=text,
        speaker=speaker,
        time=time,
        millis=one(_MILLIS),
        day=there.get("date", "") if _plain(time) == "time" else "",
        conversation=conversation,
        tags={tag: name for tag, names in _TAGS.items() if (name := one(names)) and name not in taken},
    )


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"\W+", "_", spaced).strip("_").casefold()
