"""Rules from a YAML file, with every mistake in it reported at its line and column."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from nlp.rules.condition_parser import ConditionParser
from nlp.rules.conditions import Condition, RuleCondition, leaves
from nlp.rules.known_names import KnownNames
from nlp.rules.rule import PLACEHOLDER, SEVERITIES, OnlyFor, Rule, RuleSet, Severity
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Text, meant, read

DEFAULT = Path(__file__).parent / "rules.yaml"
KEYS = ("when", "raise", "severity", "say", "webhook", "again after", "only for")
ONLY_FOR = ("queue", "site", "medium", "agent", "source")
MEDIA = ("voice", "chat", "email")
LONGEST_TEXT = 300


def read_rules(path: Path | None = None, known: KnownNames | None = None) -> RuleSet:
    """The rules of a file, ours when none is given; Faulty tells everything that is wrong with it."""
    faults = Faults()
    path = path or DEFAULT
    known = known or KnownNames()
    tree = read(path, faults)
    conditions = ConditionParser(faults, known)
    rules = [rule for key, node in tree if (rule := _rule(key, node, faults, conditions, known))]
    faults.raise_if_any(path)
    return RuleSet(rules)


def _rule(key: Text, node: Node, faults: Faults, conditions: ConditionParser, known: KnownNames) -> Rule | None:
    name = key.value
    if not is_name(name):
        faults.add(key, f"{name!r} is no name for a rule: up to 60 letters, digits, - and _")
    tree = fields.mapping(node, faults, f"rule {name!r}")
    if tree is None:
        return None
    fields.unknown_keys(tree, faults, "key of a rule", KEYS)
    when = tree.get("when")
    if when is None:
        faults.add(key, f"rule {name!r} has no `when`")
    condition, usual = conditions.read(when) if when is not None else (None, "")
    names_rule = condition is not None and any(isinstance(leaf, RuleCondition) for leaf in leaves(condition))
    if names_rule and when is not None:
        faults.add(when, "a rule cannot wait for another rule: `rule` is for scorecards")
    if condition is not None and when is not None and not condition.happens:
        faults.add(when, "would hold as soon as a call begins: it needs something that happens, too")
    escalation = _choice(tree, faults, "raise", ("alert", "escalation")) == "escalation"
    severity = _choice(tree, faults, "severity", SEVERITIES) or ("critical" if escalation else "warning")
    say = _say(tree, faults, condition) or usual
    again = tree.get("again after")
    again_ms = fields.duration(again, faults, "`again after`") if again is not None else None
    webhooks = _webhooks(tree, faults, known)
    only = only_for(tree, faults)
    if condition is None:
        return None
    return Rule(name, condition, say, cast(Severity, severity), escalation, again_ms, only, webhooks)


def is_name(name: str) -> bool:
    return 0 < len(name) <= 60 and all(letter.isalnum() or letter in "-_" for letter in name)


def _choice(tree: Mapping, faults: Faults, key: str, choices: Collection[str]) -> str | None:
    node = tree.get(key)
    return fields.choice(node, faults, key, choices) if node is not None else None


def _say(tree: Mapping, faults: Faults, condition: Condition | None) -> str | None:
    node = tree.get("say")
    say = fields.text(node, faults, "`say`") if node is not None else None
    if node is None or say is None:
        return None
    if len(say) > LONGEST_TEXT:
        faults.add(node, f"`say` is longer than {LONGEST_TEXT} characters")
    if condition is not None:
        values = sorted({*condition.values, "at"})
        for found in PLACEHOLDER.finditer(say):
            if found[1] not in values:
                faults.add(node, f"{found[0]} is not known here{meant(found[1], values)}")
    if "{" in PLACEHOLDER.sub("", say) or "}" in PLACEHOLDER.sub("", say):
        faults.add(node, "`say` has a { or } without its partner")
    return say


def _webhooks(tree: Mapping, faults: Faults, known: KnownNames) -> tuple[str, ...]:
    node = tree.get("webhook")
    named = fields.texts(node, faults, "`webhook`") if node is not None else []
    for name in named:
        if known.webhooks is not None and name.value not in known.webhooks:
            hint = meant(name.value, known.webhooks) or "; set language.webhooks"
            faults.add(name, f"there is no webhook {name.value!r} in the settings{hint}")
    return tuple(dict.fromkeys(name.value for name in named))


def only_for(tree: Mapping, faults: Faults) -> OnlyFor:
    """The calls that a rule, or a point of a scorecard, is about."""
    node = tree.get("only for")
    only = fields.mapping(node, faults, "`only for`") if node is not None else None
    if only is None:
        return OnlyFor()
    fields.unknown_keys(only, faults, "kind of calls", ONLY_FOR)

    def names(key: str) -> frozenset[str]:
        value = only.get(key)
        found = fields.texts(value, faults, f"`{key}`") if value is not None else []
        return frozenset(text.value for text in found)

    media = only.get("medium")
    for medium in fields.texts(media, Faults(), "") if media is not None else []:
        if medium.value not in MEDIA:
            faults.unknown(medium, "medium", MEDIA)
    return OnlyFor(names("queue"), names("site"), names("medium"), names("agent"), names("source"))
