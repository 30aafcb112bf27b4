"""Who has a conversation of the assistant: the assistant, nobody yet, or a person. Everybody who asks works it out from
the events of `tenor.turns` in their order, so that of two people who take a call at once all see the same one first.

    ""  --a turn calls for a person-->  waiting  --nobody came in time-->  missed
     ^                                     |                                 |
     '--given back--  taken  <--------------'------- a person takes it -------'
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from tenor.events import CallGivenBack, CallTakenOver, Event, Turn

ASSISTANT: Final = "assistant"
"""Of a call: the attribute with the name of the assistant that answers it, and the role of what it says."""
AGENT: Final = "agent"
"""Role of a person who has taken the conversation."""


class Handover(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Holds no word of the shopper's: what the conversation is about is in its turns."""

    state: Literal["", "waiting", "missed", "taken"] = ""
    since: float = 0.0
    """When it came to that state."""
    queue: str = ""
    reason: str = ""
    """Why a person was called for: `asked`, `failures`, `key 0`, `uncertain`, `mood`, `rule NAME`, or a flow's own."""
    agent: str = ""
    """Account name of the person who has it."""

    @property
    def open(self) -> bool:
        """Whether any agent may look at it and take it."""
        return self.state in ("waiting", "missed")


def followed(now: Handover, event: Event) -> Handover:
    """What the next event of the conversation makes of it."""
    match event:
        case Turn() if event.handover and now.state != "taken":
            told = event.handover
            return Handover(state="waiting", since=event.at, queue=told.get("queue", ""), reason=told.get("reason", ""))
        case Turn() if event.event == "nobody_came" and now.state != "taken":
            return msgspec.structs.replace(now, state="missed", since=event.at)
        case Turn() if event.ended and now.open:
            return Handover()
        case CallTakenOver() if now.state != "taken":
            return msgspec.structs.replace(now, state="taken", since=event.at, agent=event.agent)
        case CallGivenBack() if now.state == "taken" and event.agent == now.agent:
            return Handover()
    return now


def is_on_telephone(source: str, medium: str) -> bool:
    """Whether a platform has the call, and its queue gets it. Who speaks on the web page can also be written to."""
    return medium == "voice" and source != "web"


def agent_channel(roles: tuple[str, ...] | list[str]) -> int:
    """The channel of a person who joins a call of the assistant: the one after those that the call began with."""
    return roles.index(AGENT) if AGENT in roles else len(roles)


def read_handover(kept: Any) -> Handover:
    """As a table keeps it; whatever is none means that the assistant has the conversation."""
    try:
        return msgspec.convert(kept, Handover)
    except msgspec.ValidationError:
        return Handover()
