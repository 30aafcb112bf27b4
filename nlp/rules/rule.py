"""A rule: what it waits for, for which calls, and what it does then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nlp.rules.conditions import Condition, Evidence
from nlp.rules.engine import RuleEngine
from nlp.rules.history import SentenceMatcher
from tenor.events import Call

Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class OnlyFor:
    """The calls that a rule is about. Empty: all."""

    queues: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    media: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    def __contains__(self, call: Call | None) -> bool:
        """A call that nothing is known of yet is none of particular calls."""
        if call is None:
            return self == OnlyFor()
        wanted = (self.queues, self.sites, self.media, self.agents, self.sources)
        actual = (call.queue, call.site, call.medium, call.agent, call.source)
        return all(not names or name in names for names, name in zip(wanted, actual, strict=True))


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    when: Condition
    say: str
    severity: Severity = "warning"
    escalation: bool = False
    again_after_ms: int | None = None
    """None: once a call."""
    only_for: OnlyFor = OnlyFor()
    webhooks: tuple[str, ...] = ()

    def words(self, evidence: Evidence) -> str:
        """What it says, with what happened in place of the braces."""
        at = {"at": clock(evidence.at_ms)}
        return PLACEHOLDER.sub(lambda found: {**evidence.values, **at}.get(found[1], found[0]), self.say)


class RuleSet:
    """The rules of a file."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._by_name = {rule.name: rule for rule in self.rules}

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def get(self, name: str) -> Rule | None:
        return self._by_name.get(name)

    def engine_for(self, call: Call | None, call_id: str, further: Iterable[SentenceMatcher] = ()) -> RuleEngine:
        """For one call. Of one that nothing is known of, only rules for all calls watch."""
        return RuleEngine(self.rules, call, call_id, further)


def clock(ms: int) -> str:
    """A position in a call, as people say it: 1:05."""
    return f"{ms // 60_000}:{ms // 1000 % 60:02}"
