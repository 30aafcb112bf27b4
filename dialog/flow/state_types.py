"""The types of states: what each may have under `properties` and `transitions`, and whether it waits for the shopper.

The reader, the checker, the picture and the documentation all go by this table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal[
    "template", "templates", "text", "variable", "flag", "delay", "templates by name", "intent entity", "slot entity",
    "action",
]  # fmt: skip
"""What a property is: a text with {{variables}}, a list of such, a plain text, the name of a variable, yes or no, a
time, texts by name, the paper's two kinds of `entities`, the name of an action."""


@dataclass(frozen=True, slots=True)
class Property:
    kind: Kind
    required: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateType:
    name: str
    about: str
    properties: Mapping[str, Property] = field(default_factory=dict)
    transitions: Mapping[str, str] = field(default_factory=dict)
    """The keys and what each means. `flow` names a flow, all others a state."""
    exits: tuple[tuple[str, ...], ...] = (("next_state",),)
    """Sets of keys each of which is complete: with none of them, the next state of the file follows as well."""
    waits: bool = False
    """Whether it waits for the shopper (or for a person)."""
    ends: bool = False
    """Whether nothing needs to follow."""
    sets: tuple[str, ...] = ()
    """Variables it sets."""
    branches: bool = False
    """Whether its transitions are a list of conditions."""


_INTERRUPTIBLE: Final = Property("flag", about="`no` for a text that must be heard to its end")
_DELAY: Final = Property("delay", about="wait before it is said, in seconds or as `500 ms`")
_NLP: Final = Property("text", about="who understands: `jarvis` and `riva` are the same")
_NEXT: Final = {"next_state": "goes there"}

_TYPES: Final = (
    StateType(
        name="message_text",
        about="says a text",
        properties={"text": Property("template", required=True), "interruptible": _INTERRUPTIBLE, "delay": _DELAY},
        transitions=_NEXT,
    ),
    StateType(
        name="message_text_random",
        about="says one of several texts",
        properties={
            "responses": Property("templates", required=True),
            "interruptible": _INTERRUPTIBLE,
            "delay": _DELAY,
        },
        transitions=_NEXT,
    ),
    StateType(
        name="input_context",
        about="waits for a line; its intent decides by `intent_transitions`",
        properties={"nlp_type": _NLP, "entities": Property("intent entity", about="`intent: dontcare`: any intent")},
        exits=((),),
        waits=True,
        sets=("intent",),
    ),
    StateType(
        name="input_user",
        about="waits for the value of a slot",
        properties={
            "nlp_type": _NLP,
            "entities": Property("slot entity", required=True, about="`slot`, and `require_match: yes` or `no`"),
        },
        transitions={"match": "the value was said", "notmatch": "it was not"},
        exits=(("match", "notmatch"),),
        waits=True,
    ),
    StateType(
        name="change_context",
        about="sets variables",
        properties={"update_keys": Property("templates by name", required=True), "delay": _DELAY},
        transitions={"flow": "goes to the start of that flow", **_NEXT},
        exits=(("flow",), ("next_state",)),
    ),
    StateType(
        name="conditional_exists",
        about="asks whether a variable has a value",
        properties={"key": Property("variable", required=True, about="`'{{location}}'`")},
        transitions={"exists": "it has one", "notexists": "it has none"},
        exits=(("exists", "notexists"),),
    ),
    StateType(name="reset", about="forgets all values", transitions=_NEXT),
    StateType(
        name="Retail",
        about="answers a question on stores, prices or stock in `retail_status`",
        transitions=_NEXT,
        sets=("retail_status", "result", "jarvis_error"),
    ),
    StateType(
        name="Weather",
        about="answers a question on the weather in `weather_status`",
        transitions=_NEXT,
        sets=("weather_status", "result", "jarvis_error"),
    ),
    StateType(
        name="task",
        about="asks for what its action needs, confirms, calls it",
        properties={
            "action": Property("action", required=True),
            "arguments": Property("templates by name", about="values that the flow gives and nobody is asked for"),
        },
        transitions={
            "done": "it answered",
            "failed": "it did not",
            "empty": "it answered, and found nothing",
            "declined": "the shopper said no to the confirmation",
        },
        exits=(("done",),),
        sets=("result", "results", "status", "jarvis_error"),
    ),
    StateType(name="choose", about="goes the first way whose condition holds", exits=((),), branches=True),
    StateType(
        name="call",
        about="goes through another flow and comes back when that flow ends",
        transitions={"flow": "the flow", "next_state": "goes on there afterwards"},
        exits=(("flow", "next_state"),),
    ),
    StateType(
        name="handover",
        about="passes the shopper to a person",
        properties={
            "queue": Property("text", about="by default that of `patterns`"),
            "reason": Property("text", about="for the person, not said"),
        },
        transitions={"next_state": "the person gave the shopper back"},
        exits=((),),
        waits=True,
        ends=True,
    ),
    StateType(
        name="end",
        about="ends the conversation; in a flow that was called: goes back",
        properties={"text": Property("template", about="said before")},
        exits=((),),
        ends=True,
    ),
)  # fmt: skip

STATE_TYPES: Final[Mapping[str, StateType]] = {one.name: one for one in _TYPES}
PAPER_TYPES: Final = tuple(STATE_TYPES)[:9]
"""Those of the white paper; the others are ours."""
IMPORT_PATH: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*")
"""`package.module:Class`."""
CUSTOM: Final = StateType(name="package.module:Class", about="a type of one's own", waits=True, ends=True, exits=((),))
"""What we assume of a type of the author's own: any properties, any transitions, and nothing about its behaviour."""


def state_type(name: str) -> StateType | None:
    return CUSTOM if IMPORT_PATH.fullmatch(name) else STATE_TYPES.get(name)
