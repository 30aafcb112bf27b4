"""How often the gate errs, on made-up hold-outs: equal, worse and deaf models promoted, better ones stopped."""

from __future__ import annotations

import argparse
from collections import Counter

from rich.progress import track

from finetune.gate.checks import SentenceColumns
from finetune.gate.simulation import decision, hold_out

CASES: tuple[tuple[str, int, float, bool], ...] = (
    ("equal", 1000, 0.70, False),
    ("better by about 5 points of macro-F1", 1000, 0.765, False),
    ("better by about 2.5 points", 4000, 0.73, False),
    ("worse by about 2.4 points", 1000, 0.67, False),
    ("always neutral", 1000, 0.70, True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300, help="hold-outs of each kind")
    trials = parser.parse_known_args()[0].trials
    print(f"{'candidate':40}{'sentences':>10}{'F1':>8}{'promoted':>10}{'cannot tell':>13}")
    for name, sentences, skill, deaf in CASES:
        found: Counter[str] = Counter()
        gains = 0.0
        for seed in track(range(trials), name, transient=True):
            evidence = hold_out(sentences, seed, candidate=skill, deaf=deaf)
            columns = SentenceColumns(evidence)
            gains += float(columns.macro_f1(columns.calls.rows.sum(axis=0)))
            found[decision(evidence)] += 1
        promoted, unsure = found["better"] / trials, found["cannot tell yet"] / trials
        print(f"{name:40}{sentences:10,}{100 * gains / trials:+8.1f}{promoted:10.1%}{unsure:13.1%}", flush=True)


if __name__ == "__main__":
    main()
