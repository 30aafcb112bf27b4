"""The assistant's model: how often intent and slots are right on the hand kept apart, and how long a sentence takes.

    python -m benchmarks.assistant.assistant_model

`finetune/data/assistant/frozen.txt` was not trained on; its hand also wrote `second.txt`, which was. Times are of one
thread, one sentence at a time, none of them seen before; the second time a text comes, its encoding is still there.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

from finetune.corpus import assistant_corpus
from finetune.evaluate.assistant_scores import measured
from finetune.evaluate.scores import percentile
from nlp.inference.assistant.assistant_model import AssistantModel
from nlp.inference.models.token_encoder import TokenEncoder

INTENT, SLOT_F1, P95_MS = 0.95, 0.92, 10.0


def main() -> None:
    rows = assistant_corpus.frozen()
    model = AssistantModel(encoder=TokenEncoder())
    figures = measured(model, rows)
    for name, value in figures.items():
        print(f"{name:24} {100 * value:6.1f} %")
    print(f"intent at least {100 * INTENT:.0f} %: {'yes' if figures['intent'] >= INTENT else 'NO'}")
    print(f"slot F1 at least {100 * SLOT_F1:.0f} %: {'yes' if figures['slot F1'] >= SLOT_F1 else 'NO'}")
    fresh = AssistantModel(encoder=TokenEncoder())
    fresh.read(["warm up"])
    first, second = (_times(fresh, [row.text for row in rows][:200]) for _ in range(2))
    print(f"a sentence, p50 / p95: {percentile(first, 0.5):.1f} / {percentile(first, 0.95):.1f} ms", end="")
    print(f"  (p95 under {P95_MS:.0f} ms: {'yes' if percentile(first, 0.95) < P95_MS else 'NO'})")
    print(f"encoded before, p50 / p95: {percentile(second, 0.5):.1f} / {percentile(second, 0.95):.1f} ms")


def _times(model: AssistantModel, texts: list[str]) -> list[float]:
    taken = []
    for text in texts:
        before = time.perf_counter()
        model.read([text])
        taken.append(1000 * (time.perf_counter() - before))
    return taken


if __name__ == "__main__":
    main()
