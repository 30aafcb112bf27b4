"""Who of the people in a written conversation is the caller and who the agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count

# fmt: off
AGENT = frozenset({
    "agent", "advisor", "adviser", "representative", "rep", "support", "csr", "operator", "employee", "staff",
    "helpdesk", "service", "bot", "assistant", "chatbot", "consultant", "specialist",
    "supervisor", "manager", "outbound",
})
CALLER = frozenset({
    "caller", "customer", "client", "user", "visitor", "guest", "shopper", "buyer", "member", "patient", "consumer",
    "inbound", "me",
})
# fmt: on
SYSTEM = frozenset({"system", "info", "event", "notification", "automatic"})
_WORD = re.compile(r"[^\W\d_]+")


def known(speaker: str) -> bool:
    """Whether the name itself says who it is."""
    return bool(_words(speaker) & (AGENT | CALLER | SYSTEM))


def assign_roles(
    speakers: Sequence[str], roles: Sequence[str], agents: Iterable[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """The role of each speaker, and the roles by channel: the caller's, the agent's, then anybody else's.

    Names that say who they are (`Customer`, `Support team`) and those listed in `agents` come first; of the others
    the one who writes first is the caller, if there is none yet, and the next the agent.
    """
    caller, agent = roles[0], roles[1] if len(roles) > 1 else "agent"
    listed = {name.strip().casefold() for name in agents}
    assigned: dict[str, str] = {}
    unknown = []
    for speaker in speakers:
        words = _words(speaker)
        if speaker.casefold() in listed or speaker == agent or (words & AGENT and not listed):
            assigned[speaker] = agent
        elif speaker == caller or words & CALLER:
            assigned[speaker] = caller
        elif words & SYSTEM:
            assigned[speaker] = "system"
        else:
            unknown.append(speaker)
    taken = set(assigned.values())
    free = [role for role in (caller, agent) if role not in taken]
    others = (f"other {number}" for number in count(1))
    assigned |= dict(zip(unknown, chain(free, others), strict=False))
    said = set(assigned.values())
    channels = [caller, agent] if said - {caller} else [caller]
    channels += [role for role in dict.fromkeys(assigned[speaker] for speaker in speakers) if role not in channels]
    return assigned, channels


def _words(speaker: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(speaker)}
