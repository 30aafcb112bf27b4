"""Rules over what is said and how a call goes. docs/rules.md is the language; rules.yaml is what ships.

rules = read(path)                              parser, condition_parser (expression, pattern: `matches`)
engine = rules.engine_for(call, call_id)        one for each call; its history is what conditions look at
alerts = engine.sentence(sentence)              and for metrics, and silence

replay runs rules over calls that are over. webhooks/ sends alerts to other systems.
"""

from nlp.rules.engine import RuleEngine
from nlp.rules.known_names import KnownNames
from nlp.rules.parser import DEFAULT
from nlp.rules.parser import read_rules as read
from nlp.rules.rule import Rule, RuleSet

__all__ = ["DEFAULT", "KnownNames", "Rule", "RuleEngine", "RuleSet", "read"]
