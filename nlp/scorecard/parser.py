"""The form from a YAML file, with every mistake in it reported at its line and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nlp.rules.condition_parser import ConditionParser
from nlp.rules.conditions import Condition, SilenceCondition, leaves
from nlp.rules.known_names import KnownNames, known
from nlp.rules.parser import is_name, only_for, read_rules
from nlp.scorecard.form import FormPoint, ScoreForm
from tenor.settings import Settings
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Text, read

DEFAULT = Path(__file__).parent / "scorecard.yaml"
OFF = "off"
KEYS = ("asks", "met", "due", "afterwards", "only for")
LONGEST_TEXT = 120
MOST_POINTS = 30


def form_in_force(settings: Settings, path: Path | None = None) -> ScoreForm:
    """The form that the settings name, or that of another file, checked against everything it may name."""
    language = settings.language
    if path is None and language.scorecard == OFF:
        return ScoreForm()
    names = known(settings)
    rules = read_rules(Path(language.rules) if language.rules else None, names)
    chosen = path or (Path(language.scorecard) if language.scorecard else None)
    return read_form(chosen, replace(names, rules=[rule.name for rule in rules]))


def read_form(path: Path | None = None, known: KnownNames | None = None) -> ScoreForm:
    """The form of a file, ours when none is given; Faulty tells everything that is wrong with it."""
    faults = Faults()
    path = path or DEFAULT
    tree = read(path, faults)
    conditions = ConditionParser(faults, known or KnownNames())
    points = [point for key, node in tree if (point := _point(key, node, faults, conditions))]
    if len(tree.entries) > MOST_POINTS:
        faults.add(tree.entries[MOST_POINTS][0], f"a form has at most {MOST_POINTS} points")
    faults.raise_if_any(path)
    return ScoreForm(tuple(points))


def _point(key: Text, node: Node, faults: Faults, conditions: ConditionParser) -> FormPoint | None:
    name = key.value
    if not is_name(name):
        faults.add(key, f"{name!r} is no name for a point: up to 60 letters, digits, - and _")
    tree = fields.mapping(node, faults, f"point {name!r}")
    if tree is None:
        return None
    fields.unknown_keys(tree, faults, "key of a point", KEYS)
    for wanted in ("asks", "met"):
        if tree.get(wanted) is None:
            faults.add(key, f"point {name!r} has no `{wanted}`")
    asks = _asks(tree, faults)
    met, due = (_condition(tree, part, faults, conditions) for part in ("met", "due"))
    afterwards = tree.get("afterwards")
    after = afterwards is not None and fields.choice(afterwards, faults, "`afterwards`", ("yes", "no")) == "yes"
    if after and tree.get("due") is None and afterwards is not None:
        faults.add(afterwards, "`afterwards` is about what made the point due, and there is no `due`")
    only = only_for(tree, faults)
    return FormPoint(name, asks, met, only, due, after) if met is not None else None


def _asks(tree: Mapping, faults: Faults) -> str:
    node = tree.get("asks")
    asks = (fields.text(node, faults, "`asks`") or "") if node is not None else ""
    if node is not None and len(asks) > LONGEST_TEXT:
        faults.add(node, f"`asks` is longer than {LONGEST_TEXT} characters")
    return asks


def _condition(tree: Mapping, part: str, faults: Faults, conditions: ConditionParser) -> Condition | None:
    node = tree.get(part)
    condition = conditions.read(node)[0] if node is not None else None
    silent = condition is not None and any(isinstance(leaf, SilenceCondition) for leaf in leaves(condition))
    if silent and node is not None:
        faults.add(node, "a form is filled when the call is over: name a rule that waits for silence, as `rule: NAME`")
    return condition
