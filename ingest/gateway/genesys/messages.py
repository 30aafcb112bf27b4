"""AudioHook's messages: the envelope, what an open says, durations, and the choice of media."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar

import msgspec

from ingest.gateway.errors import Malformed, unreadable

NOBODY = "00000000-0000-0000-0000-000000000000"
"""Conversation of a probe: Genesys tries the connection, there is no call."""

T = TypeVar("T")
Channel = Literal["external", "internal"]
_DURATION = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})(\.\d{1,9})?S)?")


class Medium(msgspec.Struct):
    type: str
    format: str
    channels: tuple[Channel, ...]
    rate: int


class Participant(msgspec.Struct, rename="camel"):
    ani: str = ""


class ContinuedSession(msgspec.Struct):
    id: str


class Open(msgspec.Struct, rename="camel"):
    organization_id: str
    conversation_id: str
    media: list[Any]
    participant: Participant = msgspec.field(default_factory=Participant)
    language: str | None = None
    supported_languages: bool = False
    continued_sessions: list[ContinuedSession] | None = None
    custom_config: dict[str, Any] | None = None


class Discarded(msgspec.Struct):
    discarded: str


class Envelope(msgspec.Struct):
    version: Literal["2"]
    id: str
    type: str
    seq: int
    serverseq: int
    parameters: msgspec.Raw


def read(data: str | bytes | msgspec.Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise unreadable(error) from None


def duration_ms(text: str) -> int:
    """`PT1.5S` -> 1500."""
    match = _DURATION.fullmatch(text)
    if match is None or text == "PT":
        raise Malformed("a duration is not like PT1.5S")
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[:3])
    return (hours * 3600 + minutes * 60 + seconds) * 1000 + round(float(match[4] or 0) * 1000)


def duration(ms: int) -> str:
    return f"PT{ms / 1000:.3f}".rstrip("0").rstrip(".") + "S"


def choose(offered: list[Any]) -> Medium:
    """PCMU with both parties if it is offered, else both parties in L16, else one party."""

    def rank(medium: Medium) -> tuple[int, bool]:
        return len(medium.channels), medium.format == "PCMU"

    possible = []
    for offer in offered:
        try:
            medium = msgspec.convert(offer, Medium)
        except msgspec.ValidationError:
            continue  # a kind of media we do not know; the next may do
        if (
            medium.type == "audio"
            and medium.format in ("PCMU", "L16")
            and 8000 <= medium.rate <= 48_000
            and 1 <= len(medium.channels) == len(set(medium.channels))
        ):
            possible.append(medium)
    if not possible:
        raise Malformed("no media offered that we understand (PCMU or L16 audio)")
    return max(possible, key=rank)
