"""Rules over what is said and how a call goes. docs/rules.md is the language; rules.yaml is what ships.

rules = read(path)
watcher = rules.watch(call, call_id)
alerts = watcher.sentence(sentence)
"""

from nlp.rules.known import Known
from nlp.rules.reading import DEFAULT
from nlp.rules.reading import read_rules as read
from nlp.rules.rule import Rule, RuleSet
from nlp.rules.watcher import Watcher

__all__ = ["DEFAULT", "Known", "Rule", "RuleSet", "Watcher", "read"]
