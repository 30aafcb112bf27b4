"""One step of a conversation while it is being taken: the session it works on, and what came out so far."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dialog.engine.events import Effect, Say, TraceEntry
from dialog.engine.session import Frame, Session, SlotValue
from dialog.engine.texts import DEFAULT
from dialog.flow.model import Assistant, Slot
from dialog.flow.template import Template
from dialog.values.types import ParseContext, Parser


@dataclass(kw_only=True)
class Turn:
    assistant: Assistant
    parsers: Mapping[str, Parser]
    session: Session
    now: datetime
    home: str
    """The state that waits for a wish."""
    effects: list[Effect] = field(default_factory=list)
    trace: list[TraceEntry] = field(default_factory=list)
    card: dict[str, Any] | None = None
    """The result that the next message tells, for a screen."""

    def note(self, rule: str, detail: str = "") -> None:
        self.trace.append(TraceEntry(rule, detail))

    # --- what is said -------------------------------------------------------------------------------------------

    def say(self, text: str, *, card: dict[str, Any] | None = None, interruptible: bool = True) -> None:
        if text := " ".join(text.split()):
            self.effects.append(Say(text, interruptible, card))

    def say_card(self, text: str, *, interruptible: bool = True) -> None:
        """Say what a state says, with the result it is about."""
        self.say(text, card=self.card, interruptible=interruptible)
        self.card = None

    def reply(self, name: str, number: int | None = None, **values: Any) -> None:
        """Say one of the engine's texts: the numbered one (the last, if there are fewer), or one by lot."""
        self.note("reply", name)
        self.say(self.worded(self.texts(name), name, number, values))

    def texts(self, name: str) -> Sequence[Template]:
        return self.assistant.patterns.replies.get(name) or DEFAULT[name]

    def worded(
        self, texts: Sequence[Template], name: str, number: int | None = None, values: Mapping[str, Any] | None = None
    ) -> str:
        """One of the texts, and not the one that was said last if there is another."""
        context = {**self.variables(), **(values or {})}
        first = self.draw(name, len(texts)) if number is None else min(number, len(texts) - 1)
        said = [*self.session.replies, *self.said()]
        rendered = ""
        for index in (first, *(one for one in range(len(texts)) if one != first)):
            rendered = texts[index].render(context, self._missing)
            if rendered not in said:
                return rendered
        return texts[first].render(context, self._missing)

    def render(self, template: Template, **values: Any) -> str:
        return template.render({**self.variables(), **values}, self._missing)

    def said(self) -> list[str]:
        return [effect.text for effect in self.effects if isinstance(effect, Say)]

    def draw(self, name: str, sides: int) -> int:
        """The same for the same call, turn and name: a turn that is done again says the same."""
        return zlib.crc32(f"{self.session.call}/{self.session.turn}/{name}".encode()) % max(sides, 1)

    def _missing(self, name: str) -> None:
        self.note("variable missing", name)

    # --- what is known ------------------------------------------------------------------------------------------

    @property
    def slots(self) -> dict[str, SlotValue]:
        """Of the task in hand; empty without one."""
        return self.session.task.slots if self.session.task is not None else {}

    def variables(self) -> dict[str, Any]:
        """What templates and conditions see: the context, and the slots as one says them."""
        shown = {name: spoken(one) for name, one in self.slots.items()}
        wish = {"wish": self.session.task.text.rstrip(" .?!")} if self.session.task is not None else {}
        return {**self.session.context, **wish, **shown}

    def slot(self, name: str) -> Slot | None:
        return self.assistant.slots.get(name)

    def parser(self, slot: str) -> Parser | None:
        declared = self.assistant.slots.get(slot)
        return self.parsers.get(declared.type if declared is not None else slot)

    def parse_context(self, slot: str = "") -> ParseContext:
        declared = self.assistant.slots.get(slot)
        place = self.session.recall.get("location")
        return ParseContext(
            now=self.now,
            choices=declared.choices if declared is not None else (),
            location=place.value if place is not None else None,
        )

    def forget(self) -> None:
        """Everything that was said is forgotten; what was done stays done."""
        session = self.session
        session.task = session.pending = None
        session.frames, session.stack, session.wishes, session.returns = [], [], [], []
        session.recall, session.loose, session.calls, session.context = {}, {}, {}, {}
        session.failures = 0

    def task(self) -> Frame:
        assert self.session.task is not None
        return self.session.task


def spoken(held: SlotValue) -> Any:
    """A slot's value as one says it: a place by its name, a time in the shopper's own words."""
    return spoken_value(held.value, held.text)


def spoken_value(value: Any, text: str = "") -> Any:
    if isinstance(value, Mapping):
        if value.get("unit"):
            return f"{text.removesuffix(' of')} of"
        return value.get("name") or value.get("text") or text
    return value
