"""What the assistant's API takes and gives, as its specification has it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ApiModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SignedCustomer(ApiModel):
    """Who the shopper is, as the shop's own server says."""

    id: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")
    until: int = Field(description="until when the signature is valid, in seconds since the Unix epoch")
    signature: str = Field(
        max_length=128, description="HMAC-SHA256 of `id`, a line break and `until`, in hexadecimal digits"
    )


class NewSession(ApiModel):
    timezone: str = Field("", max_length=64, description="of the shopper, as `America/New_York`")
    customer: SignedCustomer | None = None


class Session(ApiModel):
    session: str
    token: str = Field(description="send it as `Authorization: Bearer TOKEN`; over a WebSocket in the first message")
    until: float = Field(description="until when the token is valid, in seconds since the Unix epoch")


class VoiceAccess(ApiModel):
    """How to speak in the conversation: see docs/assistant-web.md for what is said over the socket."""

    url: str = Field(description="WebSocket of the gateway")
    ticket: str = Field(description="for the first message over it")
    until: float = Field(description="until when the ticket admits, in seconds since the Unix epoch")


class NewMessage(ApiModel):
    text: str = Field(description="at most 2,000 characters")
    id: str = Field("", max_length=64, description="one of yours: a message that is sent again is taken once")


class AcceptedMessage(ApiModel):
    line: int = Field(description="the line's position in the conversation, in milliseconds")


class Reply(ApiModel):
    text: str
    card: dict[str, Any] | None = Field(
        description="`kind` (places, prices, stock, weather or reserve) and its `rows`; texts are plain text"
    )


class TurnEvent(ApiModel):
    """The assistant has answered. Turn 0 is the greeting."""

    type: Literal["turn"]
    turn: int
    input: str
    silence: bool = Field(description="whether it asks again because nothing was said")
    replies: list[Reply]
    person: bool = Field(description="whether a person was called for")
    ended: bool
    at: float


class LineEvent(ApiModel):
    """A line of the shopper's as it was kept, or of a person who took over."""

    type: Literal["line"]
    role: Literal["caller", "agent"]
    line: int
    text: str
    spoken: bool
    at: float


class FillerEvent(ApiModel):
    """Said while a slow answer is on its way."""

    type: Literal["filler"]
    turn: int
    text: str
    at: float


class PersonEvent(ApiModel):
    """A person has taken the conversation over, or given it back."""

    type: Literal["person"]
    here: bool
    at: float


class EndedEvent(ApiModel):
    """The conversation is over."""

    type: Literal["ended"]
    at: float


class Turns(ApiModel):
    turns: list[TurnEvent | LineEvent | FillerEvent | PersonEvent | EndedEvent]
    after: str = Field(description="give this to get what follows")
