"""How many guarded lines the assistant refuses, and how many that only look like them: the style that was kept apart.

python -m benchmarks.assistant.guard
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from dialog.engine.interpretation.guard import guarded
from dialog.flow.loading import SHIPPED, load
from finetune.train.guard_head import FROZEN, OWN, Line, lines_of
from nlp.inference.assistant.guard_head import NONE
from tenor.runtime.assistant.understanding import understander


def main() -> None:
    flows, reads = load(SHIPPED), understander()
    rows = lines_of(OWN / f"{FROZEN}.txt")

    def by_examples(text: str) -> bool:
        return guarded(flows, text) is not None

    def by_both(text: str) -> bool:
        return guarded(flows, text, reads.read(text).topic) is not None

    print(json.dumps({"examples": _shares(rows, by_examples), "examples and head": _shares(rows, by_both)}, indent=1))


def _shares(rows: list[Line], refused: Callable[[str], bool]) -> dict[str, object]:
    wrong = [row.text for row in rows if refused(row.text) != (row.topic != NONE)]
    topical, alike = [r for r in rows if r.topic != NONE], [r for r in rows if r.topic == NONE]
    return {
        "refused": [sum(refused(row.text) for row in topical), len(topical)],
        "look-alikes refused": [sum(refused(row.text) for row in alike), len(alike)],
        "wrong": wrong if "--wrong" in sys.argv else len(wrong),
    }


if __name__ == "__main__":
    main()
