"""What a type of state does, and where the types are found."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from dialog.engine.events import Done, Failed
from dialog.engine.turn import Turn
from dialog.flow.model import State
from tenor.errors import BadInput

Answer = Done | Failed | str
"""What a waiting state is given: an action's end, or the shopper's line."""


class StateType(Protocol):
    """One instance serves all conversations: what is remembered belongs in the session."""

    def enter(self, turn: Turn, state: State) -> str | None:
        """The full name of the state to go to, or None to wait for an answer."""
        ...

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        """The answer a waiting state was given; where to go, or None to go on waiting."""
        ...


def state_type(name: str) -> StateType:
    """The type of that name, or the class at an import path `package.module:Class`."""
    return _imported(name) if ":" in name else _shipped()[name]


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, StateType]:
    from dialog.engine.states.ends import Call, End, HandOver, Reset
    from dialog.engine.states.inputs import InputContext, InputUser
    from dialog.engine.states.messages import MessageText, MessageTextRandom
    from dialog.engine.states.routing import ChangeContext, Choose, ConditionalExists
    from dialog.engine.states.task import Retail, Task, Weather

    return {
        "message_text": MessageText(),
        "message_text_random": MessageTextRandom(),
        "input_context": InputContext(),
        "input_user": InputUser(),
        "change_context": ChangeContext(),
        "conditional_exists": ConditionalExists(),
        "reset": Reset(),
        "Retail": Retail(),
        "Weather": Weather(),
        "task": Task(),
        "choose": Choose(),
        "call": Call(),
        "handover": HandOver(),
        "end": End(),
    }


@lru_cache(maxsize=256)
def _imported(path: str) -> StateType:
    module, _, name = path.partition(":")
    try:
        made: Any = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, TypeError) as error:
        raise BadInput(
            f"state type {path} cannot be used: {error}", "It is package.module:Class, a class without arguments."
        ) from None
    if not (callable(getattr(made, "enter", None)) and callable(getattr(made, "receive", None))):
        raise BadInput(f"state type {path} lacks enter() or receive()", "See dialog.engine.states.base.StateType.")
    found: StateType = made
    return found
