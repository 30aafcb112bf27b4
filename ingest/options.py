"""How a recording becomes a call: who speaks on which channel, and what the call is tagged with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tenor.errors import BadInput
from tenor.events import Redact

CALL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")


@dataclass(frozen=True, kw_only=True)
class IngestOptions:
    """The defaults are those of the settings; the command line replaces what its flags name."""

    roles: Sequence[str] = ("caller", "agent")
    """Who speaks on each channel heard. A recording with one speaker takes the first."""
    speakers: int = 2
    """How many speak on the channel of a recording that has one and no role of its own."""
    swap: bool = False
    """The other way round: the left channel is the agent."""
    channels: Sequence[int] | None = None
    """Which channels to hear, from 0; None: as many of the first as there are roles."""
    split: bool | None = None
    """True: two channels are two speakers; False: one; None: one if both channels carry the same."""
    chunk_ms: int = 100
    decoder: Literal["auto", "ffmpeg"] = "auto"
    """`auto`: FFmpeg's libraries, and its program for what they lack; `ffmpeg`: always the program."""
    call: str = ""
    """Id of the call; empty: made from the recording."""
    copy: int = 0
    """Of a file that is many calls, to see what a pipeline bears: which of them. 0 is the file itself."""
    site: str = ""
    queue: str = ""
    agent: str = ""
    customer: str = ""
    language: str = "en-US"
    record: bool = True
    redact: Redact | None = None
    started_at: float | None = None
    """When it was spoken; None: now."""
    attributes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.roles or any(not role.strip() for role in self.roles):
            raise BadInput("a role has no name", hint="name one role per channel: --roles caller,agent")
        if len(set(self.roles)) < len(self.roles):
            raise BadInput(f"a role is named twice: {', '.join(self.roles)}", hint="each channel is somebody else")
        if self.speakers not in (1, 2):
            raise BadInput(f"{self.speakers} speakers cannot be told apart on one channel", hint="give 1 or 2")
        if self.channels is not None:
            self._check_channels(self.channels)
        if self.call and not CALL_ID.fullmatch(self.call):
            raise BadInput(
                f"{self.call!r} cannot be the id of a call",
                hint="up to 128 letters, digits and . _ : @ + -, beginning with a letter or digit",
            )

    def _check_channels(self, channels: Sequence[int]) -> None:
        if not channels or min(channels) < 0 or len(set(channels)) < len(channels):
            raise BadInput("the channels must be different numbers from 0", hint="for example --channels 0,1")

    @property
    def ending(self) -> str:
        """Of the ids that are made from content: the same of a copy each time, too."""
        return f"-copy-{self.copy}" if self.copy else ""

    @property
    def ordered_roles(self) -> tuple[str, ...]:
        """The roles, the other way round if that was wanted."""
        return tuple(reversed(self.roles)) if self.swap else tuple(self.roles)

    def share(self, channels: int) -> bool:
        """Whether both roles are on the one channel that is heard. Who chooses a channel knows whose it is."""
        return channels == 1 and self.channels is None and len(self.roles) == 2 and self.speakers == 2

    def roles_for(self, speakers: int) -> tuple[str, ...]:
        """The roles of so many channels."""
        roles = self.ordered_roles
        if speakers == 1:
            return roles[:1]
        if len(roles) != speakers:
            raise BadInput(
                f"{len(roles)} {'role' if len(roles) == 1 else 'roles'} for {speakers} channels",
                hint="name one role per channel, or choose the channels",
            )
        return roles
