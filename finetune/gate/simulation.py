"""Made-up hold-outs, to see how often the gate errs: equal models promoted, better ones stopped.

Calls differ in mood, and sentences of a call are alike. The candidate mostly answers as the champion does, since it was
trained from it; where it does not, it draws anew with its own skill.
"""

from __future__ import annotations

import numpy as np

from finetune.gate.checks import all_checks
from finetune.gate.evidence import Evidence, HeldOutSentence
from finetune.gate.verdict import Decision, judge

LABELS = ("negative", "neutral", "positive")
WORTH = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}
SENTENCES_PER_CALL = 15
SAME = 0.85
"""How often the candidate simply says what the champion says."""
NEUTRAL_SHARE = 0.8


def hold_out(
    sentences: int, seed: int, *, champion: float = 0.7, candidate: float = 0.7, deaf: bool = False
) -> Evidence:
    """`champion`, `candidate`: how likely each is right about what is not neutral. `deaf`: the candidate says neutral
    to everything."""
    random = np.random.default_rng(seed)
    made = []
    for number in range(sentences):
        call = number // SENTENCES_PER_CALL
        if number % SENTENCES_PER_CALL == 0:
            shares = random.dirichlet(4 * np.array([(1 - NEUTRAL_SHARE) / 2, NEUTRAL_SHARE, (1 - NEUTRAL_SHARE) / 2]))
        human = LABELS[random.choice(3, p=shares)]
        before = _answer(human, champion, random)
        same = random.random() < SAME * (1 - abs(candidate - champion))
        after = "neutral" if deaf else before if same else _answer(human, _redrawn(champion, candidate), random)
        made.append(HeldOutSentence(id=str(number), call=str(call), human=human, champion=before, candidate=after))
    return Evidence(kind="sentiment", champion="champion", candidate="candidate", sentences=made, worth=WORTH)


def decision(evidence: Evidence) -> Decision:
    return judge([evidence], [all_checks(evidence)]).decision


def _redrawn(champion: float, candidate: float) -> float:
    """The skill of those answers that are drawn anew, such that all answers together have the candidate's."""
    same = SAME * (1 - abs(candidate - champion))
    return min(1.0, max(0.0, (candidate - same * champion) / (1 - same)))


def _answer(human: str, skill: float, random: np.random.Generator) -> str:
    """Neutral sentences are easier than others; who is wrong about a mood mostly misses it."""
    right = 1 - 0.15 * (1 - skill) / 0.3 if human == "neutral" else skill
    if random.random() < right:
        return human
    if human == "neutral":
        return LABELS[2 * int(random.random() < 0.5)]
    return "neutral" if random.random() < 0.85 else LABELS[2 - LABELS.index(human)]
