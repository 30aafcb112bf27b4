"""A conversation between two turns: all the engine knows, as plain JSON of a few kB."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from dialog.flow.model import Keep


class SlotValue(msgspec.Struct, kw_only=True):
    """A value that a slot holds, and where it came from."""

    value: Any
    text: str
    turn: int
    origin: Literal["said", "answered", "reused", "flow"] = "said"
    score: float = 1.0
    keep: Keep = "topic"
    alternatives: list[Any] = []


class Pending(msgspec.Struct, kw_only=True):
    """A question that was asked and not answered yet."""

    kind: Literal["slot", "confirm", "choice", "input", "person", "resume", "intent"]
    state: str
    """Full name of the state that asked."""
    slot: str = ""
    options: list[Any] = []
    """For a choice: what may be chosen."""
    labels: list[str] = []
    """How the options are said."""
    failures: int = 0
    """How often this question was not answered."""
    under: Pending | None = None
    """The question that is open again when this one is settled."""


class Frame(msgspec.Struct, kw_only=True):
    """A task with its values: what a correction or "and tomorrow?" lands on."""

    intent: str
    state: str
    action: str
    text: str = ""
    """The line with the wish."""
    slots: dict[str, SlotValue] = {}
    done: bool = False
    changed: bool = False
    """Whether it changed something in the world, so that it cannot simply run again."""
    empty: bool = False
    """Whether nothing was found."""
    confirmed: bool = False
    unknown_place: str = ""
    """Words that stand where a place should and are none."""
    here: bool = False
    """The place is where the shopper is, which nobody knows."""
    failures: int = 0
    """Names in a row that nobody knows, of a place said in further wishes or of a product that was not found."""


class Suspended(msgspec.Struct, kw_only=True):
    """A task that waits while another question is answered."""

    frame: Frame
    pending: Pending
    context: dict[str, Any] = {}


class OpenCall(msgspec.Struct, kw_only=True):
    """An action that was called and has not answered."""

    action: str
    state: str
    turn: int
    reason: str = ""
    """Why a person was called for."""


class Wish(msgspec.Struct, kw_only=True):
    """One thing the shopper wants, of a line that may hold several."""

    intent: str
    score: float
    text: str
    slots: dict[str, SlotValue] = {}
    unknown_place: str = ""
    """Words that stand where a place should and are none."""
    here: bool = False
    """The place is where the shopper is, which nobody knows."""

    @property
    def elsewhere(self) -> bool:
        """Whether it is about a place that is not known: no place that was said before is meant then."""
        return bool(self.unknown_place) or self.here


class Session(msgspec.Struct, kw_only=True):
    call: str
    version: str
    """Of the flows that it began with."""
    turn: int = 0
    state: str = ""
    context: dict[str, Any] = {}
    """What templates and conditions read beside the slots."""
    task: Frame | None = None
    """What is being done, or was done last."""
    frames: list[Frame] = []
    """The last tasks that were done, the newest last."""
    loose: dict[str, SlotValue] = {}
    """Values that were said without a wish; the next line may have one."""
    pending: Pending | None = None
    stack: list[Suspended] = []
    returns: list[str] = []
    """Where to go on when a called flow ends."""
    wishes: list[Wish] = []
    """Heard in the same line, not begun yet."""
    comparing: str = ""
    """The word that the wishes of the line are compared by: "warmer"."""
    together: list[Wish] = []
    """The wishes that were compared last, for "and tomorrow?"."""
    compared: list[tuple[str, float]] = []
    """What has been answered of them, each with its figure."""
    recall: dict[str, SlotValue] = {}
    """The last value of each slot, for "there" and "it"."""
    calls: dict[str, OpenCall] = {}
    failures: int = 0
    """Lines in a row that were not understood, with no question open."""
    silences: int = 0
    intent: str = ""
    """Of the last line."""
    replies: list[str] = []
    """Of the last turn that said something, for "say that again"."""
    replied: int = 0
    """The turn that said them."""
    heard: str = ""
    """What was heard of them when they were interrupted."""
    late: dict[str, dict[str, Any]] = {}
    """Results that came after their question was given up."""
    last_ms: int = 0
    handed_over: bool = False
    agent: str = ""
    """Account name of the person who has the conversation; empty while one is awaited, and where nobody says."""
    alerts: list[str] = []
    """Alerts that have called for a person: none does so twice."""
    moods: list[float] = []
    """Of the shopper's last lines, from -1 to 1."""
    ended: bool = False


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Session)


def copied(session: Session) -> Session:
    """A session that shares nothing with this one: the way it is also stored and read back."""
    return _DECODER.decode(_ENCODER.encode(session))
