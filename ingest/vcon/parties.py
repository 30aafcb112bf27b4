"""Who of the parties is the caller and who the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.text.speakers import assign_roles, known
from ingest.warnings import Warnings

_IDENTITIES = ("name", "tel", "mailto", "sip", "did", "uuid", "id", "stir")
MOST = 1000


@dataclass(frozen=True)
class Parties:
    roles: tuple[str, ...]
    """By channel: the caller's, the agent's, then anybody else's."""
    channels: Mapping[int, int]
    """Of each party, by its number."""
    agent: str = ""
    customer: str = ""
    labels: Mapping[str, int] = None  # type: ignore[assignment]
    """Names of parties, in small letters."""

    def role(self, party: int) -> str:
        return self.roles[self.channels.get(party, 0)]


def assign(
    parties: Sequence[Mapping[str, Any]], order: Sequence[int], agents: Sequence[str], warnings: Warnings
) -> Parties:
    """`order`: the numbers of the parties that take part, whoever began the conversation first. Roles are told by the
    field `role`, then by `agents`, then by names such as `Support`; of others the first is the caller."""
    listed = {name.strip().casefold() for name in agents if name.strip()}
    labels: dict[int, str] = {}
    for number in order:
        party = parties[number] if number < len(parties) else {}
        role = str(party.get("role") or "")
        names = [str(party[key]) for key in _IDENTITIES if isinstance(party.get(key), str) and party[key]]
        label = role if known(role) else f"{names[0] if names else 'party'} #{number}"  # two Annas are two
        if listed & {_plain(name) for name in names}:
            label = "agent"
        elif listed and _is_agent(label):
            label = f"#{number}"  # whoever is not listed is no agent
        labels[number] = label
    by_label, roles = assign_roles(list(labels.values()), ("caller", "agent"))
    channels = {number: roles.index(by_label[label]) for number, label in labels.items()}
    unsure = [number for number, label in labels.items() if not known(label)]
    made = Parties(
        tuple(roles),
        channels,
        _called(parties, channels, 1, ("name", "mailto", "tel", "sip")),
        _called(parties, channels, 0, ("tel", "mailto", "name", "sip")),
        {
            str(parties[number].get("name")).casefold(): number
            for number in channels
            if number < len(parties) and parties[number].get("name")
        },
    )
    if len(unsure) == len(channels) > 1:
        warnings.add("no party says who is the agent: whoever comes first is taken for the caller (see --agents)")
    return made


def _is_agent(label: str) -> bool:
    return known(label) and assign_roles([label], ("caller", "agent"))[0][label] == "agent"


def _called(
    parties: Sequence[Mapping[str, Any]], channels: Mapping[int, int], channel: int, keys: Sequence[str]
) -> str:
    for number, own in channels.items():
        if own != channel or number >= len(parties):
            continue
        for key in keys:
            value = parties[number].get(key)
            if isinstance(value, str) and value.strip():
                return re.sub(r"^(tel|mailto|sips?):", "", value.strip(), flags=re.I)[:200]
    return ""


def _plain(name: str) -> str:
    return re.sub(r"^(tel|mailto|sips?):", "", name.strip(), flags=re.I).casefold()
