"""The gate: whether a candidate is measurably better than the model in force, judged by people's labels.

    people's labels, both models' answers --> evidence.py --> checks.py --> verdict.py --> text, JSON, picture

Every check tells its figure, its interval and what is missing. What cannot be told from so few labels is not passed,
and says how many more it would take. The level of certainty is spent over the attempts on one hold-out, so that trying
often enough never promotes an equal model.
"""

from finetune.gate.checks import all_checks
from finetune.gate.confusion import confusion_of, figures
from finetune.gate.evidence import CallErrors, Evidence, FrozenAnswer, HeldOutSentence, ModelCost
from finetune.gate.pairs import PairEvidence, PairSentence, PairVerdict, pair_checks, pair_confusion
from finetune.gate.verdict import Check, Confusion, Decision, Verdict, judge

__all__ = [
    "CallErrors",
    "Check",
    "Confusion",
    "Decision",
    "Evidence",
    "FrozenAnswer",
    "HeldOutSentence",
    "ModelCost",
    "PairEvidence",
    "PairSentence",
    "PairVerdict",
    "Verdict",
    "all_checks",
    "confusion_of",
    "figures",
    "judge",
    "pair_checks",
    "pair_confusion",
]
